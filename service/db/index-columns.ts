import type { boolean, integer, text } from "drizzle-orm/pg-core";
import type { bigint, hex } from "ponder";

/**
 * Columns of the index's tables. Ponder writes them with its own column types (`ponder.schema.ts`), and every other process reads them with
 * those of `index-tables.ts`, since loading Ponder takes a second.
 */
export type IndexTypes = {
  readonly bigint: typeof bigint;
  readonly boolean: typeof boolean;
  readonly hex: typeof hex;
  readonly integer: typeof integer;
  readonly text: typeof text;
};

/** Agents of the ERC-8004 identity registry. */
export const agent = (t: IndexTypes) => ({
  agentId: t.bigint().primaryKey(),
  owner: t.hex().notNull(),
  /** The current agentWallet; null while it is cleared. */
  wallet: t.hex(),
  /** Row of agent_wallet that is open for it. */
  walletSpan: t.text(),
  agentUri: t.text().notNull(),
  registeredBlock: t.bigint().notNull(),
  registeredAt: t.bigint().notNull(),
  /** Place of its Registered log in that block; null where it has none yet. */
  registeredLogIndex: t.integer(),
  updatedBlock: t.bigint().notNull(),
});

/** Which wallet acted for which agent, and over which blocks. */
export const agentWallet = (t: IndexTypes) => ({
  id: t.text().primaryKey(),
  agentId: t.bigint().notNull(),
  wallet: t.hex().notNull(),
  fromBlock: t.bigint().notNull(),
  toBlock: t.bigint(),
});

/** Followed wallets, with aggregates that handlers keep by primary key. */
export const wallet = (t: IndexTypes) => ({
  address: t.hex().primaryKey(),
  /** Why it is followed: registered, agent_wallet, requested or static. */
  source: t.text().notNull(),
  followedBlock: t.bigint().notNull(),
  ownCalls: t.integer().notNull(),
  ownFailures: t.integer().notNull(),
  firstCallBlock: t.bigint(),
  lastCallBlock: t.bigint(),
  /** Unix seconds of the last own call. */
  lastCallAt: t.bigint(),
  /** Newest block that changed anything the score reads. */
  touchedBlock: t.bigint().notNull(),
  /** Number of the window of blocks in which `received` counts; null before the first transaction sent to it. */
  receivedWindow: t.bigint(),
  /** Transactions sent to it in that window, counted up to one beyond the bound. */
  received: t.integer().notNull(),
  /** Last block of the window after the newest one that went over the bound; null where none did. */
  busyUntil: t.bigint(),
});

/** Transactions from or to a followed wallet, reverted ones included. */
export const transaction = (t: IndexTypes) => ({
  hash: t.hex().primaryKey(),
  block: t.bigint().notNull(),
  transactionIndex: t.integer().notNull(),
  timestamp: t.bigint().notNull(),
  from: t.hex().notNull(),
  to: t.hex(),
  nonce: t.integer().notNull(),
  value: t.bigint().notNull(),
  /** Calldata; null where the sender is no followed wallet. */
  input: t.hex(),
  /** First four bytes of the input; null for a plain transfer. */
  selector: t.hex(),
  gasLimit: t.bigint().notNull(),
  gasUsed: t.bigint().notNull(),
  effectiveGasPrice: t.bigint().notNull(),
  baseFeePerGas: t.bigint(),
  ok: t.boolean().notNull(),
  /** The contract it created, if it did. */
  contractAddress: t.hex(),
  /** True where the sender is a followed wallet. */
  own: t.boolean().notNull(),
});

/** Every block from the start block on: the clock and the fingerprint of the chain. */
export const block = (t: IndexTypes) => ({
  number: t.bigint().primaryKey(),
  hash: t.hex().notNull(),
  timestamp: t.bigint().notNull(),
  baseFeePerGas: t.bigint(),
});

