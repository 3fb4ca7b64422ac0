import type { Address } from "viem";
import { type Database, NUMERIC_AS_BIGINT, rowsInTime } from "../../db/database.ts";
import type { walletBacking } from "../../db/tables/backing.ts";

/** Backing of a wallet as of one block; amounts in millionths of a US dollar. */
export type StoredBacking = Pick<
  typeof walletBacking.$inferSelect,
  "ownMicroUsd" | "costBasisMicroUsd" | "safeMicroUsd" | "receivedDayMicroUsd" | "asOfBlock" | "asOfTime"
>;

/**
 * Backing of a wallet (lower-case); null where it has none. Such a wallet is safe for 0 US dollars if the index followed it by the
 * block of `readBackingAsOf`; else its backing is unknown.
 */
export async function readBacking(
  db: Database,
  { chainId, wallet }: { readonly chainId: number; readonly wallet: Address },
): Promise<StoredBacking | null> {
  const [row] = await rowsInTime<StoredBacking>(db, {
    ...NUMERIC_AS_BIGINT,
    name: "wallet_backing",
    text: `select own_micro_usd as "ownMicroUsd", cost_basis_micro_usd as "costBasisMicroUsd", safe_micro_usd as "safeMicroUsd",
             received_day_micro_usd as "receivedDayMicroUsd", as_of_block::float8 as "asOfBlock", as_of_time as "asOfTime"
           from ahs.wallet_backing where chain_id = $1 and wallet = $2`,
    values: [chainId, wallet],
  });
  return row ?? null;
}

/** The block by which the backing of all wallets of a chain is known; null where no wallet has any. */
export async function readBackingAsOf(
  db: Database,
  chainId: number,
): Promise<Pick<StoredBacking, "asOfBlock" | "asOfTime"> | null> {
  const [row] = await rowsInTime<Pick<StoredBacking, "asOfBlock" | "asOfTime">>(db, {
    name: "backing_as_of",
    text: `select as_of_block::float8 as "asOfBlock", as_of_time as "asOfTime"
           from ahs.wallet_backing where chain_id = $1 limit 1`,
    values: [chainId],
  });
  return row ?? null;
}
