import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { until } from "./until.ts";

const PATH = "/usr/bin/caddy";
const CADDYFILE = new URL("../../ops/Caddyfile", import.meta.url).pathname;

/** Whether this machine has Debian's Caddy. A missing one fails in CI. */
export const HAS_CADDY = existsSync(PATH);
if (!HAS_CADDY && process.env.CI === "true") throw new Error("no Caddy: install Debian's caddy");

/** Runs Caddy with ops/Caddyfile before servers on loopback, once it has asked each of them whether it is ready. */
export async function startCaddy({
  ports,
  folder,
  port,
}: {
  readonly ports: readonly number[];
  /** For what Caddy writes. */
  readonly folder: string;
  readonly port?: number;
}) {
  const [own, metricsPort] = [port ?? (await freePort()), await freePort()];
  const url = `http://127.0.0.1:${own}`;
  const upstreams = ports.map((each) => `127.0.0.1:${each}`);
  const child = spawn(PATH, ["run", "--config", CADDYFILE], {
    stdio: "ignore",
    env: { HOME: folder, SITE: url, SERVERS: upstreams.join(" "), METRICS_PORT: String(metricsPort) },
  });
  const exited = once(child, "exit");
  const metrics = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const isHealthy = async (server: number): Promise<boolean> => {
    const shown = await metrics().catch(() => "");
    return shown.includes(`caddy_reverse_proxy_upstreams_healthy{upstream="127.0.0.1:${server}"} 1`);
  };
  const untilHealthy = (server: number, expected: boolean) =>
    until({ what: `the proxy takes ${server} for ${expected ? "ready" : "not ready"}` }, async () =>
      (await isHealthy(server)) === expected ? true : null,
    );
  for (const each of ports) await untilHealthy(each, true);
  return {
    url,
    metrics,
    untilHealthy,
    stop: async (): Promise<void> => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
