import type { Address } from "viem";
import { readCode } from "../../chain/node/read-code.ts";
import { readChainMark } from "../../db/chain-mark.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { isFailure } from "../history/ask-json.ts";
import type { HistoryFailure } from "../history/history-source.ts";
import {
  type AccountFactRow,
  type FirstSeen,
  readFirstSeen,
  storeAccountFacts,
} from "./account-fact-rows.ts";
import type { AccountFactSource, SourcedFacts } from "./account-fact-source.ts";
import type { EnrichContext } from "./context.ts";
import { readEnrichCursor, readIndexedBlocks } from "./enrich-reads.ts";
import { readDueAccounts } from "./pending-facts.ts";
import { delegateOf } from "./read-delegations.ts";

export type FactsContext = EnrichContext & {
  /** Null where there is none: then only code is read, and what contacts show. */
  readonly source: AccountFactSource | null;
  /** Milliseconds of any clock that never goes back. */
  readonly now: () => number;
  /** Accounts that the source gave no facts of. */
  readonly setAside: Map<Address, SetAside>;
  readonly signal: AbortSignal;
};

/** An account that is left alone until a time of the context's clock, and how often in a row that was its own fault. */
type SetAside = { readonly failures: number; readonly until: number };

/** more: whether others are waiting that can be asked for at once. failure: why the pass was broken off, or told nothing. */
export type FactsPass = { readonly more: boolean; readonly failure: HistoryFailure | null };

/** Accounts of one pass. */
const PASS = 32;
/** Most accounts that are asked for at once. */
const CONCURRENCY = 4;
/** With so many failures and no answer in a pass nobody else is asked. */
const FAILURES_OF_A_SOURCE = 2 * CONCURRENCY;
/** Failures that may be of the account or of the source: which shows by what others get. */
const OF_EITHER = new Set(["unavailable", "timeout", "rate_limited", "busy", "behind"]);
/** Of these, those by which the source asks for a pause. */
const PAUSES = new Set(["rate_limited", "busy", "behind"]);
/** So that others are asked for first, whoever is to blame. */
const SHORTLY_MS = 60_000;
/** From there it doubles. */
const LEFT_ALONE_MS = 600_000;
const LONGEST_LEFT_ALONE_MS = 86_400_000;

/**
 * Reads and stores facts of some accounts that are due. One that nobody knows anything of is stored as well and due again
 * later. One that the source gives no facts of is left alone for ten minutes, then for twice as long each time, up to a day:
 * at once where the answer makes no sense, after a second failure in a row where the source answered for others. Only where
 * it answers for nobody, or asks for a pause, is the source in trouble. Throws an EnrichFailure when the node does not give code.
 */
export async function gatherAccountFacts(context: FactsContext): Promise<FactsPass> {
  const { db, chainId } = context;
  const generation = (await readChainMark(db, chainId))?.generation;
  const cursor = await readCursorBlock(context);
  if (generation === undefined || cursor === null) return { more: false, failure: null };
  const due = { chainId, now: cursor.timestamp, limit: PASS, leaveOut: leftAlone(context) };
  const pending = await readDueAccounts(db, due);
  if (pending.length === 0) return { more: false, failure: null };
  const coded = await mapLimited(pending, CONCURRENCY, async (address) => ({
    address,
    hasCode: isContract(await readCode(context.client, address, cursor.block)),
  }));
  const contracts = coded.filter(({ hasCode }) => hasCode).map(({ address }) => address);
  const seen = await readFirstSeen(db, { chainId, accounts: pending, contracts });
  const { told, failure } = await askSource(context, coded);
  const rows = told.map(({ facts, ...account }) => ({
    ...account,
    ...factsOf(facts, seen.get(account.address) ?? null),
    chainId,
    source: context.source === null ? "index" : context.source.name,
    readBlock: cursor.block,
  }));
  const unknown = new Set(told.filter((account) => isUnknown(account, seen)).map(({ address }) => address));
  const stored = await storeAccountFacts(db, { chainId, generation, rows, unknown, now: cursor.timestamp });
  context.metrics.rows.inc({ table: "accountFacts" }, stored);
  return { more: failure === null, failure };
}

