import { and, eq, isNotNull, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { columnOf, insertRows } from "../../db/insert-rows.ts";
import {
  type accountFact,
  type enrichApproval,
  enrichCursor,
  type enrichTransfer,
  type enrichUserOperation,
  enrichWallet,
  type ownCall,
  type walletDelegation,
} from "../../db/tables/enrich.ts";
import { chainMark } from "../../db/tables/quarantine.ts";
import { type EnrichCursor, selectCursor } from "./enrich-reads.ts";
import { comparedSums, deleteUnfollowed, type FollowedWallets, insertMissed } from "./enrich-writes.sql.ts";
import { takeOffPending, type WantedFact, wantFacts } from "./pending-facts.ts";

/** Everything that one range says, by table. */
export type EnrichRows = {
  readonly calls: readonly (typeof ownCall.$inferInsert)[];
  readonly transfers: readonly (typeof enrichTransfer.$inferInsert)[];
  readonly approvals: readonly (typeof enrichApproval.$inferInsert)[];
  readonly userOperations: readonly (typeof enrichUserOperation.$inferInsert)[];
  readonly delegations: readonly (typeof walletDelegation.$inferInsert)[];
  /** Contracts that own calls created. */
  readonly creations: readonly (typeof accountFact.$inferInsert)[];
};

/** Progress of a range: it finishes a stretch of the chain for every wallet, or of the past of some. */
export type Advance =
  | {
      readonly of: "chain";
      readonly previous: EnrichCursor | null;
      readonly cursor: EnrichCursor;
      /** Wallets that began to be followed within the range. */
      readonly joined: readonly (typeof enrichWallet.$inferInsert)[];
    }
  | {
      readonly of: "past";
      readonly to: number;
      /** Wallets with the block that their past was to be read from. */
      readonly wallets: ReadonlyMap<Address, number>;
    }
  /** Part of the time before the index; what is done of it is noted apart. */
  | { readonly of: "warm"; readonly wallets: ReadonlyMap<Address, number> };

/** Locks enrichment; true if the generation is unchanged, everything before the range is stored and nothing of it. */
export async function takeRange(
  tx: NodePgDatabase,
  range: { readonly chainId: number; readonly generation: string; readonly advance: Advance },
): Promise<boolean> {
  const { chainId, generation, advance } = range;
  await lockEnrichment(tx, chainId);
  if (!(await holdsGeneration(tx, chainId, generation))) return false;
  if (advance.of === "warm") return true;
  return advance.of === "chain"
    ? isAt(tx, chainId, advance.previous)
    : arePastsAt(tx, chainId, advance.wallets);
}

/** Locks the writes of enrichment until the database transaction ends. */
export async function lockEnrichment(tx: NodePgDatabase, chainId: number): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('ahs-enrich-range'), ${chainId})`);
}

/** Moves the cursor, or the pasts of wallets, to the end of a range. */
export async function advanceTo(tx: NodePgDatabase, chainId: number, advance: Advance): Promise<void> {
  if (advance.of === "warm") return;
  if (advance.of === "past") {
    const { to, wallets } = advance;
    const { pastUntil, wallet } = enrichWallet;
    await tx
      .update(enrichWallet)
      .set({
        pastNext: sql`case when ${pastUntil} > ${to} then ${to + 1}::bigint end`,
        pastUntil: sql`case when ${pastUntil} > ${to} then ${pastUntil} end`,
      })
      .where(and(eq(enrichWallet.chainId, chainId), isOneOf(wallet, [...wallets.keys()])));
    return;
  }
  const { cursor, joined } = advance;
  const place = { block: cursor.block, blockHash: cursor.hash };
  await tx
    .insert(enrichCursor)
    .values({ chainId, ...place })
    .onConflictDoUpdate({ target: enrichCursor.chainId, set: place });
  await insertNew(tx, "enrich_wallet", joined);
}

/** Rows that were not stored before, of the kinds that must be counted once. */
export type NewRows = Pick<EnrichRows, "calls" | "transfers">;

/** Stores the rows of a range except approvals and counts the new ones. A call from a history source gets its receipt. */
export async function storeRows(tx: NodePgDatabase, rows: Omit<EnrichRows, "approvals">) {
  const added: NewRows = {
    calls: await storeCalls(tx, rows.calls),
    transfers: await addRows(tx, rows.transfers, {
      table: "enrich_transfer",
      key: ["block", "logIndex", "item"],
      onConflict: sql`do nothing`,
    }),
  };
  const counts = {
    calls: added.calls.length,
    transfers: added.transfers.length,
    userOperations: await insertNew(tx, "enrich_user_operation", rows.userOperations),
    delegations: await insertNew(tx, "wallet_delegation", rows.delegations),
    creations: await storeCreations(tx, rows.creations),
  };
  return { added, counts };
}

/** Columns of a call that come from its receipt or block; the others are the same from every source. */
const FROM_ENRICHMENT = sql`source = excluded.source, fee_wei = excluded.fee_wei, l1_fee_wei = excluded.l1_fee_wei,
  recipient = excluded.recipient, amount = excluded.amount, market_price_wei = excluded.market_price_wei,
  effect = excluded.effect, logs = excluded.logs, emitters = excluded.emitters, moves = excluded.moves`;

async function storeCalls(tx: NodePgDatabase, rows: EnrichRows["calls"]): Promise<EnrichRows["calls"]> {
  return addRows(tx, rows, {
    table: "own_call",
    key: ["wallet", "block", "transactionIndex", "position"],
    onConflict: sql`(chain_id, wallet, block, transaction_index, position)
      do update set ${FROM_ENRICHMENT} where own_call.source <> 'enrich'`,
  });
}

/** Inserts rows, whose key together with the chain is the table's, and returns those that were written. */
async function addRows<Row extends object>(
  tx: NodePgDatabase,
  rows: readonly Row[],
  { table, key, onConflict }: { table: string; key: readonly (keyof Row & string)[]; onConflict: SQL },
): Promise<readonly Row[]> {
  const columns = sql.join(
    key.map((member) => sql.identifier(columnOf(member))),
    sql`, `,
  );
  const end = sql`on conflict ${onConflict} returning concat_ws(' ', ${columns}) as key`;
  const { returned } = await insertRows<{ key: string }>(tx, { table, rows, end });
  const written = new Set(returned.map((row) => row.key));
  return rows.filter((row) => written.has(key.map((member) => row[member]).join(" ")));
}

/**
 * Opens the past of wallets that the index follows from behind the cursor, and forgets those that it no longer follows. Does
 * nothing while the chain's data is being replaced, or while a new build of the index is behind the cursor.
 */
export async function openMissedPasts(
  db: Database,
  index: FollowedWallets & { readonly generation: string },
): Promise<void> {
  const { chainId, generation } = index;
  // Sums of hashes: the rows are compared one by one only if something changed.
  const { rows: sums } = await db.execute<{ isSame: boolean | null }>(comparedSums(index));
  if (sums[0]?.isSame === true) return;
  await db.transaction(async (tx) => {
    await lockEnrichment(tx, chainId);
    if (!(await holdsGeneration(tx, chainId, generation))) return;
    await tx.execute(deleteUnfollowed(index));
    const { rows } = await tx.execute<{ wallet: Address }>(insertMissed(index));
    await wantFacts(
      tx,
      chainId,
      rows.map(({ wallet }) => itself(wallet)),
    );
  });
}

/** The wallet itself comes before its counterparties. */
export function itself(wallet: Address): WantedFact {
  return { address: wallet, wallet, since: 0, own: true };
}

/** Whether the chain's data is still of that generation; locks its mark, so that clearing the chain's data comes wholly before or wholly after. */
export async function holdsGeneration(tx: NodePgDatabase, chainId: number, generation: string) {
  const [mark] = await tx
    .select({ generation: chainMark.generation })
    .from(chainMark)
    .where(eq(chainMark.chainId, chainId))
    .for("key share");
  return mark?.generation === generation;
}

async function isAt(tx: NodePgDatabase, chainId: number, expected: EnrichCursor | null): Promise<boolean> {
  const [cursor] = await selectCursor(tx, chainId).for("update");
  return cursor?.block === expected?.block && cursor?.hash === expected?.hash;
}

/** Whether the past of each wallet is still to be read from the block that it was read from. */
async function arePastsAt(tx: NodePgDatabase, chainId: number, wallets: ReadonlyMap<Address, number>) {
  const rows = await tx
    .select({ wallet: enrichWallet.wallet, next: enrichWallet.pastNext })
    .from(enrichWallet)
    .where(and(eq(enrichWallet.chainId, chainId), isNotNull(enrichWallet.pastNext)))
    .for("update");
  const open = new Map(rows.map(({ wallet, next }) => [wallet, next]));
  return [...wallets].every(([wallet, next]) => open.get(wallet) === next);
}

async function insertNew(tx: NodePgDatabase, table: string, rows: readonly object[]): Promise<number> {
  const { count } = await insertRows(tx, { table, rows, end: sql`on conflict do nothing` });
  return count;
}

/** Facts of contracts that own calls created replace those of a source. Returns the number of changed accounts. */
async function storeCreations(tx: NodePgDatabase, creations: EnrichRows["creations"]): Promise<number> {
  const [first] = creations;
  if (first === undefined) return 0;
  const { count } = await insertRows(tx, {
    table: "account_fact",
    rows: creations,
    end: sql`on conflict (chain_id, address) do update set
      has_code = true, creator = excluded.creator,
      existed_block = least(account_fact.existed_block, excluded.existed_block),
      existed_at = least(account_fact.existed_at, excluded.existed_at),
      source = excluded.source, read_block = greatest(account_fact.read_block, excluded.read_block)
      where account_fact.has_code is not true or account_fact.creator is distinct from excluded.creator`,
  });
  const known = creations.map(({ address }) => address);
  await takeOffPending(tx, first.chainId, known);
  return count;
}
