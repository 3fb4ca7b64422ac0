import { getConnInfo } from "@hono/node-server/conninfo";
import type { Logger } from "pino";
import { readTrustedProxies, type TrustedProxies } from "../../service/access/client-address.ts";
import type { AccessParts } from "../../service/access/create-access.ts";
import { createIdempotentAnswers, createRepeatStore } from "../../service/access/idempotent-answers.ts";
import { createCallLimiter, createIpLimit, createRateBuckets } from "../../service/access/rate-limits.ts";
import type { ApiPorts } from "../../service/api/create-app.ts";
import type { ServerLife } from "../../service/api/kit/server-life.ts";
import type { Database } from "../../service/db/database.ts";
import type { Config } from "../config.ts";

/** As much as a key that nobody gave another rate. */
const PAYER_RATE_PER_MINUTE = 600;
/** At about 100 bytes each: a flood from more networks than these is for the machines before us. */
const MAX_ADDRESSES = 100_000;
/**
 * Longer than any source is waited for, and so much shorter than holds and repeats live (120 s) that settling before and after the
 * work, 20 s each, fits between.
 */
const REQUEST_DEADLINE_MS = 45_000;

type GateDeps = {
  readonly db: Database;
  readonly logger: Logger;
  readonly clock: { now(): Date; monotonicMs(): number };
};

/** What limits and repeats calls of those who proved who they are. */
export function callGate({
  db,
  logger,
  clock,
}: GateDeps): Pick<AccessParts, "limiter" | "repeats" | "payerRatePerMinute"> {
  return {
    limiter: createCallLimiter(createRateBuckets({ db, now: clock.now })),
    repeats: createRepeatStore(createIdempotentAnswers({ db, now: clock.now }), logger),
    payerRatePerMinute: PAYER_RATE_PER_MINUTE,
  };
}

/** What limits requests by their address and in their time. */
export function requestGate(
  config: Pick<Config, "ipRatePerMinute" | "trustedProxies">,
  clock: { monotonicMs(): number },
  life: ServerLife,
): Pick<ApiPorts, "life" | "ipLimit" | "socketAddress" | "deadlineMs"> {
  const trustedProxies = trustedProxiesOf(config);
  return {
    life,
    ipLimit: createIpLimit({
      perMinute: config.ipRatePerMinute,
      trustedProxies,
      monotonicMs: clock.monotonicMs,
      maxAddresses: MAX_ADDRESSES,
    }),
    socketAddress: (context) => getConnInfo(context).remote.address ?? null,
    deadlineMs: REQUEST_DEADLINE_MS,
  };
}

/** The proxies that the configuration trusts; throws for what is no list of addresses. */
export function trustedProxiesOf({ trustedProxies }: Pick<Config, "trustedProxies">): TrustedProxies {
  const proxies = readTrustedProxies(trustedProxies);
  if (proxies === null) throw new Error(`expected a list of addresses, got ${trustedProxies.join(",")}`);
  return proxies;
}
