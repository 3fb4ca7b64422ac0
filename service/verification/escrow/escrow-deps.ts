import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Address } from "viem";
import type { LocalAccount } from "viem/accounts";
import type { Deployment } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import type { EscrowMetrics } from "../metrics.ts";
import type { HoldClock } from "./decide-clock.ts";
import type { EscrowClient } from "./escrow-node.ts";

/** asked: it is due. busy: another is under way; ask again. over: there was one that decided, or none is made any more. */
export type RerunAnswer = "asked" | "busy" | "over";

/** Asks for a held verdict's run before its job runs out. */
export type AskRerun = (tx: NodePgDatabase, ask: { verdictId: string; at: Date }) => Promise<RerunAnswer>;

/** Tells of a held job that a reviewer has to decide, in the transaction that notes it. */
export type TellReviewDue = (tx: NodePgDatabase, clock: HoldClock, at: Date) => Promise<void>;

/** Everything that settling needs of outside. */
export type EscrowDeps = {
  readonly db: Database;
  readonly client: EscrowClient;
  readonly deployment: Pick<Deployment, "chainId" | "finalityBlocks" | "escrows">;
  /** The contract that acts on signed verdicts. */
  readonly evaluator: Address;
  /** Signs verdicts; a raw key, a keystore or a remote signer. */
  readonly signer: LocalAccount;
  /** Whose transactions carry them: they are queued for the process that sends for it. */
  readonly relayer: Address;
  readonly askRerun: AskRerun;
  readonly tellReviewDue: TellReviewDue;
  readonly metrics: EscrowMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};
