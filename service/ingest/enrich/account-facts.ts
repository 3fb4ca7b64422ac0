import { sql } from "drizzle-orm";
import type { Address } from "viem";
import { readCode } from "../../chain/node/chain-reader.ts";
import { readChainMark } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { accountFact } from "../../db/tables/enrich.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { isFailure } from "../history/ask-source.ts";
import type { HistoryFailure } from "../history/history.ts";
import type { EnrichContext } from "./context.ts";
import { readEnrichCursor, readIndexedBlocks } from "./enrich-reads.ts";
import { holdsGeneration, lockEnrichment } from "./enrich-writes.ts";
import { putOffPending, readDueAccounts, takeOffPending } from "./pending-facts.ts";
import { delegateOf } from "./read-delegations.ts";

export type FactsContext = EnrichContext & {
  /** Null without a source: then only code and contacts are read. */
  readonly source: AccountFactSource | null;
  /** Milliseconds of any clock that never goes back. */
  readonly now: () => number;
  /** Accounts for which the source returned no facts: their own failures in a row, and until when they are not asked for. */
  readonly setAside: Map<Address, { readonly failures: number; readonly until: number }>;
  readonly signal: AbortSignal;
};

/** Accounts of one pass. */
const PASS = 32;
/** Most accounts that are asked for at once. */
const CONCURRENCY = 4;
/** A pass with so many failures and no result ends. */
const FAILURES_OF_A_SOURCE = 2 * CONCURRENCY;
/** Failures that may be of the account or of the source: which shows by what others get. */
const OF_EITHER = new Set(["unavailable", "timeout", "rate_limited", "busy", "behind"]);
/** Of these, those by which the source asks for a pause. */
const PAUSES = new Set(["rate_limited", "busy", "behind"]);
/** Lets other accounts go first, whatever caused the failure. */
const SHORTLY_MS = 60_000;
/** From there it doubles. */
const LEFT_ALONE_MS = 600_000;
const LONGEST_LEFT_ALONE_MS = 86_400_000;

/**
 * Reads and stores facts of some accounts that are due; one without known facts is due again later. One that the source fails
 * on is left alone for ten minutes, then for twice as long each time, up to a day. The source is in trouble if it answers for
 * no account, or asks for a pause. Returns whether others are due now, and why the pass ended early. Throws a NodeFailure.
 */
export async function gatherAccountFacts(
  context: FactsContext,
): Promise<{ readonly more: boolean; readonly failure: HistoryFailure | null }> {
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
  const { answered, failure } = await askSource(context, coded, cursor.block);
  const source = context.source === null ? "index" : context.source.name;
  const rows = answered.map(({ facts, ...account }) => ({
    ...account,
    ...factsOf(facts, seen.get(account.address) ?? null),
    chainId,
    source,
    readBlock: cursor.block,
  }));
  const unknown = new Set(
    answered.filter((account) => isUnknown(account, seen)).map(({ address }) => address),
  );
  const stored = await storeAccountFacts(db, { chainId, generation, rows, unknown, now: cursor.timestamp });
  context.metrics.rows.inc({ table: "accountFacts" }, stored);
  return { more: failure === null, failure };
}

