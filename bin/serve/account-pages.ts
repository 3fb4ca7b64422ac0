import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { readKeyStanding } from "../../service/access/api-keys.ts";
import { createIpLimit } from "../../service/access/rate-limits.ts";

import type { ApiContext, Clock } from "../../service/api/kit/api-env.ts";
import type {
  AccountPagePorts,
  StatusPagePorts,
  VerdictPagePorts,
} from "../../service/api/pages/page-ports.ts";
import { createStatusReader } from "../../service/api/pages/status-reading.ts";
import { type GetReadyzPorts, readReadiness } from "../../service/api/routes/get-readyz.ts";
import type { HealthReport } from "../../service/api/verification/health-check.ts";
import type { Database } from "../../service/db/database.ts";
import { readServiceRecords } from "../../service/registries/nightly/service-records.ts";
import type { Config } from "../config.ts";
import { trustedProxiesOf } from "./gate.ts";

/** Nobody types a key often; who tries many is guessing. */
const SIGN_INS_PER_MINUTE = 10;
const MAX_ADDRESSES = 10_000;
const MAX_SUBSCRIPTIONS = 50;

type Parts = {
  readonly db: Database;
  readonly chainId: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sellsKeys: boolean;
  readonly socketAddress: (context: ApiContext) => string | null;
  readonly scores: GetReadyzPorts["scores"];
  readonly sanctionsSources: GetReadyzPorts["sanctionsSources"];
  readonly verdicts: VerdictPagePorts["verdicts"];
  readonly verificationHealth: () => Promise<HealthReport>;
};

/** What the pages of keys, of verdicts and of the service's own state show. */
export function accountPages(
  config: Pick<Config, "interfaces" | "trustedProxies" | "maxIndexAgeSeconds">,
  { db, chainId, clock, logger, ...parts }: Parts,
): AccountPagePorts & StatusPagePorts & VerdictPagePorts {
  const trustedProxies = trustedProxiesOf(config);
  const { maxIndexAgeSeconds } = config;
  const readiness = { ...parts, maxIndexAgeSeconds };
  return {
    account: {
      sellsKeys: parts.sellsKeys,
      socketAddress: parts.socketAddress,
      randomId: randomUUID,
      signInLimit: createIpLimit({
        perMinute: SIGN_INS_PER_MINUTE,
        trustedProxies,
        monotonicMs: clock.monotonicMs,
        maxAddresses: MAX_ADDRESSES,
      }),
      standing: (keyId) =>
        readKeyStanding(db, { chainId, keyId, now: clock.now(), limit: MAX_SUBSCRIPTIONS }),
    },
    verdicts: parts.verdicts,
    machineStatus: config.interfaces.includes("scoring") ? "/readyz" : "/health",
    status: createStatusReader({
      clock,
      logger,
      sources: {
        readiness: () => readReadiness(readiness, clock.now()),
        records: () => readServiceRecords(db, { chainId, now: clock.now() }),
        verification: config.interfaces.includes("verification") ? parts.verificationHealth : null,
      },
    }),
  };
}
