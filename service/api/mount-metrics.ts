import type { Hono } from "hono";
import type { Registry } from "prom-client";
import { Problem } from "../access/problems.ts";
import { isLoopbackAddress } from "../net/public-address.ts";
import { answer } from "./answer.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { mountPage } from "./mount-endpoints.ts";

type MetricsDeps = {
  readonly registry: Registry;
  readonly socketAddress: (context: ApiContext) => string | null;
};

/** Headers by which proxies say that they forward: a proxy on this machine makes strangers' sockets look like ours. */
const FORWARDED = ["x-forwarded-for", "forwarded", "x-real-ip"] as const;

/** How a socket that listens for both families names an IPv4 address. */
const MAPPED = /^::ffff:/i;

/** Mounts /metrics for sockets of this machine; for everyone else there is no such page. */
export function mountMetrics(app: Hono<ApiEnv>, { registry, socketAddress }: MetricsDeps): void {
  mountPage(app, "/metrics", async (context) => {
    const isForwarded = FORWARDED.some((name) => context.req.header(name) !== undefined);
    const socket = socketAddress(context);
    if (isForwarded || socket === null || !isLoopbackAddress(socket.replace(MAPPED, "")))
      throw new Problem("not-found", "There is no /metrics here; see /docs.");
    return answer(context, {
      status: 200,
      body: await registry.metrics(),
      headers: { "content-type": registry.contentType },
    });
  });
}
