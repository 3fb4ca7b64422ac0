import type { Logger } from "pino";
import type { Address } from "viem";
import type { History, HistoryRequest } from "../ingest/history/history.ts";
import type { HistoryReader } from "../ingest/history/history-reader.ts";
import type { HistoryFailure } from "../ingest/history/history-source.ts";
import { type PastFacts, readPastFacts, storeKeptHistory } from "../ingest/history/kept-history.ts";
import { type PastQuestion, planPast, requestPast } from "../ingest/history/plan-past.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import type { ScoringContext } from "./score-wallets.ts";

export type PastContext = Pick<ScoringContext, "db" | "chainId" | "policy"> & {
  readonly history: HistoryReader;
  readonly logger: Logger;
};

/** ready: what sources have to tell is stored, or nothing is missing. */
export type PastOutcome =
  | { readonly kind: "ready" }
  | { readonly kind: "unavailable"; readonly detail: string; readonly retryAfterSeconds: number }
  | { readonly kind: "history-unavailable"; readonly detail: string; readonly retryAfterSeconds: number };

const RUNNING_SECONDS = 5;
const BUSY_SECONDS = 10;
/** As long as a failure is kept, so that whoever comes back then is not told the same. */
const FAILED_SECONDS = 30;

const NOT_YET: PastOutcome = {
  kind: "unavailable",
  detail: "The index holds no finalized block yet.",
  retryAfterSeconds: 10,
};

const GONE: PastOutcome = {
  kind: "unavailable",
  detail: "The block up to which the history was read has just left the index.",
  retryAfterSeconds: 1,
};

const RUNNING: PastOutcome = {
  kind: "history-unavailable",
  detail: "The wallet's history is still being read; the next request finds it or joins the reading.",
  retryAfterSeconds: RUNNING_SECONDS,
};

/** Reads from the source whatever is missing to score a wallet (lower-case), and stores it. */
export function readMissingPast(context: PastContext, wallet: Address): Promise<PastOutcome> {
  return readPast(context, wallet, planPast);
}

/** Reads a wallet's past before it was followed from the source, also where the index alone would do, and stores it. */
export function readWholePast(context: PastContext, wallet: Address): Promise<PastOutcome> {
  return readPast(context, wallet, requestPast);
}

async function readPast(
  context: PastContext,
  wallet: Address,
  plan: (facts: PastFacts, question: PastQuestion) => HistoryRequest | null,
): Promise<PastOutcome> {
  const { db, chainId, policy, history } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return NOT_YET;
  const facts = await readPastFacts(db, { chainId, wallet, asOfBlock: asOf.blockNumber });
  const request = plan(facts, { wallet, asOf, windowDays: policy.window.days });
  if (request === null) return { kind: "ready" };
  const told = await history.read(request);
  switch (told.kind) {
    case "running":
      return RUNNING;
    case "failed":
      return failed(context, wallet, told);
    case "found":
      return (await store(context, request, told)) ? { kind: "ready" } : GONE;
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
  // An account that sent nothing may be a contract, whose calls no source of transactions tells: nothing is covered.
  const told =
    calls.length > 0
      ? { ...range, complete: coverage.complete }
      : { ...range, fromBlock: toBlock, fromTimestamp: asOf.timestamp, complete: false };
  return storeKeptHistory(db, { chainId, wallet, ...told }, calls);
}
