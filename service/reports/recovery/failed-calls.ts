import type { SQL } from "drizzle-orm";
import type { PoolClient } from "pg";
import type { Address, Hex } from "viem";
import { type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { readSnapshotInTime } from "../../db/index-snapshot.ts";
import { toQuery } from "../../db/statement.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import {
  enrichedBlock,
  executedBlocks,
  failedExecutions,
  failedTransactions,
  headOf,
  lastNonce,
  lastSelfCall,
  lastUncompared,
  MAX_SUCCESSES,
  meetsIndex,
  reportedFailures,
  reportedSuccesses,
  successesAfter,
  type WalletOf,
} from "./failed-calls.sql.ts";

/** A transaction of a wallet, as the index holds it. */
export type SentCall = {
  readonly hash: Hex;
  readonly block: number;
  readonly transactionIndex: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly nonce: number;
  readonly value: bigint;
  readonly input: Hex;
  /** First four bytes of the input; null for a plain transfer. */
  readonly selector: Hex | null;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei per gas. */
  readonly gasPrice: bigint;
};

/**
 * A failed transaction. `l1Fee` is what a rollup charged for posting it, in wei, 0 without such a fee; null if its
 * receipt was not read yet.
 */
export type FailedCall = SentCall & { readonly l1Fee: bigint | null };

/** A transaction from before the index followed its sender, as a history source reported it. */
export type ReportedCall = Omit<SentCall, "nonce" | "input"> & { readonly l1Fee: bigint };

/** Newest reported success per method, account and recipient. */
export type ReportedSuccess = Pick<SentCall, "hash" | "block" | "transactionIndex" | "to" | "selector"> & {
  /** By the calldata of an ERC-20 transfer or transferFrom; null for any other call. */
  readonly recipient: Address | null;
};

/** A failed call of a smart account inside a transaction that succeeded. */
export type FailedExecution = Pick<SentCall, "hash" | "block" | "timestamp" | "to" | "selector"> & {
  readonly position: number;
};

/** Outcomes of a wallet's transactions as of one block; newest first. */
export type CallOutcomes = NonNullable<Awaited<ReturnType<typeof readOutcomes>>>;

export type OutcomesQuery = {
  readonly wallet: Address;
  /** How far back failures are listed, and how far back they count as recent. */
  readonly listedDays: number;
  readonly recentDays: number;
  /** Selectors whose successes are all read. */
  readonly knownSelectors: readonly Hex[];
};

/** Reads outcomes in one snapshot of one chain's index; null while it holds no block. */
export function createOutcomeReader(db: Database, chainId: number) {
  return (query: OutcomesQuery) =>
    readSnapshotInTime(db, (client) => readOutcomes(client, { ...query, chainId }));
}

type Reading = OutcomesQuery & WalletOf;

/** Reads rows whose quantities of the chain are bigints. */
async function rowsOf<Row extends object>(client: PoolClient, statement: SQL): Promise<readonly Row[]> {
  return (await client.query<Row>({ ...NUMERIC_AS_BIGINT, ...toQuery(statement) })).rows;
}

async function readOutcomes(client: PoolClient, reading: Reading) {
  const { chainId, listedDays, recentDays } = reading;
  const [head] = await rowsOf<{ number: number; hash: Hex; timestamp: number }>(client, headOf(chainId));
  if (head === undefined) return null;
  const listedSince = head.timestamp - listedDays * SECONDS_PER_DAY;
  const recentSince = head.timestamp - recentDays * SECONDS_PER_DAY;
  const [last] = await rowsOf<{ nonce: number }>(client, lastNonce(reading));
  return {
    head,
    /** Highest sent nonce plus one; null if the index holds none. */
    nextNonce: last === undefined ? null : last.nonce + 1,
    ...(await readFailures(client, reading, listedSince)),
    ...(await readOwnCode(client, reading, recentSince)),
    ...(await readSuccesses(client, reading, recentSince)),
    reported: await readReported(client, reading, { listedSince, recentSince }),
  };
}

