import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { insertRows } from "../../db/insert-rows.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { holdsGeneration } from "../enrich/enrich-writes.ts";
import type { BlockRange } from "../history/batch-source.ts";

/** A followed wallet of which the time before the index is not read to its end. */
export type WarmWallet = {
  /** Lower-case. */
  readonly wallet: Address;
  /** First block in which the index follows it. */
  readonly followedBlock: number;
  /** Transactions that it had sent before what is read of it; null where that is not known. */
  readonly fromNonce: number | null;
};

/** Wallets that are warmed together, since the same blocks are missing of each. */
export type WarmGroup = {
  readonly wallets: readonly WarmWallet[];
  /** From this block on everything is read of them; null before the first slice. */
  readonly coveredFrom: number | null;
};

type Chain = { readonly chainId: number; readonly schema: string };

/**
 * Marks followed wallets as open that nothing before the index is known of: those that were followed without a batch source. None
 * where the index begins with the chain. Returns how many.
 */
export async function openWallets(db: Database, { chainId, schema }: Chain): Promise<number> {
  const { rowCount } = await db.execute(sql`
    update ahs.enrich_wallet e set warm_open = true
    where e.chain_id = ${chainId} and not e.warm_open
      and (select min(number) from ${sql.identifier(schema)}.block) > 1
      and not exists (select from ahs.kept_history k where k.chain_id = e.chain_id and k.wallet = e.wallet)`);
  return rowCount ?? 0;
}

/**
 * The wallets to read next: a group that was begun before others, then those with a running subscription, then the newest. Those in
 * quarantine wait. Null where none is open.
 */
export async function readWarmGroup(
  db: Database,
  { chainId, schema, most, now }: Chain & { readonly most: number; readonly now: Date },
): Promise<WarmGroup | null> {
  const { rows } = await db.execute<WarmWallet & { covered: number | null }>(sql`
    with open as (
      select e.wallet, w.followed_block, k.from_block as covered, k.from_nonce, exists (
        select from ahs.alert_subscription s
        where s.chain_id = ${chainId} and s.wallet = e.wallet and s.ended_at is null and s.expires_at > ${now}
      ) as watched
      from ahs.enrich_wallet e
      join ${sql.identifier(schema)}.wallet w on w.address = e.wallet
      left join ahs.kept_history k on k.chain_id = e.chain_id and k.wallet = e.wallet
      where e.chain_id = ${chainId} and e.warm_open and not exists (
        select from ahs.quarantine q
        where q.chain_id = ${chainId} and q.kind = 'warm' and q.subject = e.wallet and q.next_try_at > ${now})
    ), first as (
      select covered from open order by covered is null, watched desc, followed_block desc, wallet limit 1
    )
    select wallet, followed_block::float8 as "followedBlock", open.covered::float8 as covered, from_nonce::float8 as "fromNonce"
    from open join first on open.covered is not distinct from first.covered
    order by watched desc, followed_block desc, wallet limit ${most}`);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    coveredFrom: first.covered,
    wallets: rows.map(({ wallet, followedBlock, fromNonce }) => ({ wallet, followedBlock, fromNonce })),
  };
}

/** Numbers of wallets: those of which the past is open, and all that are followed. */
export async function countOpen(db: Pick<Database, "execute">, chainId: number) {
  const { rows } = await db.execute<{ open: number; followed: number }>(sql`
    select count(*) filter (where warm_open)::int as open, count(*)::int as followed
    from ahs.enrich_wallet where chain_id = ${chainId}`);
  return rows[0] ?? { open: 0, followed: 0 };
}

/** Days that are read before the block in which the index began to follow a wallet: those of the scoring window. */
export const WINDOW_DAYS = 180;

/** Newest own calls of a wallet with which its past is read far enough: a record is made of fewer. */
export const ENOUGH_CALLS = 20_000;

/** A wallet of a slice that was read. */
export type Covered = WarmWallet & {
  /** Hash of the block in which the index began to follow it. */
  readonly followedHash: Hex;
};

/**
 * Notes that everything is read of the wallets from the slice's first block on; one with enough calls needs no more. False, and
 * nothing noted, if the chain's data was cleared meanwhile.
 */
