import { eq, getTableColumns, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, toFunctionSelector } from "viem";
import { readState, type StateBlock } from "../../chain/node/chain-reader.ts";
import {
  ANSWER_UPDATED,
  addressOf,
  type RawLog,
  topicWord,
  uintOf,
  wordsOf,
} from "../../chain/node/rpc-answers.ts";
import type { Database } from "../../db/database.ts";
import { feedPrice } from "../../db/tables/enrich.ts";
import { dayOf } from "../../model/features/time.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { EnrichContext, KnownFeed, PricedToken } from "./context.ts";
import { type LogFacts, timeOf } from "./log-rows.ts";
import { inOrder, requireWithin } from "./read-logs.ts";

/** Its end is in Unix seconds of the last block. */
type FeedRange = { readonly from: number; readonly to: number; readonly endTime: number };

/** latestRoundData gives the round, its answer, when it began and was updated, and the round of the answer. */
const RETURNED_WORDS = { aggregator: 1, decimals: 1, latestRoundData: 5 };
const [ANSWER_WORD, UPDATED_WORD] = [1, 3];
/** A proxy's aggregator is replaced every few months. */
const REFRESH_SECONDS = 86_400;
const MOST_DECIMALS = 36n;
const SIGN_BIT = 1n << 255n;

/** The logs by which the market's feeds answered within the range; throws a NodeFailure when the node does not give them. */
export async function readAnswers(context: EnrichContext, range: FeedRange): Promise<readonly RawLog[]> {
  const feeds = await knownFeeds(context, range);
  const addresses = [...new Set(feeds.map(({ source }) => source))];
  if (addresses.length === 0) return [];
  const { from, to } = range;
  const logs = await context.client.logs({ from, to, addresses, topics: [[ANSWER_UPDATED]] });
  for (const log of logs) requireWithin(log, range);
  return logs;
}

/** The last answer of each feed on each day of the range; of a feed without any stored, what it answers at the range's end. */
export async function readDailyPrices(
  context: EnrichContext,
  range: FeedRange,
  answers: Pick<LogFacts, "logs" | "blocks">,
): Promise<readonly FeedPriceRow[]> {
  const feeds = await knownFeeds(context, range);
  const rows = feeds.flatMap((feed) => answersOf(feed, answers));
  const stored = await readPricedFeeds(context.db, context.chainId);
  const silent = feeds.filter(({ feed }) => !stored.has(feed) && !rows.some((row) => row.feed === feed));
  const asked = await mapLimited(silent, context.limits.concurrency, (feed) => askFeed(context, feed, range));
  return [...rows, ...asked.filter((row) => row !== null)];
}

/**
 * The last answer of each feed on the UTC day of a block and up to it, by the state of that block; none of a feed that was silent on
 * that day, and none at all from a node that keeps no state so old.
 */
export async function readPricesAt(
  context: EnrichContext,
  { block, timestamp }: { readonly block: number; readonly timestamp: number },
): Promise<readonly FeedPriceRow[]> {
  const range = { from: block, to: block, endTime: timestamp };
  const feeds = await knownFeeds(context, range);
  const rows = await mapLimited(feeds, context.limits.concurrency, async ({ feed, decimals }) => {
    const { answer: round, isOfBlock } = await askRound(context, feed, block);
    return isOfBlock ? priceOf(round, { feed, decimals }, range) : null;
  });
  return rows.filter((row) => row !== null).filter(({ day }) => day === dayOf(timestamp));
}

/** The newest round of a feed as of a block, or of the newest one of a node that keeps no state so old. */
function askRound(context: EnrichContext, feed: Address, block: number) {
  const ask = (at: StateBlock) => askContract(context, feed, { name: "latestRoundData", at });
  return readState(ask, { block, newest: "latest" });
}

async function knownFeeds(context: EnrichContext, range: FeedRange): Promise<readonly KnownFeed[]> {
  const { market, feeds, limits } = context;
  const isDue = (feed: Address) => {
    const known = feeds.get(feed);
    return known === undefined || range.endTime - known.readAt >= REFRESH_SECONDS;
  };
  await mapLimited(market.feeds.filter(isDue), limits.concurrency, async (feed) => {
    const known = await readFeed(context, feed, range.endTime);
    if (known !== null) feeds.set(feed, known);
  });
  return market.feeds.flatMap((feed) => feeds.get(feed) ?? []);
}

/** Null where the address is no feed. */
async function readFeed(context: EnrichContext, feed: Address, readAt: number): Promise<KnownFeed | null> {
  const known = context.feeds.get(feed);
  const decimals = known?.decimals ?? (await readDecimals(context, feed));
  if (decimals === null) {
    const text = "a price feed of the deployment does not answer decimals(): no price by it";
    context.logger.warn({ feed }, text);
    return null;
  }
  const aggregator = await askContract(context, feed, { name: "aggregator", at: "latest" });
  return { feed, source: addressOf(aggregator?.[0]) ?? feed, decimals, readAt };
}

