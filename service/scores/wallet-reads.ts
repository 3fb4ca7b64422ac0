import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import type { ownCall } from "../db/tables/enrich.ts";

/** Reads closer together than this are one: the heartbeat asks in days. */
const ONE_READ_MS = 3_600_000;
/** Wallets remembered, so that a crawl of many cannot fill the memory. */
const REMEMBERED = 50_000;

/** Records that a wallet was read, so that its score gets a heartbeat: at most once an hour and wallet in this process. */
export function createInterestRecorder(db: Database, chainId: number, now: () => Date) {
  const recorded = new Map<Address, number>();
  return async (address: Address): Promise<void> => {
    const at = now();
    const last = recorded.get(address);
    if (last !== undefined && at.getTime() - last < ONE_READ_MS) return;
    if (recorded.size >= REMEMBERED) recorded.clear();
    recorded.set(address, at.getTime());
    try {
      await rowsInTime(db, { name: "wallet_interest", text: UPSERT, values: [chainId, address, at] });
    } catch (error) {
      recorded.delete(address);
      throw error;
    }
  };
}

/** It waits for no disk: a reading that is lost with the server is read again. */
const UPSERT = `
  insert into ahs.wallet_interest (chain_id, wallet, last_at) values ($1, $2, $3)
  on conflict (chain_id, wallet) do update set last_at = greatest(wallet_interest.last_at, excluded.last_at)
  returning set_config('synchronous_commit', 'off', true)`;

/** When an own call was mined. */
export type SeenCall = Pick<typeof ownCall.$inferSelect, "block" | "timestamp" | "hash">;

/** Facts about a wallet beyond the window of its calls. */
export type WalletLife = {
  /** The first and the last own call that the index or a history source reported; null without any. */
  readonly first: SeenCall | null;
  readonly last: SeenCall | null;
  /** Whether the account had code when that was read, a delegation included; null where it never was. */
  readonly hasCode: boolean | null;
};

/** Reads the lives of wallets (lower-case) of one chain up to a block. */
export function createWalletLifeReader(
  db: Database,
  chainId: number,
): (wallet: Address, throughBlock: number) => Promise<WalletLife> {
  return async (wallet, throughBlock) => {
    const values = [chainId, wallet, throughBlock];
    const [life] = await rowsInTime<WalletLife>(db, { name: "wallet_life", text: LIFE, values });
    return life ?? { first: null, last: null, hasCode: null };
  };
}

const LIFE = `
  select first.seen as first, last.seen as last, fact.has_code as "hasCode"
  from (select $1::int as chain_id, $2::text as wallet) as wanted
  left join lateral (
    select json_build_object('block', block, 'timestamp', timestamp, 'hash', hash) as seen from ahs.own_call
    where chain_id = $1 and wallet = $2 and block <= $3
    order by block, transaction_index, position limit 1
  ) as first on true
  left join lateral (
    select json_build_object('block', block, 'timestamp', timestamp, 'hash', hash) as seen from ahs.own_call
    where chain_id = $1 and wallet = $2 and block <= $3
    order by block desc, transaction_index desc, position desc limit 1
  ) as last on true
  left join ahs.account_fact as fact on fact.chain_id = $1 and fact.address = $2`;
