import type { Logger } from "pino";
import type { Deployment } from "../service/chain/deployments.ts";
import type { Database } from "../service/db/database.ts";
import { AHS_2026_1 } from "../service/model/score/policy.ts";
import { defaultPublishPolicy, type PublishPolicy } from "../service/oracle/publish-policy.ts";
import type { ScoringRunContext } from "../service/scores/run-scoring.ts";
import type { Config } from "./config.ts";

/** What scoring and planning a publication need, by the newest model and the wall clock. */
export function scoringFromConfig(from: {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly db: Database;
  readonly logger: Logger;
}): ScoringRunContext {
  return {
    db: from.db,
    chainId: from.deployment.chainId,
    chain: from.deployment,
    policy: AHS_2026_1,
    publishPolicy: publishPolicyOf(from.config),
    now: () => new Date(),
    rescoreIntervalSeconds: from.config.rescoreIntervalSeconds,
    logger: from.logger,
  };
}

function publishPolicyOf({ dailyGas }: Config): PublishPolicy {
  return dailyGas === null ? defaultPublishPolicy : { ...defaultPublishPolicy, dailyGas };
}
