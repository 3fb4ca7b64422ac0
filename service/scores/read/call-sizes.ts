import type { Pool } from "pg";
import { WALLET_BOUNDS } from "../../model/features/call-bounds.ts";

/** Bytes of the line of a call whose row is older than the column, roughly. */
const LINE_BYTES = 600;

/** Bytes that the lines of a wallet's newest own calls take; wallets without calls are left out. */
export async function readCallSizes(
  client: Pick<Pool, "query">,
  { chainId, wallets }: { readonly chainId: number; readonly wallets: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ wallet: string; bytes: number }>({
    name: "call-sizes",
    text: SIZES,
    values: [chainId, wallets, WALLET_BOUNDS.calls, LINE_BYTES],
  });
  return new Map(rows.map(({ wallet, bytes }) => [wallet, bytes]));
}

const SIZES = `
  select wanted.wallet, told.bytes
  from unnest($2::text[]) as wanted (wallet)
  cross join lateral (
    select sum(coalesce(octet_length(line), $4))::float8 as bytes
    from (
      select line from ahs.own_call
      where chain_id = $1 and wallet = wanted.wallet
      order by block desc, transaction_index desc, position desc limit $3
    ) newest
  ) told
  where told.bytes is not null`;
