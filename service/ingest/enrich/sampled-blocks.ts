import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { SamplingRule } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import { insertRows } from "../../db/insert-rows.ts";
import { dealingsOfSample, sumDealings } from "./contacts.ts";
import { holdsGeneration, lockEnrichment } from "./enrich-writes.ts";
import { type SampledBlock, type Tips, tipOf } from "./sampling.ts";
import { sampleOf, samplesEndingIn, stretchStart } from "./stretches.ts";

/** Reads blocks whole, each once, from a node or from a batch source; all of them in any order, or it throws. */
export type ReadBlocks = (numbers: readonly number[]) => Promise<readonly SampledBlock[]>;

type Wanted = {
  readonly chainId: number;
  readonly rule: SamplingRule;
  /** Of this range every sample that ends in it; null for none. */
  readonly samplesOf: { readonly from: number; readonly to: number } | null;
  /** Of the stretches of these blocks the tip. */
  readonly tipsOf: readonly number[];
};

/** Finds what is stored. `unread` are the blocks to read: whole samples, and the first blocks of stretches without a known tip. */
export async function planSampled(
  db: Pick<NodePgDatabase, "execute">,
  { chainId, rule, samplesOf, tipsOf }: Wanted,
): Promise<{ readonly unread: readonly number[]; readonly tips: Tips }> {
  const starts = [...new Set(tipsOf.map((block) => stretchStart(rule, block)))];
  const samples = (samplesOf === null ? [] : samplesEndingIn(rule, samplesOf)).map((start) => ({
    blocks: sampleOf(rule, start),
    last: start + rule.blocks - 1,
  }));
  const asked = sql.param([...starts, ...samples.map(({ last }) => last)]);
  const { rows } = await db.execute<{ block: number; tip: string | null }>(sql`
    select block::float8 as block, median_tip_wei::text as tip from ahs.enrich_block
    where chain_id = ${chainId} and block = any(${asked}::bigint[])`);
  const stored = new Map(rows.map(({ block, tip }) => [block, tip === null ? null : BigInt(tip)]));
  const missing = samples.filter(({ last }) => !stored.has(last)).flatMap(({ blocks }) => blocks);
  const unstored = starts.filter((start) => !stored.has(start));
  return {
    unread: [...new Set([...missing, ...unstored])],
    tips: new Map(starts.flatMap((start) => (stored.has(start) ? [[start, stored.get(start) ?? null]] : []))),
  };
}

/** The tips that are stored, and those of blocks that were read. */
export function withRead(tips: Tips, blocks: readonly SampledBlock[]): Tips {
  return new Map([...tips, ...blocks.map((block) => [block.number, tipOf(block)] as const)]);
}

/**
 * Stores blocks, and the users of samples that are among them whole. The row of a sample's last block notes that its users are counted,
 * so storing it again adds nothing. Returns the rows written.
 */
export async function storeSampled(
  tx: NodePgDatabase,
  { chainId, rule }: { readonly chainId: number; readonly rule: SamplingRule },
  blocks: readonly SampledBlock[],
): Promise<{ readonly blocks: number; readonly sampledContacts: number }> {
  const { returned } = await insertRows<{ block: number }>(tx, {
    table: "enrich_block",
    rows: blocks.map((block) => blockRow(chainId, block)),
    end: sql`on conflict do nothing returning block::float8 as block`,
  });
  const added = new Set(returned.map(({ block }) => block));
  const byStretch = Map.groupBy(blocks, ({ number }) => stretchStart(rule, number));
  const dealings = [...byStretch].flatMap(([start, sample]) => {
    const isWhole = sample.length === rule.blocks;
    return isWhole && added.has(start + rule.blocks - 1) ? dealingsOfSample(sample) : [];
  });
  const { count } = await insertRows(tx, {
    table: "sampled_contact",
    rows: sumDealings(dealings).map(({ sentMicroUsd: _, ...sum }) => ({ chainId, ...sum })),
    end: sql`on conflict (chain_id, counterparty, account) do update set
      calls = sampled_contact.calls + excluded.calls,
      first_block = least(sampled_contact.first_block, excluded.first_block),
      first_time = least(sampled_contact.first_time, excluded.first_time),
      last_block = greatest(sampled_contact.last_block, excluded.last_block),
      last_time = greatest(sampled_contact.last_time, excluded.last_time)`,
  });
  return { blocks: added.size, sampledContacts: count };
}

function blockRow(chainId: number, block: SampledBlock) {
  const { number, hash, timestamp, baseFeeWei, gasPrices, source } = block;
  const transactions = gasPrices === null ? null : gasPrices.length;
  return {
    chainId,
    block: number,
    hash,
    timestamp,
    baseFeeWei,
    medianTipWei: tipOf(block),
    transactions,
    source,
  };
}

/**
 * Reads what is missing of sampled blocks from another source, and stores it apart from any range. Returns the tips, or null, with
 * nothing stored, if the chain's data was cleared meanwhile. Throws what the source throws.
 */
export async function fillSampled(
  db: Database,
  { generation, ...wanted }: Wanted & { readonly generation: string },
  readBlocks: ReadBlocks,
): Promise<Tips | null> {
  const { unread, tips } = await planSampled(db, wanted);
  const blocks = unread.length === 0 ? [] : await readBlocks(unread);
  return db.transaction(async (tx) => {
    await lockEnrichment(tx, wanted.chainId);
    if (!(await holdsGeneration(tx, wanted.chainId, generation))) return null;
    await storeSampled(tx, wanted, blocks);
    return withRead(tips, blocks);
  });
}

/** Rows of one statement, so that none runs into its time limit. */
const BATCH = 5_000;
/** The scoring window of 180 days, and as much as records of the past may be behind the chain. */
const STORED_SECONDS = 200 * 86_400;

/** Deletes a batch of users that no score counts any more as of `now` (Unix seconds of chain time). Returns their number, and whether more are due. */
export async function dropSampledContacts(db: Database, chainId: number, now: number) {
  const { rowCount } = await db.execute(sql`
    delete from ahs.sampled_contact where (chain_id, counterparty, account) in (
      select chain_id, counterparty, account from ahs.sampled_contact
      where chain_id = ${chainId} and last_time < ${now - STORED_SECONDS} order by last_time limit ${BATCH})`);
  const dropped = rowCount ?? 0;
  return { dropped, more: dropped === BATCH };
}