async function readFailures(
  client: PoolClient,
  of: WalletOf,
  listedSince: number,
): Promise<{
  readonly failures: readonly FailedCall[];
  readonly failuresFound: number;
  readonly executions: readonly FailedExecution[];
}> {
  const failures = await rowsOf<FailedCall & { found: number; bytes: bigint; place: string }>(
    client,
    failedTransactions(of, listedSince),
  );
  return {
    failures: failures.map(({ found: _found, bytes: _bytes, place: _place, ...call }) => call),
    failuresFound: failures[0]?.found ?? 0,
    executions: await rowsOf<FailedExecution>(client, failedExecutions(of, listedSince)),
  };
}

/**
 * Reads successes since the oldest recent failure: the newest per calldata that failed or has a known method, and the
 * newest per failed method and account. No success is missing from `completeFrom` on; null if none is missing at all.
 */
async function readSuccesses(
  client: PoolClient,
  reading: Reading,
  since: number,
): Promise<{ readonly successes: readonly SentCall[]; readonly completeFrom: number | null }> {
  const [compared] = await rowsOf<{ after: number }>(client, lastUncompared(reading, since));
  const after = compared?.after ?? null;
  const { knownSelectors } = reading;
  const rows = await rowsOf<SentCall & { isRead: boolean }>(
    client,
    successesAfter(reading, { since, after: after ?? -1, knownSelectors }),
  );
  const omitted = rows.findIndex(({ isRead }, place) => !isRead || place === MAX_SUCCESSES);
  const read = omitted === -1 ? rows : rows.slice(0, omitted);
  const last = rows[omitted]?.block ?? after;
  return {
    successes: read.map(({ isRead: _isRead, ...call }) => call),
    completeFrom: last === null ? null : last + 1,
  };
}

/** Reads what is known of the wallet's own code (EIP-7702), and of the calls that it made. */
async function readOwnCode(
  client: PoolClient,
  of: WalletOf,
  recentSince: number,
): Promise<{
  /** Newest success per account and method in others' transactions. `to` is null if the target is unknown. */
  readonly executed: readonly { to: Address | null; selector: Hex | null; block: number }[];
  /** The newest recent success that called the wallet itself, so that its own code may have done anything. */
  readonly selfCall: Pick<SentCall, "hash" | "block" | "transactionIndex"> | null;
  /** The newest block with known executions by the wallet's own code; null if they were never read. */
  readonly enrichedBlock: number | null;
}> {
  const [selfCall] = await rowsOf<Pick<SentCall, "hash" | "block" | "transactionIndex">>(
    client,
    lastSelfCall(of, recentSince),
  );
  const [enriched] = await rowsOf<{ block: number }>(client, enrichedBlock(of));
  return {
    executed: await rowsOf(client, executedBlocks(of, recentSince)),
    selfCall: selfCall ?? null,
    enrichedBlock: enriched?.block ?? null,
  };
}

/** Reads the transactions that a history source reported and the index does not have. */
async function readReported(
  client: PoolClient,
  of: WalletOf,
  { listedSince, recentSince }: { listedSince: number; recentSince: number },
): Promise<{
  readonly failures: readonly ReportedCall[];
  readonly failuresFound: number;
  readonly successes: readonly ReportedSuccess[];
  /** No success is missing from this block on; null if none is missing at all. */
  readonly completeFrom: number | null;
  /** Whether the index continues where the source ends; otherwise transactions in between are unknown. */
  readonly meetsIndex: boolean;
}> {
  const failures = await rowsOf<ReportedCall & { found: number }>(client, reportedFailures(of, listedSince));
  const successes = await rowsOf<ReportedSuccess>(client, reportedSuccesses(of, recentSince));
  const [meeting] = await rowsOf<{ meets: boolean }>(client, meetsIndex(of));
  const [omitted] = successes.slice(MAX_SUCCESSES);
  return {
    failures: failures.map(({ found: _found, ...call }) => call),
    failuresFound: failures[0]?.found ?? 0,
    successes: successes.slice(0, MAX_SUCCESSES),
    completeFrom: omitted === undefined ? null : omitted.block + 1,
    meetsIndex: meeting?.meets === true,
  };
}
