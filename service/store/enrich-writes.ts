import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import type { Database } from "./database.ts";
import type { EnrichCursor } from "./enrich-reads.ts";
import {
  enrichApproval,
  enrichBlock,
  enrichCall,
  enrichCursor,
  enrichTransfer,
  enrichUserOperation,
  enrichWallet,
} from "./tables/enrich.ts";

/** Everything that one range says, by table. */
export type EnrichRows = {
  readonly calls: readonly (typeof enrichCall.$inferInsert)[];
  readonly blocks: readonly (typeof enrichBlock.$inferInsert)[];
  readonly transfers: readonly (typeof enrichTransfer.$inferInsert)[];
  readonly approvals: readonly (typeof enrichApproval.$inferInsert)[];
  readonly userOperations: readonly (typeof enrichUserOperation.$inferInsert)[];
};

/** Rows written, by what they are; a row that was there already is not counted. */
type RowCounts = { readonly [Kind in keyof EnrichRows]: number };

/** What a range finishes: a stretch of the chain for every wallet, or of the past of some. */
export type Advance =
  | {
      readonly of: "chain";
      readonly previous: EnrichCursor | null;
      readonly cursor: EnrichCursor;
      /** Wallets that began to be followed within the range. */
      readonly joined: readonly { readonly wallet: Address; readonly fromBlock: number }[];
    }
  | { readonly of: "past"; readonly from: number; readonly to: number; readonly wallets: readonly Address[] };

export type Commit = {
  readonly chainId: number;
  /** Generation of the chain's mark under which the range was read. */
  readonly generation: string;
  readonly rows: EnrichRows;
  readonly advance: Advance;
};

/** outdated: the chain's data was cleared, or another process moved the cursor, since the range was read; nothing is stored. */
export type CommitResult = { readonly stored: true; readonly rows: RowCounts } | { readonly stored: false };

/** Rows of one statement; PostgreSQL takes 65,535 parameters. */
const CHUNK = 1_000;

/** Stores a range and what it finishes in one transaction; storing the same range again adds nothing. */
export async function commitEnriched(db: Database, commit: Commit): Promise<CommitResult> {
  const { chainId, advance, rows } = commit;
  return db.transaction(async (tx): Promise<CommitResult> => {
    if (!(await holdsGeneration(tx, chainId, commit.generation))) return { stored: false };
    if (advance.of === "chain" && !(await isAt(tx, chainId, advance.previous))) return { stored: false };
    const counts = {
      calls: await insertNew(tx, enrichCall, rows.calls),
      blocks: await insertNew(tx, enrichBlock, rows.blocks),
      transfers: await insertNew(tx, enrichTransfer, rows.transfers),
      approvals: await insertNew(tx, enrichApproval, rows.approvals),
      userOperations: await insertNew(tx, enrichUserOperation, rows.userOperations),
    };
    await moveOn(tx, chainId, advance);
    return { stored: true, rows: counts };
  });
}

/**
 * Opens the past of every wallet that the index follows from a block behind the cursor and that was not read for since
 * then, and forgets wallets that the index no longer follows. Does nothing while the chain's data is being replaced, or
 * while a new build of the index has not come as far as the cursor.
 */
export async function openMissedPasts(
  db: Database,
  at: {
    readonly chainId: number;
    readonly schema: string;
    readonly generation: string;
    /** Newest finalized block of the index. */
    readonly finalizedBlock: number;
  },
): Promise<void> {
  const { chainId, generation, finalizedBlock } = at;
  const followed = sql`${sql.identifier(at.schema)}.wallet`;
  await db.transaction(async (tx) => {
    if (!(await holdsGeneration(tx, chainId, generation))) return;
    await tx.execute(sql`
      delete from ahs.enrich_wallet e using ahs.enrich_cursor c
      where e.chain_id = ${chainId} and c.chain_id = ${chainId} and c.block <= ${finalizedBlock}
        and not exists (select from ${followed} w where w.address = e.wallet and w.followed_block <= c.block)`);
    await tx.execute(sql`
      insert into ahs.enrich_wallet as held (chain_id, wallet, from_block, past_next, past_until)
      select ${chainId}::integer, w.address, w.followed_block, w.followed_block, c.block
      from ${followed} w
      join ahs.enrich_cursor c
        on c.chain_id = ${chainId} and c.block <= ${finalizedBlock} and w.followed_block <= c.block
      left join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = w.address
      where e.wallet is null or e.from_block > w.followed_block
      on conflict (chain_id, wallet) do update set
        past_until = coalesce(held.past_until, held.from_block - 1),
        from_block = excluded.from_block, past_next = excluded.past_next`);
  });
}

/** Locks the chain's mark, so that clearing the chain's data comes wholly before or wholly after. */
async function holdsGeneration(tx: NodePgDatabase, chainId: number, generation: string): Promise<boolean> {
  const { rows } = await tx.execute<{ generation: string }>(
    sql`select generation from ahs.chain_mark where chain_id = ${chainId} for key share`,
  );
  return rows[0]?.generation === generation;
}

async function isAt(tx: NodePgDatabase, chainId: number, expected: EnrichCursor | null): Promise<boolean> {
  const { rows } = await tx.execute<{ block: number; hash: string }>(
    sql`select block::float8 as block, block_hash as hash from ahs.enrich_cursor where chain_id = ${chainId} for update`,
  );
  return rows[0]?.block === expected?.block && rows[0]?.hash === expected?.hash;
}

async function insertNew<Table extends PgTable>(
  tx: NodePgDatabase,
  table: Table,
  rows: readonly Table["$inferInsert"][],
): Promise<number> {
  let inserted = 0;
  for (let start = 0; start < rows.length; start += CHUNK) {
    const chunk = rows.slice(start, start + CHUNK);
    const { rowCount } = await tx.insert(table).values(chunk).onConflictDoNothing();
    inserted += rowCount ?? 0;
  }
  return inserted;
}

async function moveOn(tx: NodePgDatabase, chainId: number, advance: Advance): Promise<void> {
  if (advance.of === "past") {
    const { from, to, wallets } = advance;
    await tx.execute(sql`
      update ahs.enrich_wallet set
        past_next = case when past_until > ${to} then ${to + 1}::bigint end,
        past_until = case when past_until > ${to} then past_until end
      where chain_id = ${chainId} and wallet = any(${sql.param(wallets)}::text[]) and past_next between ${from} and ${to}`);
    return;
  }
  const { cursor, joined } = advance;
  const place = { block: cursor.block, blockHash: cursor.hash };
  await tx
    .insert(enrichCursor)
    .values({ chainId, ...place })
    .onConflictDoUpdate({ target: enrichCursor.chainId, set: place });
  await insertNew(
    tx,
    enrichWallet,
    joined.map((wallet) => ({ chainId, ...wallet })),
  );
}
