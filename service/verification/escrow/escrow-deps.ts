import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { LocalAccount } from "viem/accounts";
import type { Deployment } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import type { EscrowMetrics } from "../metrics.ts";
import type { HoldClock } from "./decide-clock.ts";
import type { EscrowClient } from "./escrow-node.ts";

/** asked: it is due. busy: another re-run is running; ask again. over: it had its decision, or no re-run is possible any more. */
export type RerunAnswer = "asked" | "busy" | "over";

/** Requests a re-run of a held verdict before its job expires. */
export type AskRerun = (tx: NodePgDatabase, ask: { verdictId: string; at: Date }) => Promise<RerunAnswer>;

/** Notifies that a reviewer has to decide a held job, in the database transaction that stores it. */
export type NotifyReviewDue = (tx: NodePgDatabase, clock: HoldClock, at: Date) => Promise<void>;

/** Dependencies of settlement. */
export type EscrowDeps = {
  readonly db: Database;
  readonly client: EscrowClient;
  readonly deployment: Pick<Deployment, "chainId" | "finalityBlocks" | "escrows">;
  /** The contract that acts on signed verdicts. */
  readonly evaluator: Address;
  /** Signs verdicts: a raw key, a keystore or a remote signer. */
  readonly signer: LocalAccount;
  /** Account that sends the transactions; the process with its key sends them. */
  readonly relayer: Address;
  readonly askRerun: AskRerun;
  readonly notifyReviewDue: NotifyReviewDue;
  readonly metrics: EscrowMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};
