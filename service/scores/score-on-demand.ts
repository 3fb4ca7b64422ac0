import type { Logger } from "pino";
import type { Address } from "viem";
import { workThrough } from "../db/quarantine.ts";
import type { History, HistoryFailure, HistoryRequest } from "../ingest/history/history.ts";
import type { HistoryReader } from "../ingest/history/history-reader.ts";
import {
  planPast,
  readGaps,
  readPastFacts,
  requestPast,
  storeHistory,
} from "../ingest/history/stored-history.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import { readSanctionsFlags } from "../sanctions/sanctions.ts";
import { type ScoredWallets, type ScoringContext, scoreAtFinalized, scoreAtNewest } from "./score-wallets.ts";
import { readCurrentBlock, readScoreFrom, type StoreContext, storeRecords } from "./store-records.ts";
import type { StoredScore } from "./stored-score.ts";

export type OnDemandContext = ScoringContext & StoreContext & PastContext;

type PastContext = Pick<ScoringContext, "db" | "chainId" | "policy"> & {
  readonly history: HistoryReader;
  readonly logger: Logger;
};

/** Why there is no score now; history-unavailable: it is the source of histories that gives none. */
type Unavailable<Kind = "unavailable" | "history-unavailable"> = {
  readonly kind: Kind;
  readonly detail: string;
  readonly retryAfterSeconds: number;
};

/**
 * Scores a wallet (lower-case) for a paying caller, whether or not the index follows it. Missing history is read from
 * the source first.
 * A source that fails or exceeds the caller's time leaves no score.
 */
export async function scoreOnDemand(
  context: OnDemandContext,
  wallet: Address,
  /** key:ID or wallet:ADDRESS. */
  caller: string,
) {
  const past = await readMissingPast(context, wallet, caller);
  if (past.kind !== "ready") return past;
  return scoreNow(context, wallet);
}

/**
 * Scores a wallet (lower-case) at the newest finalized and enriched block, stores the score and returns its row.
 * A wallet whose listing changed after that block, or that has a score of a later block, is scored at the newest
 * indexed block. Nothing is stored twice.
 */
export async function scoreNow(
  context: ScoringContext & StoreContext,
  address: Address,
): Promise<{ kind: "stored"; row: StoredScore } | { kind: "not-indexed" } | Unavailable<"unavailable">> {
  const { db, chainId } = context;
  const finalized = await scoreAtFinalized(context, [address]);
  if (finalized === null) return unavailable("No block is both final and enriched yet.", 10);
  const flags = await readSanctionsFlags(db, chainId, [address]);
  const isListedNow = flags.has(address);
  const current = await readCurrentBlock(db, { chainId, wallet: address });
  // A listing, or its end, was in a hurry: no later record goes back behind that one.
  const isOvertaken = current !== null && current > finalized.asOf.blockNumber;
  const scored =
    isListed(finalized) === isListedNow && !isOvertaken ? finalized : await scoreAtNewest(context, [address]);
  if (scored === null) return unavailable("No block is both final and enriched yet.", 10);
  const [only] = scored.records;
  if (only === undefined) return { kind: "not-indexed" };
  if ((await storeRecords(context, scored)) === 0)
    return unavailable("The block that the wallet was scored at has just left the index.", 1);
  const row = await readScoreFrom(db, { chainId, wallet: address, inputsHash: only.inputs.hash });
  if (row === undefined)
    throw new Error(`the score of ${address} at block ${scored.asOf.blockNumber} was not stored`);
  return { kind: "stored", row };
}

function isListed({ records }: ScoredWallets): boolean {
  return records.some(({ record }) => record.sanctionsFlags.length > 0);
}

function unavailable(detail: string, retryAfterSeconds: number): Unavailable<"unavailable"> {
  return { kind: "unavailable", detail, retryAfterSeconds };
}

/** ready: the available history is stored, or nothing is missing. */
type PastOutcome = { readonly kind: "ready" } | Unavailable;

const RUNNING_SECONDS = 5;
const BUSY_SECONDS = 10;
/** Failures are cached this long; a retry after it asks the source again. */
const FAILED_SECONDS = 30;

