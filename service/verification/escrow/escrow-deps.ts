import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { LocalAccount } from "viem/accounts";
import type { Deployment } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import type { createEscrowMetrics } from "../metrics.ts";
import type { Decision } from "../panel/types.ts";
import type { HoldClock } from "./decide-clock.ts";
import type { EscrowClient } from "./escrow-node.ts";
import type { JobName } from "./types.ts";

export type EscrowDeps = {
  db: Database;
  client: EscrowClient;
  deployment: Pick<Deployment, "chainId" | "finalityBlocks" | "escrows">;
  /** The contract that acts on signed verdicts. */
  evaluator: Address;
  /** Signs verdicts: a raw key, a keystore or a remote signer. */
  signer: LocalAccount;
  /** Account that sends the transactions; the process with its key sends them. */
  relayer: Address;
  /** Time in which a decision that ends a job may be appealed before it is signed; 0 if there are no appeals. */
  appealWindowSeconds: number;
  /** Price of an appeal in thousandths of a US dollar; null if the decision cannot be appealed. A failure is temporary. */
  readAppealUnits(of: { job: JobName; decision: Decision }): Promise<number | null>;
  /**
   * Requests a re-run of a held verdict before its job expires. busy: another re-run is running; ask again. over: it had its decision, or no
   * re-run is possible any more.
   */
  askRerun(tx: NodePgDatabase, ask: { verdictId: string; at: Date }): Promise<"asked" | "busy" | "over">;
  /** Notifies that a reviewer has to decide a held job, in the database transaction that stores it. */
  notifyReviewDue(tx: NodePgDatabase, clock: HoldClock, at: Date): Promise<void>;
  metrics: ReturnType<typeof createEscrowMetrics>;
  logger: Logger;
  now: () => Date;
};
