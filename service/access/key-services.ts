import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import type { KeyAccess } from "./api-key-access.ts";
import { DEFAULT_RATE_PER_MINUTE } from "./api-keys.sql.ts";
import {
  buyApiKey,
  type KeyEntropy,
  keysBoughtBy,
  type RotationRight,
  readApiKey,
  readSpending,
  rotateApiKey,
  topUpApiKey,
} from "./api-keys.ts";
import { type CallLimiter, countedKeys } from "./rate-limits.ts";

/** Keys that an error names at most. */
const MAX_NAMED_KEYS = 20;

export type KeyServices = ReturnType<typeof createKeyServices>;

/** API keys as endpoints sell, rotate and show them. */
export function createKeyServices({
  db,
  keys,
  limiter,
  entropy,
}: {
  readonly db: Database;
  readonly keys: Pick<KeyAccess, "identify">;
  readonly limiter: CallLimiter;
  readonly entropy: KeyEntropy;
}) {
  return {
    identify: keys.identify,
    /** As `identify`, for a free call, which counts against the key's rate: also throws a 429. */
    enter: countedKeys(keys, limiter).identify,
    /** The key that a payment bought: one for each creditId, with a new secret at every call. */
    buy: (purchase: Omit<Parameters<typeof buyApiKey>[1], "ratePerMinute">) =>
      buyApiKey(db, { ...purchase, ratePerMinute: DEFAULT_RATE_PER_MINUTE }, entropy),
    /** Credits a key, once for each creditId; null if the key is no longer live. */
    topUp: (topUp: Parameters<typeof topUpApiKey>[1]) => topUpApiKey(db, topUp),
    /** Null if that right no longer exists. */
    rotate: (right: RotationRight, now: Date) => rotateApiKey(db, { right, now }, entropy),
    find: (id: string) => readApiKey(db, id),
    /** Ids of live keys, newest first. */
    boughtBy: (wallet: Address, now: Date) => keysBoughtBy(db, { wallet, now, limit: MAX_NAMED_KEYS }),
    spending: (keyId: string, since: Date) => readSpending(db, keyId, since),
  };
}
