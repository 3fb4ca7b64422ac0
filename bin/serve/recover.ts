import { createReportTurns } from "../../service/api/kit/wallet-report.ts";
import type { RecoverPorts } from "../../service/api/routes/get-retry.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { createOutcomeReader } from "../../service/reports/recovery/failed-calls.ts";
import { createListedAccounts } from "../../service/reports/recovery/open-recovery.ts";
import { createRecoveryNode } from "../../service/reports/recovery/viem-node.ts";

/** Of one request; a caller waits meanwhile. */
const TIMEOUT_MS = 4_000;
const RETRIES = 1;
/** For each of the three readings of one answer (whether it can be, the wallet, the simulations), which together stay below what a request may take. */
const DEADLINE_MS = 10_000;
/** A recovery holds some megabytes of calldata, and waits for the node most of its time. */
const TURNS = { atOnce: 4, waiting: 16, waitMs: 4_000 } as const;

/** What simulates transactions, and plans those that are offered. */
export function recoverPorts({
  db,
  deployment: { chainId, accounts },
  rpcUrl,
  monotonicMs,
}: {
  readonly db: Database;
  readonly deployment: Deployment;
  /** Null where no node is configured: then nothing is simulated. */
  readonly rpcUrl: string | null;
  readonly monotonicMs: () => number;
}): RecoverPorts {
  const options = { timeoutMs: TIMEOUT_MS, retries: RETRIES, deadlineMs: DEADLINE_MS, monotonicMs };
  return {
    recoveryTurns: createReportTurns(TURNS),
    recovery: {
      chainId,
      outcomes: createOutcomeReader(db, chainId),
      listed: createListedAccounts(db, { chainId, mixers: accounts.mixers }),
      openNode: rpcUrl === null ? null : () => createRecoveryNode({ url: rpcUrl, ...options }),
    },
  };
}