/** The block up to which the chain is enriched; null before that, and while the index does not hold it. */
export async function readCursorBlock({ db, chainId }: EnrichContext) {
  const cursor = await readEnrichCursor(db, chainId);
  if (cursor === null) return null;
  const blocks = await readSnapshot(db, (client) => readIndexedBlocks(client, chainId, [cursor.block]));
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

type Answered = { readonly address: Address; readonly hasCode: boolean; readonly facts: SourcedFacts | null };

async function askSource(
  context: FactsContext,
  accounts: readonly Omit<Answered, "facts">[],
  block: number,
): Promise<{ readonly answered: readonly Answered[]; readonly failure: HistoryFailure | null }> {
  const { source, signal } = context;
  if (source === null)
    return { answered: accounts.map((account) => ({ ...account, facts: null })), failure: null };
  const answered: Answered[] = [];
  const failed: { address: Address; failure: HistoryFailure }[] = [];
  let end: HistoryFailure | null = null;
  await mapLimited(accounts, CONCURRENCY, async (account) => {
    if (end !== null) return;
    const facts = await source.read({ ...account, block }, signal);
    signal.throwIfAborted();
    if (!isFailure(facts)) {
      answered.push({ ...account, facts });
      return;
    }
    context.metrics.factFailures.inc({ reason: facts.reason });
    failed.push({ address: account.address, failure: facts });
    const isDown = answered.length === 0 && failed.length >= FAILURES_OF_A_SOURCE;
    if (PAUSES.has(facts.reason) || isDown) end = facts;
  });
  setAside(context, answered, failed);
  const trouble = failed.find(({ failure }) => OF_EITHER.has(failure.reason));
  const isSilent = answered.length === 0 && trouble !== undefined;
  return { answered, failure: end ?? (isSilent ? trouble.failure : null) };
}

function setAside(
  { setAside, now, logger }: FactsContext,
  answered: readonly Answered[],
  failed: readonly { readonly address: Address; readonly failure: HistoryFailure }[],
): void {
  for (const { address } of answered) setAside.delete(address);
  for (const { address, failure } of failed) {
    const before = setAside.get(address)?.failures ?? 0;
    const isOwn = !OF_EITHER.has(failure.reason);
    const failures = isOwn || answered.length > 0 ? before + 1 : before;
    const waits = isOwn ? failures : failures - 1;
    const ms =
      waits < 1 ? SHORTLY_MS : Math.min(LONGEST_LEFT_ALONE_MS, LEFT_ALONE_MS * 2 ** Math.min(waits - 1, 10));
    setAside.set(address, { failures, until: now() + ms });
    if (waits >= 1)
      logger.warn({ account: address, failure, ms }, "no facts of an account; trying again later");
  }
}

/** An EIP-7702 delegation is no code of the account's own. */
function isContract(code: `0x${string}`): boolean {
  return code !== "0x" && delegateOf(code) === null;
}

/** Whether an account has no code and no known creator, funder or activity. */
function isUnknown({ address, hasCode, facts }: Answered, seen: ReadonlyMap<Address, FirstSeen>): boolean {
  if (hasCode) return false;
  if (facts === null) return !seen.has(address);
  return facts.creator === null && facts.firstFunder === null && facts.existed === null;
}

/** Facts of the source; of its first activity and that of contacts, the earlier one. */
function factsOf(facts: SourcedFacts | null, seen: FirstSeen | null) {
  const { creator, firstFunder, existed } = facts ?? { creator: null, firstFunder: null, existed: null };
  const first = existed === null || (seen !== null && seen.block < existed.block) ? seen : existed;
  return { creator, firstFunder, existedBlock: first?.block ?? null, existedAt: first?.timestamp ?? null };
}

/** When an account had acted, or had code, at the latest. */
type FirstSeen = { readonly block: number; readonly timestamp: number };

/** The earliest known calls by account: calls that it made, and for contracts also calls to it. */
async function readFirstSeen(
  db: Database,
  query: { chainId: number; accounts: readonly Address[]; contracts: readonly Address[] },
): Promise<ReadonlyMap<Address, FirstSeen>> {
  const { chainId, accounts, contracts } = query;
  const earliest = (table: "contact" | "sampled_contact") => sql`
    select account as address, first_block as block, first_time as time from ahs.${sql.identifier(table)}
    where chain_id = ${chainId} and account = any(${sql.param(accounts)}::text[]) and calls > 0
    union all
    select counterparty, first_block, first_time from ahs.${sql.identifier(table)}
    where chain_id = ${chainId} and counterparty = any(${sql.param(contracts)}::text[]) and calls > 0`;
  const { rows } = await db.execute<{ address: Address; block: number; timestamp: number }>(sql`
    select address, min(block)::float8 as block, min(time)::float8 as timestamp
    from (${earliest("contact")} union all ${earliest("sampled_contact")}) seen group by address`);
  return new Map(rows.map(({ address, ...seen }) => [address, seen]));
}

/** Stores facts and updates the pending accounts; returns the accounts with new facts, 0 if the chain's data was cleared since. */
export async function storeAccountFacts(
  db: Database,
  facts: {
    readonly chainId: number;
    readonly generation: string;
    readonly rows: readonly (typeof accountFact.$inferInsert)[];
    /** Those of the accounts that are to be asked for again. */
    readonly unknown: ReadonlySet<Address>;
    /** Unix seconds of chain time. */
    readonly now: number;
  },
): Promise<number> {
  const { chainId, generation, rows, unknown, now } = facts;
  if (rows.length === 0) return 0;
  const known = rows.map(({ address }) => address).filter((address) => !unknown.has(address));
  return db.transaction(async (tx) => {
    await lockEnrichment(tx, chainId);
    if (!(await holdsGeneration(tx, chainId, generation))) return 0;
    const { count } = await insertRows(tx, {
      table: "account_fact",
      rows,
      // The block stays where nothing is learnt: scores are renewed by it.
      end: sql`on conflict (chain_id, address) do update set
        has_code = coalesce(account_fact.has_code, false) or excluded.has_code,
        creator = coalesce(account_fact.creator, excluded.creator),
        first_funder = coalesce(account_fact.first_funder, excluded.first_funder),
        existed_block = least(account_fact.existed_block, excluded.existed_block),
        existed_at = least(account_fact.existed_at, excluded.existed_at),
        source = excluded.source, read_block = excluded.read_block
        where (excluded.has_code and account_fact.has_code is not true)
          or (excluded.creator is not null and account_fact.creator is null)
          or (excluded.first_funder is not null and account_fact.first_funder is null)
          or coalesce(excluded.existed_block < account_fact.existed_block,
            excluded.existed_block is not null and account_fact.existed_block is null)`,
    });
    await takeOffPending(tx, chainId, known);
    await putOffPending(tx, chainId, { unknown: [...unknown], now });
    return count;
  });
}

/** Facts of an account from a source; null if the source does not know. */
export type SourcedFacts = {
  readonly kind: "facts";
  /** Who created the contract. */
  readonly creator: Address | null;
  /** Who first sent it value. */
  readonly firstFunder: Address | null;
  /** By when it had code, or had sent a transaction. */
  readonly existed: FirstSeen | null;
};

/** A source of immutable facts about accounts, outside our index. */
export type AccountFactSource = {
  readonly name: string;
  readonly read: (
    account: {
      readonly address: Address;
      /** At the block, which is final. */
      readonly hasCode: boolean;
      readonly block: number;
    },
    signal: AbortSignal,
  ) => Promise<SourcedFacts | HistoryFailure>;
};
