import type { Address, Hex } from "viem";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";

/** When an own call was mined. */
export type SeenCall = {
  readonly block: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly hash: Hex;
};

/** What is known of a wallet beyond the window of its calls. */
export type WalletLife = {
  /** The first and the last own call that the index or a history source told of; null without any. */
  readonly first: SeenCall | null;
  readonly last: SeenCall | null;
  /** Whether the account had code when that was read, a delegation included; null where it never was. */
  readonly hasCode: boolean | null;
};

export type WalletLifeReader = (wallet: Address, throughBlock: number) => Promise<WalletLife>;

/** Reads the lives of wallets (lower-case) of one chain up to a block. */
export function createWalletLifeReader(db: Database, chainId: number): WalletLifeReader {
  return async (wallet, throughBlock) => {
    const { rows } = await db.$client.query<LifeRow>({
      ...QUERY_DEADLINE,
      name: "wallet_life",
      text: LIFE,
      values: [chainId, wallet, throughBlock],
    });
    const [row] = rows;
    return {
      first: row === undefined ? null : seen(row.first),
      last: row === undefined ? null : seen(row.last),
      hasCode: row === undefined ? null : row.has_code,
    };
  };
}

type SeenRow = [block: number, timestamp: number, hash: Hex];

type LifeRow = { first: SeenRow | null; last: SeenRow | null; has_code: boolean | null };

const LIFE = `
  select first.told as first, last.told as last, fact.has_code
  from (select $1::int as chain_id, $2::text as wallet) as wanted
  left join lateral (
    select json_build_array(block, timestamp, hash) as told from ahs.own_call
    where chain_id = $1 and wallet = $2 and block <= $3
    order by block, transaction_index, position limit 1
  ) as first on true
  left join lateral (
    select json_build_array(block, timestamp, hash) as told from ahs.own_call
    where chain_id = $1 and wallet = $2 and block <= $3
    order by block desc, transaction_index desc, position desc limit 1
  ) as last on true
  left join ahs.account_fact as fact on fact.chain_id = $1 and fact.address = $2`;

function seen(row: SeenRow | null): SeenCall | null {
  if (row === null) return null;
  const [block, timestamp, hash] = row;
  return { block, timestamp, hash };
}
