import type { Address } from "viem";
import type { Database } from "../db/database.ts";
export type DueQuery = {
  readonly chainId: number;
  readonly asOfBlock: number;
  /** Unix seconds of the as-of block. */
  readonly asOfTime: number;
  /** Least seconds of chain time between two scores of one wallet. */
  readonly intervalSeconds: number;
};

/** Counterparties of a wallet that are checked for facts; all wallets wait for this statement. */
const MOST_CONTACTS = 5_000;

/** waiting: those of which some counterparties have no facts yet. */
type DueWallets = { readonly ready: readonly Address[]; readonly waiting: readonly Address[] };

/**
 * Wallets to score again, those first whose score, or following without one, is oldest: followed ones without a score; those
 * with an own call since theirs, which is old enough to be renewed; and those whose confidence has fallen a level meanwhile.
 * One whose past is still to be enriched is left out.
 */
export async function readDueWallets(db: Database, due: DueQuery): Promise<DueWallets> {
  const { rows } = await db.$client.query<{ wallet: Address; waits: boolean }>(
    `with candidate as (
       select w.address as wallet, coalesce(c.as_of_block, w.followed_block) as since
       from "chain_${due.chainId}".wallet w
       join ahs.enrich_wallet e on e.chain_id = $1 and e.wallet = w.address
         and e.past_next is null and e.from_block <= w.followed_block
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
       where w.followed_block <= $2
         and (c.wallet is null or (c.as_of_block < $2
              and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8
              and exists (select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address
                and o.block > c.as_of_block and o.block <= $2)))
       union
       select c.wallet, c.as_of_block from ahs.current_score c
       where c.chain_id = $1 and c.as_of_block < $2 and c.level_until <= to_timestamp($3::float8)
         and not exists (select from ahs.unfollowed u where u.chain_id = $1 and u.address = c.wallet)
     )
     select wallet, exists (
       select from (
         select counterparty from ahs.contact where chain_id = $1 and account = candidate.wallet limit $5) k
       where not exists (select from ahs.account_fact f where f.chain_id = $1 and f.address = k.counterparty)) as waits
     from candidate order by since, wallet`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds, MOST_CONTACTS],
  );
  const walletsOf = (waits: boolean) => rows.filter((row) => row.waits === waits).map((row) => row.wallet);
  return { ready: walletsOf(false), waiting: walletsOf(true) };
}

/** How many accounts of a chain have facts. */
export async function countAccountFacts(db: Database, chainId: number): Promise<number> {
  const { rows } = await db.$client.query<{ known: number }>(
    "select count(*)::float8 as known from ahs.account_fact where chain_id = $1",
    [chainId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return row.known;
}

/**
 * Wallets with a score old enough to be renewed, whose rows up to its block have changed since: facts of the wallet or of a
 * counterparty were read at that block or later, a source told of its past after the score was stored, or its past, still
 * to be enriched then, is enriched now: of such a wallet no approvals were frozen. The oldest score comes first.
 */
export async function readOvertakenWallets(db: Database, due: DueQuery): Promise<Address[]> {
  const { rows } = await db.$client.query<{ wallet: Address }>(
    `with held as (
       select c.wallet, c.as_of_block, s.created_at, s.inputs_hash, s.coverage ->> 'complete' = 'true' as complete
       from ahs.current_score c join ahs.score s on s.id = c.score_id
       where c.chain_id = $1 and c.as_of_block < $2 and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8
     ), learnt as (
       select address, read_block from ahs.account_fact
       where chain_id = $1 and read_block >= (select min(as_of_block) from held)
     )
     select h.wallet, h.as_of_block from held h join learnt f on f.address = h.wallet and f.read_block >= h.as_of_block
     union
     select h.wallet, h.as_of_block from learnt f
     join ahs.contact k on k.chain_id = $1 and k.counterparty = f.address
     join held h on h.wallet = k.account and f.read_block >= h.as_of_block
     union
     select h.wallet, h.as_of_block from held h
     join ahs.kept_history p on p.chain_id = $1 and p.wallet = h.wallet and p.read_at > h.created_at
     union
     select h.wallet, h.as_of_block from held h
     join "chain_${due.chainId}".wallet w on w.address = h.wallet and w.followed_block <= $2
     join ahs.enrich_wallet e on e.chain_id = $1 and e.wallet = w.address
       and e.past_next is null and e.from_block <= w.followed_block
     join ahs.input_file inputs on inputs.hash = h.inputs_hash
     join ahs.input_file frozen on frozen.hash = inputs.content ->> 'counterparty_file'
     where not h.complete and frozen.content -> 'approvals' = 'null'::jsonb
     order by as_of_block, wallet`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds],
  );
  return rows.map((row) => row.wallet);
}

/** Wallets whose current score is of a block that a reorg took out of the chain. */
export async function readOrphanedWallets(
  db: Database,
  chainId: number,
  finalizedBlock: number,
): Promise<Address[]> {
  const { rows } = await db.$client.query<{ wallet: Address }>(
    `select c.wallet from ahs.current_score c
     join ahs.score s on s.id = c.score_id
     join "chain_${chainId}".block b on b.number = c.as_of_block and b.hash <> s.as_of_hash
     where c.chain_id = $1 and c.as_of_block > $2`,
    [chainId, finalizedBlock],
  );
  return rows.map((row) => row.wallet);
}

type NightlyWallets = {
  readonly wallets: readonly Address[];
  /** Idle wallets beyond the bound. */
  readonly leftOut: number;
};

/**
 * Followed wallets that a night scores again, those first whose score is oldest. Of idle ones, which have too little history for
 * a score and made no call since they were scored, there are at most so many: anyone can register any number of them.
 */
export async function readNightlyWallets(
  db: Database,
  { chainId, mostIdle }: { readonly chainId: number; readonly mostIdle: number },
): Promise<NightlyWallets> {
  const { rows } = await db.$client.query<{ address: Address; left: boolean }>(
    `with followed as (
       select w.address, c.as_of_block, w.followed_block,
         c.wallet is not null and c.ahs_score is null and not c.sanctioned and not exists (
           select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address and o.block > c.as_of_block) as idle
       from "chain_${chainId}".wallet w
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     )
     select address, idle and row_number() over (partition by idle order by as_of_block, followed_block, address) > $2 as left
     from followed order by as_of_block nulls first, followed_block, address`,
    [chainId, mostIdle],
  );
  const wallets = rows.filter(({ left }) => !left).map(({ address }) => address);
  return { wallets, leftOut: rows.length - wallets.length };
}

/** Every followed wallet, those first whose score is oldest: a run that is cut short goes on there. */
export async function readFollowedWallets(db: Database, chainId: number): Promise<Address[]> {
  const { rows } = await db.$client.query<{ address: Address }>(
    `select w.address from "chain_${chainId}".wallet w
     left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     order by c.as_of_block nulls first, w.followed_block, w.address`,
    [chainId],
  );
  return rows.map((row) => row.address);
}
