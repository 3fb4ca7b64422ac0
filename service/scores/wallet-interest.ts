import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";

/** Records that a wallet was read, so that its score gets a heartbeat. */
type InterestRecorder = (address: Address) => Promise<void>;

/** Reads closer together than this are one: the heartbeat asks in days. */
const ONE_READ_MS = 3_600_000;
/** Wallets remembered, so that a crawl of many cannot fill the memory. */
const REMEMBERED = 50_000;

/** Upserts ahs.wallet_interest, at most once an hour and wallet in this process. */
export function createInterestRecorder(db: Database, chainId: number, now: () => Date): InterestRecorder {
  const recorded = new Map<Address, number>();
  return async (address) => {
    const at = now();
    const last = recorded.get(address);
    if (last !== undefined && at.getTime() - last < ONE_READ_MS) return;
    if (recorded.size >= REMEMBERED) recorded.clear();
    recorded.set(address, at.getTime());
    try {
      await db.$client.query({
        ...QUERY_DEADLINE,
        name: "wallet_interest",
        text: UPSERT,
        values: [chainId, address, at],
      });
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
