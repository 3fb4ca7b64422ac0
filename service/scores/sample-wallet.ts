import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** The wallet that the index of a chain has followed longest, lower-case; null while it follows none. */
export async function readSampleWallet(db: Database, chainId: number): Promise<Address | null> {
  const { rows } = await db.$client.query<{ readonly address: Address }>({
    ...QUERY_DEADLINE,
    name: "sample_wallet",
    text: `select address from "chain_${chainId}".wallet order by followed_block, address limit 1`,
  });
  return rows[0]?.address ?? null;
}