export async function noteSlice(
  db: Database,
  slice: Pick<Chain, "chainId"> & {
    readonly generation: string;
    readonly source: string;
    readonly range: BlockRange;
    /** Unix seconds of its first block. */
    readonly fromTimestamp: number;
    /** Whether no older slice is wanted. */
    readonly isLast: boolean;
    readonly wallets: readonly Covered[];
    readonly now: Date;
  },
): Promise<boolean> {
  const { chainId, generation, wallets, isLast } = slice;
  return db.transaction(async (tx) => {
    if (!(await holdsGeneration(tx, chainId, generation))) return false;
    const calls = await readCallFacts(tx, { chainId, wallets, fromBlock: slice.range.from });
    const isFull = ({ wallet }: Covered) => calls.get(wallet)?.isFull === true;
    // Of a wallet that had sent nothing before, no own call is missing at all.
    const isWhole = (one: Covered) => isLast && one.fromNonce === 0;
    await insertRows(tx, {
      table: "kept_history",
      rows: wallets.map((one) => ({
        chainId,
        wallet: one.wallet,
        source: slice.source,
        fromBlock: isWhole(one) ? 0 : slice.range.from,
        fromTimestamp: isWhole(one) ? 0 : slice.fromTimestamp,
        toBlock: one.followedBlock,
        toHash: one.followedHash,
        complete: isWhole(one) || isPastWindow(calls.get(one.wallet), slice.fromTimestamp),
        fromNonce: one.fromNonce,
        readAt: slice.now,
      })),
      end: sql`on conflict (chain_id, wallet) do update set
        from_block = excluded.from_block, from_timestamp = excluded.from_timestamp, complete = excluded.complete,
        from_nonce = excluded.from_nonce, read_at = excluded.read_at`,
    });
    const done = wallets.filter((one) => isLast || isFull(one)).map(({ wallet }) => wallet);
    await tx.execute(sql`
      update ahs.enrich_wallet set warm_open = false
      where chain_id = ${chainId} and wallet = any(${sql.param(done)}::text[])`);
    return true;
  });
}

/** Notes that nothing more is to be read of the wallets. */
export async function closeWallets(db: Database, chainId: number, wallets: readonly WarmWallet[]) {
  const closed = sql.param(wallets.map(({ wallet }) => wallet));
  await db.execute(sql`
    update ahs.enrich_wallet set warm_open = false where chain_id = ${chainId} and wallet = any(${closed}::text[])`);
}

/** Own calls of a wallet as they are stored. */
type CallFacts = {
  /** Unix seconds. */
  readonly lastCallAt: number | null;
  readonly isFull: boolean;
};

/** Whether the scoring window, which ends with the last call, begins no sooner than what is read. */
function isPastWindow(calls: CallFacts | undefined, fromTimestamp: number): boolean {
  const lastCallAt = calls?.lastCallAt ?? null;
  return lastCallAt !== null && lastCallAt - WINDOW_DAYS * SECONDS_PER_DAY >= fromTimestamp;
}

/** Of the calls from a block on: a slice that was broken off leaves older ones. */
async function readCallFacts(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly WarmWallet[]; readonly fromBlock: number },
) {
  const { chainId, wallets, fromBlock } = of;
  const asked = sql.param(wallets.map(({ wallet }) => wallet));
  const { rows } = await tx.execute<CallFacts & { wallet: Address }>(sql`
    select asked.wallet, newest.calls = ${ENOUGH_CALLS} as "isFull", newest.last::float8 as "lastCallAt"
    from unnest(${asked}::text[]) as asked (wallet)
    cross join lateral (
      select count(*) as calls, max(timestamp) as last from (
        select timestamp from ahs.own_call o
        where o.chain_id = ${chainId} and o.wallet = asked.wallet and o.block >= ${fromBlock}
        order by block desc, transaction_index desc, position desc limit ${ENOUGH_CALLS}
      ) newest
    ) newest`);
  return new Map(rows.map(({ wallet, ...facts }) => [wallet, facts]));
}

/** Of the wallets' own transactions that the index holds after the block in which it began to follow each, the lowest nonce. */
export async function readFirstNonces(db: Database, { schema }: Chain, wallets: readonly WarmWallet[]) {
  const asked = sql.param(wallets.map(({ wallet }) => wallet));
  const since = sql.param(wallets.map(({ followedBlock }) => followedBlock));
  const { rows } = await db.execute<{ wallet: Address; nonce: number }>(sql`
    select asked.wallet, first.nonce::float8 as nonce
    from unnest(${asked}::text[], ${since}::bigint[]) as asked (wallet, since)
    cross join lateral (
      select nonce from ${sql.identifier(schema)}.transaction
      where "from" = asked.wallet and own and block > asked.since order by block, transaction_index limit 1
    ) first`);
  return new Map(rows.map(({ wallet, nonce }) => [wallet, nonce]));
}