/** Additions to and removals from the sanctions list, each as it happened. */
export const sanctionsChange = (t: IndexTypes) => ({
  id: t.text().primaryKey(),
  address: t.hex().notNull(),
  listed: t.boolean().notNull(),
  block: t.bigint().notNull(),
  logIndex: t.integer().notNull(),
  timestamp: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
});

/** The record of a wallet in the oracle contract now, replayed from its events. */
export const oracleScore = (t: IndexTypes) => ({
  wallet: t.hex().primaryKey(),
  /** False after an invalidation: only the floor for asOf is left. */
  present: t.boolean().notNull(),
  ahsScore: t.integer().notNull(),
  d1Score: t.integer().notNull(),
  d2Score: t.integer().notNull(),
  confidenceBps: t.integer().notNull(),
  sanctioned: t.boolean().notNull(),
  insufficient: t.boolean().notNull(),
  modelVersion: t.integer().notNull(),
  safeMicroUsd: t.bigint().notNull(),
  asOf: t.bigint().notNull(),
  asOfTime: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
  publishedBlock: t.bigint().notNull(),
  publishedAt: t.bigint().notNull(),
});

/** Merkle roots of whole epochs. */
export const oracleRoot = (t: IndexTypes) => ({
  epoch: t.bigint().primaryKey(),
  root: t.hex().notNull(),
  uri: t.text().notNull(),
  transactionHash: t.hex().notNull(),
  block: t.bigint().notNull(),
  publishedAt: t.bigint().notNull(),
});

/** Paid or free requests to follow a wallet. */
export const scoreRequest = (t: IndexTypes) => ({
  id: t.text().primaryKey(),
  wallet: t.hex().notNull(),
  requester: t.hex().notNull(),
  fee: t.bigint().notNull(),
  block: t.bigint().notNull(),
  timestamp: t.bigint().notNull(),
});

/** Jobs of the escrows whose verdicts are settled, by their own events; created and unfunded ones are not here. */
export const job = (t: IndexTypes) => ({
  /** escrow:jobId */
  id: t.text().primaryKey(),
  escrow: t.hex().notNull(),
  jobId: t.bigint().notNull(),
  /** By the newest event: Funded, Submitted, Completed, Rejected or Expired. */
  status: t.text().notNull(),
  /** Who funded it, with how much of the escrow's token; null where it was funded before the escrow was followed. */
  client: t.hex(),
  funded: t.bigint(),
  /** As of its newest submission; all of these are null before the first. */
  provider: t.hex(),
  deliverable: t.hex(),
  submittedBlock: t.bigint(),
  submittedBlockHash: t.hex(),
  submittedLogIndex: t.integer(),
  submittedTransaction: t.hex(),
  submittedAt: t.bigint(),
  /** Block of its first submission; null before. */
  firstSubmittedBlock: t.bigint(),
  /** Its end: who brought it about, with what reason; an expiry has neither, and all are null before. */
  endedBy: t.hex(),
  endReason: t.hex(),
  endedBlock: t.bigint(),
  endedAt: t.bigint(),
  endedTransaction: t.hex(),
});

/** Actions of the verdict evaluator, by its own events. */
export const verdictEvent = (t: IndexTypes) => ({
  id: t.text().primaryKey(),
  escrow: t.hex().notNull(),
  jobId: t.bigint().notNull(),
  /** settled or held. */
  kind: t.text().notNull(),
  /** 1 ALLOW, 2 REJECT, 3 HOLD. */
  decision: t.integer().notNull(),
  /** Null for a HOLD, whose event has none. */
  score: t.integer(),
  evidenceHash: t.hex().notNull(),
  /** Unix seconds until which a HOLD is to be reviewed; null for the others. */
  reviewBy: t.bigint(),
  block: t.bigint().notNull(),
  timestamp: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
});

/** Available bonds of wallets, after each block in which they changed. */
export const bondChange = (t: IndexTypes) => ({
  /** wallet:block */
  id: t.text().primaryKey(),
  wallet: t.hex().notNull(),
  block: t.bigint().notNull(),
  /** In the smallest unit of USDC: neither committed to a job nor unbonding. */
  available: t.bigint().notNull(),
});
