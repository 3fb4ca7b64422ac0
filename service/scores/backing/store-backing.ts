import { sql } from "drizzle-orm";
import { holdChain, isIndexed } from "../../db/chain-fence.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { StoredSellerProfile, walletBacking } from "../../db/tables/backing.ts";
import type { SellerProfile } from "../../model/backing/seller-profile.ts";
import type { AsOf } from "../../model/features/types.ts";
import type { ComputedBacking } from "./compute-backing.ts";

/**
 * Replaces the backing of all wallets of a chain in one transaction. Returns false, and stores nothing, if the index no longer
 * holds the block or another worker stored that of a newer one.
 */
export async function storeBacking(
  db: Database,
  of: { readonly chainId: number; readonly asOf: AsOf; readonly backings: readonly ComputedBacking[] },
): Promise<boolean> {
  const { chainId, asOf, backings } = of;
  const rows = backings.map((backing) => toRow(backing, of));
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    if (!(await isIndexed(tx, chainId, asOf))) return false;
    const { rows: newer } = await tx.execute(
      sql`select from ahs.wallet_backing where chain_id = ${chainId} and as_of_block > ${asOf.blockNumber} limit 1`,
    );
    if (newer.length > 0) return false;
    await insertRows(tx, {
      table: "wallet_backing",
      rows,
      end: sql`on conflict (chain_id, wallet) do update set
        own_micro_usd = excluded.own_micro_usd, cost_basis_micro_usd = excluded.cost_basis_micro_usd,
        bond_micro_usd = excluded.bond_micro_usd, safe_micro_usd = excluded.safe_micro_usd, received_day_micro_usd = excluded.received_day_micro_usd,
        seller_profile = excluded.seller_profile, as_of_block = excluded.as_of_block, as_of_time = excluded.as_of_time
        where wallet_backing.* is distinct from excluded.*`,
    });
    const wallets = rows.map(({ wallet }) => wallet);
    await tx.execute(sql`
      delete from ahs.wallet_backing as held where chain_id = ${chainId}
        and not exists (select from unnest(${sql.param(wallets)}::text[]) as new (wallet) where new.wallet = held.wallet)`);
    return true;
  });
}

function toRow(
  { sellerProfile, ...amounts }: ComputedBacking,
  { chainId, asOf }: { readonly chainId: number; readonly asOf: AsOf },
): typeof walletBacking.$inferInsert {
  return {
    chainId,
    ...amounts,
    sellerProfile: sellerProfile === null ? null : storedProfile(sellerProfile),
    asOfBlock: asOf.blockNumber,
    asOfTime: new Date(asOf.timestamp * 1000),
  };
}

function storedProfile({ revenueMicroUsd, ...profile }: SellerProfile): StoredSellerProfile {
  return { ...profile, revenueMicroUsd: revenueMicroUsd.toString() };
}

type BackingAsOf = Pick<typeof walletBacking.$inferSelect, "asOfBlock" | "asOfTime">;

/** The block by which the backing of all wallets of a chain is known; null where no wallet has any. */
export async function readBackingAsOf(db: Database, chainId: number): Promise<BackingAsOf | null> {
  const [row] = await rowsInTime<BackingAsOf>(db, {
    name: "backing_as_of",
    text: `select as_of_block::float8 as "asOfBlock", as_of_time as "asOfTime"
           from ahs.wallet_backing where chain_id = $1 limit 1`,
    values: [chainId],
  });
  return row ?? null;
}
