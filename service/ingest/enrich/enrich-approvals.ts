import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { ClientBase } from "pg";
import type { Address } from "viem";
import { NUMERIC_AS_BIGINT, QUERY_DEADLINE } from "../../db/database.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { enrichApproval } from "../../db/tables/enrich.ts";

type ApprovalRow = typeof enrichApproval.$inferInsert;

/** Most approvals of a wallet, the newest ones: far more than a person or an agent manages. */
export const MAX_APPROVALS = 2_000;

/**
 * Stores approvals that owners gave themselves, and others' logs about those; any contract can log the rest. While the past of a
 * wallet is still read, some of them wait for it. Returns the rows written, and how many were left out for their number.
 */
export async function storeApprovals(
  tx: NodePgDatabase,
  chainId: number,
  approvals: {
    /** In the order of the chain. */
    readonly rows: readonly ApprovalRow[];
    /** Wallets whose past was read. */
    readonly pastOf: readonly Address[];
  },
) {
  const newest = [...new Map(approvals.rows.map((row) => [keyOf(row), row])).values()];
  const given = newest.filter(({ own }) => own);
  const news = newest.filter(({ own }) => !own);
  const table = "enrich_approval";
  const own = await insertRows(tx, { table, rows: given, end: REPLACE_OLDER });
  const where = sql`exists (${ownBefore(sql`new`)})`;
  const tied = await insertRows<{ owner: Address }>(tx, {
    table,
    rows: await ofGivenTokens(tx, chainId, news),
    where,
    end: sql`${REPLACE_OLDER} returning owner`,
  });
  const untied = newestOfEach(news, await readOpenPasts(tx, chainId, news));
  const others = await insertRows(tx, { table, rows: untied, end: REPLACE_OLDER });
  const touched = [...given, ...tied.returned, ...untied].map(({ owner }) => owner);
  const leftOut = await dropBeyond(tx, chainId, [...new Set([...touched, ...approvals.pastOf])]);
  return { count: own.count + tied.count + others.count, leftOut };
}

/** The rows of tokens for which their owners gave an approval. Leaves out forged logs, which come by the thousand, at little cost. */
async function ofGivenTokens(tx: NodePgDatabase, chainId: number, rows: readonly ApprovalRow[]) {
  const pairs = [...new Map(rows.map((row) => [pairOf(row), row])).values()];
  const owners = sql.param(pairs.map(({ owner }) => owner));
  const tokens = sql.param(pairs.map(({ token }) => token));
  const { rows: given } = await tx.execute<{ owner: string; token: string }>(sql`
    select of.owner, of.token from unnest(${owners}::text[], ${tokens}::text[]) as of (owner, token)
    where exists (
      select from ahs.enrich_approval a
      where a.chain_id = ${chainId} and a.owner = of.owner and a.token = of.token and a.own)`);
  const found = new Set(given.map(pairOf));
  return rows.filter((row) => found.has(pairOf(row)));
}

function pairOf({ owner, token }: { readonly owner: string; readonly token: string }): string {
  return `${owner} ${token}`;
}

async function readOpenPasts(tx: NodePgDatabase, chainId: number, news: readonly ApprovalRow[]) {
  const owners = sql.param([...new Set(news.map(({ owner }) => owner))]);
  const { rows } = await tx.execute<{ wallet: string }>(sql`
    select wallet from ahs.enrich_wallet
    where chain_id = ${chainId} and (past_next is not null or warm_open) and wallet = any(${owners}::text[])`);
  return new Set(rows.map(({ wallet }) => wallet));
}

/** Rows of those owners, of each the last that are kept. */
function newestOfEach(rows: readonly ApprovalRow[], owners: ReadonlySet<string>): readonly ApprovalRow[] {
  const byOwner = Map.groupBy(
    rows.filter(({ owner }) => owners.has(owner)),
    ({ owner }) => owner,
  );
  return [...byOwner.values()].flatMap((of) => of.toSorted(byPlace).slice(-MAX_APPROVALS));
}

function byPlace(a: ApprovalRow, b: ApprovalRow): number {
  return a.block - b.block || a.logIndex - b.logIndex;
}

function keyOf({ owner, token, kind, subject, own }: ApprovalRow): string {
  return [owner, token, kind, subject, own].join(" ");
}