async function readDecimals(context: EnrichContext, feed: Address): Promise<number | null> {
  const answer = await askContract(context, feed, { name: "decimals", at: "latest" });
  const decimals = uintOf(answer?.[0]);
  return decimals === null || decimals > MOST_DECIMALS ? null : Number(decimals);
}

/** Null where the feed has no answer at all. */
async function askFeed(
  context: EnrichContext,
  { feed, decimals }: KnownFeed,
  range: FeedRange,
): Promise<FeedPriceRow | null> {
  const { answer: round } = await askRound(context, feed, range.to);
  return priceOf(round, { feed, decimals }, range);
}

function priceOf(
  round: readonly string[] | null,
  { feed, decimals }: Pick<KnownFeed, "feed" | "decimals">,
  range: FeedRange,
): FeedPriceRow | null {
  const [answer, updatedAt] = [intOf(round?.[ANSWER_WORD]), uintOf(round?.[UPDATED_WORD])];
  if (answer === null || answer <= 0n || updatedAt === null) return null;
  // No answer is of a later day than it is read on.
  const day = dayOf(Number(updatedAt > BigInt(range.endTime) ? range.endTime : updatedAt));
  return { feed, day, block: range.to, answer, decimals };
}

/** Returns the words that a feed's method returns; null if the feed has no such method. */
async function askContract(
  { client }: EnrichContext,
  feed: Address,
  { name, at }: { readonly name: keyof typeof RETURNED_WORDS; readonly at: StateBlock },
): Promise<readonly string[] | null> {
  const data = await client.call(feed, toFunctionSelector(`${name}()`), at);
  const words = data === null ? null : wordsOf(data);
  return words === null || words.length < RETURNED_WORDS[name] ? null : words;
}

function answersOf(
  { feed, source, decimals }: KnownFeed,
  { logs, blocks }: Pick<LogFacts, "logs" | "blocks">,
): readonly FeedPriceRow[] {
  const byDay = new Map<number, FeedPriceRow>();
  for (const log of inOrder(logs)) {
    if (log.address !== source || log.topics[0] !== ANSWER_UPDATED) continue;
    const day = dayOf(timeOf(log, blocks));
    const answer = intOf(topicWord(log.topics[1]));
    if (answer === null || answer <= 0n) continue;
    byDay.set(day, { feed, day, block: log.blockNumber, answer, decimals });
  }
  return [...byDay.values()];
}

/** The int256 in a word. */
function intOf(word: string | null | undefined): bigint | null {
  const value = uintOf(word);
  return value === null || value < SIGN_BIT ? value : value - (SIGN_BIT << 1n);
}

/** Last answer of a feed on a UTC day, in US dollars with `decimals` decimals. */
export type FeedPriceRow = Omit<typeof feedPrice.$inferSelect, "chainId">;

/** Stores what feeds answered, a row for each feed and day; of a day that is there already the answer of the later block stays. */
export async function storeFeedPrices(tx: NodePgDatabase, chainId: number, rows: readonly FeedPriceRow[]) {
  if (rows.length === 0) return 0;
  const { rowCount } = await tx
    .insert(feedPrice)
    .values(rows.map((row) => ({ chainId, ...row })))
    .onConflictDoUpdate({
      target: [feedPrice.chainId, feedPrice.feed, feedPrice.day],
      set: { block: sql`excluded.block`, answer: sql`excluded.answer`, decimals: sql`excluded.decimals` },
      setWhere: sql`${feedPrice.block} < excluded.block`,
    });
  return rowCount ?? 0;
}

/** Every stored price of the chain, by feed and rising day. */
export async function readFeedPrices(tx: NodePgDatabase, chainId: number): Promise<readonly FeedPriceRow[]> {
  const { chainId: chain, ...columns } = getTableColumns(feedPrice);
  return tx
    .select(columns)
    .from(feedPrice)
    .where(eq(chain, chainId))
    .orderBy(sql`${feedPrice.feed} collate "C"`, feedPrice.day);
}

/** Feeds of the chain that have a price of any day. */
async function readPricedFeeds(db: Database, chainId: number): Promise<ReadonlySet<Address>> {
  const rows = await db
    .selectDistinct({ feed: feedPrice.feed })
    .from(feedPrice)
    .where(eq(feedPrice.chainId, chainId));
  return new Set(rows.map(({ feed }) => feed));
}

/** Value of an amount, in the token's smallest unit, at a Unix time, in millionths of a US dollar; null without a price. */
export type ValueOf = (token: PricedToken, amount: bigint, timestamp: number) => bigint | null;

const MICRO_USD = 1_000_000n;

/** Values by the last price of an earlier day, or by the first there is; rounded down. */
export function createPriceBook(rows: readonly FeedPriceRow[]): ValueOf {
  const byFeed = Map.groupBy(
    rows.toSorted((a, b) => a.day - b.day),
    ({ feed }) => feed,
  );
  return ({ decimals, feed }, amount, timestamp) => {
    const prices = byFeed.get(feed) ?? [];
    const price = prices.findLast((row) => row.day < dayOf(timestamp)) ?? prices[0];
    if (price === undefined) return null;
    return (amount * price.answer * MICRO_USD) / 10n ** BigInt(decimals + price.decimals);
  };
}