/** Reads from the source whatever is missing to score a wallet (lower-case), and stores it. */
export function readMissingPast(
  context: PastContext,
  wallet: Address,
  caller: string | null = null,
): Promise<PastOutcome> {
  return readPast(context, wallet, { plan: planPast, caller });
}

async function readPast(
  context: PastContext,
  wallet: Address,
  { plan, caller }: { readonly plan: typeof planPast; readonly caller: string | null },
): Promise<PastOutcome> {
  const { db, chainId, policy, history } = context;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return unavailable("The index holds no finalized block yet.", 10);
  const facts = await readPastFacts(db, { chainId, wallet, asOfBlock: asOf.blockNumber });
  const request = plan(facts, { wallet, asOf, windowDays: policy.window.days });
  if (request === null) return { kind: "ready" };
  const read = await history.read(request, caller);
  switch (read.kind) {
    case "running":
      return {
        kind: "history-unavailable",
        detail: "The wallet's history is still being read; the next request finds it or joins the reading.",
        retryAfterSeconds: RUNNING_SECONDS,
      };
    case "failed":
      return failed(context, wallet, read);
    case "found":
      return (await store(context, request, read))
        ? { kind: "ready" }
        : unavailable("The block up to which the history was read has just left the index.", 1);
  }
}

function failed({ logger }: PastContext, wallet: Address, failure: HistoryFailure): PastOutcome {
  logger.warn({ wallet, failure }, "no history");
  const isBusy = failure.reason === "busy";
  return {
    kind: "history-unavailable",
    detail: detailOf(failure),
    retryAfterSeconds: isBusy ? BUSY_SECONDS : Math.max(FAILED_SECONDS, failure.retryAfterSeconds ?? 0),
  };
}

function detailOf({ reason }: HistoryFailure): string {
  switch (reason) {
    case "busy":
      return "Too many wallets wait for their history already.";
    case "crowded":
      return "Others have sent the wallet so much that its own transactions were not found among theirs.";
    case "unavailable":
    case "timeout":
    case "rate_limited":
    case "refused":
    case "malformed":
    case "inconsistent":
    case "behind":
      return `The source of histories gives none that can be used: ${reason}.`;
  }
}

function store(
  { db, chainId }: PastContext,
  { wallet, asOf }: HistoryRequest,
  { calls, coverage }: History,
): Promise<boolean> {
  const { source, fromBlock, fromTimestamp, toBlock } = coverage;
  const range = { source, fromBlock, fromTimestamp, toBlock, toHash: asOf.blockHash };
  // An account without transactions may be a contract, whose calls the source does not report: nothing is covered.
  const covered =
    calls.length > 0
      ? { ...range, complete: coverage.complete }
      : { ...range, fromBlock: toBlock, fromTimestamp: asOf.timestamp, complete: false };
  return storeHistory(db, { chainId, wallet, ...covered }, calls);
}

/** Wallets of one round, and how many of them are read at once. */
const [ROUND, AT_ONCE] = [20, 5];

/**
 * A gap lies between the last block that the source reported for a paid wallet and the first block in which the index
 * follows it. Reads that gap from the source and scores the wallet again; returns the number of wallets.
 * If the source fails, a later round retries; if the reading throws, the wallet is quarantined.
 */
export async function closeGaps(context: OnDemandContext): Promise<number> {
  const { db, chainId } = context;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return 0;
  const gaps = { chainId, asOfBlock: asOf.blockNumber, now: context.now(), limit: ROUND };
  let closed = 0;
  await workThrough(
    { ...context, kind: "history" },
    {
      items: await readGaps(db, gaps),
      batchSize: 1,
      lanes: AT_ONCE,
      attempt: async (batch) => {
        for (const wallet of batch as Address[]) {
          if ((await readPast(context, wallet, { plan: requestPast, caller: null })).kind !== "ready")
            continue;
          await scoreNow(context, wallet);
          closed += 1;
        }
      },
      control: async () => {
        await readGaps(db, gaps);
      },
    },
  );
  if (closed > 0) context.logger.info({ closed }, "histories of enrolled wallets completed");
  return closed;
}