/** The block up to which the chain is enriched; null before that, and while the index does not hold it. */
export async function readCursorBlock({ db, chainId, schema }: EnrichContext) {
  const cursor = await readEnrichCursor(db, chainId);
  if (cursor === null) return null;
  const blocks = await readSnapshot(db, (client) => readIndexedBlocks(client, schema, [cursor.block]));
  const block = blocks.get(cursor.block);
  return block === undefined ? null : { block: cursor.block, timestamp: block.timestamp };
}

/** Accounts to leave out now; those whose time was over long ago are forgotten. */
function leftAlone({ setAside, now }: FactsContext): readonly Address[] {
  const at = now();
  for (const [account, { until }] of setAside)
    if (until + LONGEST_LEFT_ALONE_MS <= at) setAside.delete(account);
  return [...setAside].filter(([, { until }]) => until > at).map(([account]) => account);
}

type Coded = { readonly address: Address; readonly hasCode: boolean };
type Told = Coded & { readonly facts: SourcedFacts | null };
type Failed = { readonly address: Address; readonly failure: HistoryFailure };

async function askSource(
  context: FactsContext,
  accounts: readonly Coded[],
): Promise<{ readonly told: readonly Told[]; readonly failure: HistoryFailure | null }> {
  const { source, signal } = context;
  if (source === null)
    return { told: accounts.map((account) => ({ ...account, facts: null })), failure: null };
  const told: Told[] = [];
  const failed: Failed[] = [];
  let end: HistoryFailure | null = null;
  await mapLimited(accounts, CONCURRENCY, async (account) => {
    if (end !== null) return;
    const facts = await source.read(account, signal);
    signal.throwIfAborted();
    if (!isFailure(facts)) {
      told.push({ ...account, facts });
      return;
    }
    context.metrics.factFailures.inc({ reason: facts.reason });
    failed.push({ address: account.address, failure: facts });
    const isDown = told.length === 0 && failed.length >= FAILURES_OF_A_SOURCE;
    if (PAUSES.has(facts.reason) || isDown) end = facts;
  });
  setAside(context, told, failed);
  const trouble = failed.find(({ failure }) => OF_EITHER.has(failure.reason));
  const isSilent = told.length === 0 && trouble !== undefined;
  return { told, failure: end ?? (isSilent ? trouble.failure : null) };
}

function setAside(
  { setAside, now, logger }: FactsContext,
  told: readonly Told[],
  failed: readonly Failed[],
): void {
  for (const { address } of told) setAside.delete(address);
  for (const { address, failure } of failed) {
    const before = setAside.get(address)?.failures ?? 0;
    const isOwn = !OF_EITHER.has(failure.reason);
    const failures = isOwn || told.length > 0 ? before + 1 : before;
    const waits = isOwn ? failures : failures - 1;
    const ms =
      waits < 1 ? SHORTLY_MS : Math.min(LONGEST_LEFT_ALONE_MS, LEFT_ALONE_MS * 2 ** Math.min(waits - 1, 10));
    setAside.set(address, { failures, until: now() + ms });
    if (waits >= 1)
      logger.warn({ account: address, failure, ms }, "no facts of an account; trying again later");
  }
}

/** An account that runs another's code by EIP-7702 has none of its own. */
function isContract(code: `0x${string}`): boolean {
  return code !== "0x" && delegateOf(code) === null;
}

/** Whether an account has no code and nobody knows more of it: not who paid it first, nor that it sent anything. */
function isUnknown({ address, hasCode, facts }: Told, seen: ReadonlyMap<Address, FirstSeen>): boolean {
  if (hasCode) return false;
  if (facts === null) return !seen.has(address);
  return facts.creator === null && facts.firstFunder === null && facts.existed === null;
}

/** The earlier of what the source and what contacts tell. */
function factsOf(
  facts: SourcedFacts | null,
  seen: FirstSeen | null,
): Pick<AccountFactRow, "creator" | "firstFunder" | "existedBlock" | "existedAt"> {
  const existed = facts === null ? null : facts.existed;
  const first = existed === null || (seen !== null && seen.block < existed.block) ? seen : existed;
  return {
    creator: facts === null ? null : facts.creator,
    firstFunder: facts === null ? null : facts.firstFunder,
    existedBlock: first === null ? null : first.block,
    existedAt: first === null ? null : first.timestamp,
  };
}
