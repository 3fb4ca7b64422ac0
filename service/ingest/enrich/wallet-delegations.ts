import { sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";

/** The newest known delegation of those of the wallets whose code was ever read; null where it delegates to nobody. */
export async function readDelegations(
  db: Database,
  chainId: number,
  wallets: readonly Address[],
): Promise<ReadonlyMap<Address, Address | null>> {
  const { rows } = await db.execute<{ wallet: Address; delegate: Address | null }>(sql`
    select distinct on (wallet) wallet, delegate from ahs.wallet_delegation
    where chain_id = ${chainId} and wallet = any(${sql.param(wallets)}::text[]) order by wallet, block desc`);
  return new Map(rows.map(({ wallet, delegate }) => [wallet, delegate]));
}
