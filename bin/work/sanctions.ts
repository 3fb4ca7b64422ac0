import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createSanctionsContract, runAsking } from "../../service/sanctions/ask-contract.ts";
import { createReadingMetrics } from "../../service/sanctions/metrics.ts";
import { openChainClient } from "../process.ts";

export type SanctionsWork = {
  readonly rpcUrl: string;
  readonly deployment: Deployment;
  readonly db: Database;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Asks the sanctions contract about whom no indexed event tells of, led by one worker; returns at once where the chain has none. */
export async function askSanctionsContract(work: SanctionsWork, signal: AbortSignal): Promise<void> {
  const { rpcUrl, deployment, db, registry, logger } = work;
  const { chainId, sanctionsList } = deployment;
  const metrics = createReadingMetrics(registry);
  if (sanctionsList === null) {
    logger.info("this chain has no sanctions contract: imported lists alone decide");
    return;
  }
  const contract = createSanctionsContract(openChainClient(rpcUrl), sanctionsList.address);
  await whileLeader({ db, name: "ahs-sanctions", chainId, logger, signal }, (led) =>
    runAsking({ ...work, chainId, contract, metrics }, led),
  );
}