const REPLACE_OLDER = sql`
  on conflict (chain_id, owner, token, kind, subject, own) do update set
    block = excluded.block, log_index = excluded.log_index, transaction_hash = excluded.transaction_hash,
    timestamp = excluded.timestamp, spender = excluded.spender, amount = excluded.amount,
    token_id = excluded.token_id, approved = excluded.approved
  where (enrich_approval.block, enrich_approval.log_index) < (excluded.block, excluded.log_index)`;

const ownBefore = (news: SQL) => sql`
  select from ahs.enrich_approval given
  where given.own and (given.chain_id, given.owner, given.token, given.kind, given.subject)
    = (${news}.chain_id, ${news}.owner, ${news}.token, ${news}.kind, ${news}.subject)
    and (given.block, given.log_index) < (${news}.block, ${news}.log_index)`;

/** Owners of one statement: each has at most some thousand rows. */
const OWNERS = 500;

async function dropBeyond(tx: NodePgDatabase, chainId: number, owners: readonly Address[]): Promise<number> {
  let leftOut = 0;
  for (let start = 0; start < owners.length; start += OWNERS) {
    const some = sql.param(owners.slice(start, start + OWNERS));
    const of = sql`a.chain_id = ${chainId} and a.owner = any(${some}::text[])`;
    // Materialized: the planner would look for the oldest that is kept anew for each row.
    const oldest = (own: boolean) => sql`
      with last as materialized (
        select wallet, kept.block, kept.log_index from unnest(${some}::text[]) as wallet
        cross join lateral (
          select block, log_index from ahs.enrich_approval
          where chain_id = ${chainId} and owner = wallet and own = ${own}
          order by block desc, log_index desc offset ${MAX_APPROVALS - 1} limit 1
        ) kept
      )
      delete from ahs.enrich_approval a using last
      where ${of} and a.owner = last.wallet and a.own = ${own} and (a.block, a.log_index) < (last.block, last.log_index)`;
    leftOut += (await tx.execute(oldest(true))).rowCount ?? 0;
    await tx.execute(sql`
      delete from ahs.enrich_approval a
      where ${of} and not a.own and not exists (${ownBefore(sql`a`)}) and not exists (
        select from ahs.enrich_wallet w
        where w.chain_id = a.chain_id and w.wallet = a.owner and (w.past_next is not null or w.warm_open))`);
    leftOut += (await tx.execute(oldest(false))).rowCount ?? 0;
  }
  return leftOut;
}

/**
 * Approvals of the wallets in force, by owner, token and spender, with what is left and where the owner last gave them. One
 * counts that the owner gave by an own call; others' logs only lower it, as a token logs what a spender drew. Amounts spent
 * without a log, and an ERC-721 token that moved on, are not subtracted.
 */
export async function readLiveApprovals(
  client: ClientBase,
  query: { readonly chainId: number; readonly wallets: readonly Address[] },
) {
  type Unread = "chainId" | "subject" | "own" | "logIndex" | "approved";
  const { rows } = await client.query<Omit<typeof enrichApproval.$inferSelect, Unread>>({
    ...QUERY_DEADLINE,
    ...NUMERIC_AS_BIGINT,
    name: "live-approvals",
    text: APPROVALS,
    values: [query.chainId, query.wallets],
  });
  return rows;
}

/** $1 chain, $2 wallets. Of an ERC-721 token one spender replaces the other. */
const APPROVALS = `
  select given.owner, given.token, given.spender, given.kind,
    least(given.amount, news.amount) as amount, given.token_id as "tokenId",
    given.block::float8 as block, given.timestamp::float8 as timestamp, given.transaction_hash as "transactionHash"
  from ahs.enrich_approval given left join ahs.enrich_approval news
    on not news.own and (news.chain_id, news.owner, news.token, news.kind, news.subject)
      = (given.chain_id, given.owner, given.token, given.kind, given.subject)
      and (news.block, news.log_index) > (given.block, given.log_index)
  where given.chain_id = $1 and given.owner = any($2::text[]) and given.own and given.approved
    and (news.owner is null or (news.approved and news.spender = given.spender))
  order by given.owner collate "C", given.token collate "C", given.kind collate "C", given.subject collate "C"`;
