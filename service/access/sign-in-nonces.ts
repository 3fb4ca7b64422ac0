import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

export type NonceUse = {
  readonly nonce: string;
  /** Lower-case. */
  readonly address: string;
  /** From then on a message with this nonce is too old for any server. */
  readonly expiresAt: Date;
};

/** Takes a nonce of one address for good, by one atomic insert; false when that address used it before. */
export async function takeSignInNonce(db: Database, use: NonceUse): Promise<boolean> {
  const { rowCount } = await db.$client.query({
    ...QUERY_DEADLINE,
    text: `insert into ahs.sign_in_nonce (nonce, address, expires_at) values ($1, $2, $3)
           on conflict (address, nonce) do nothing`,
    values: [use.nonce, use.address, use.expiresAt],
  });
  return rowCount === 1;
}

/** Forgets nonces whose messages are too old by now; answers how many. */
export async function dropExpiredNonces(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.$client.query("delete from ahs.sign_in_nonce where expires_at <= $1", [now]);
  return rowCount ?? Number.NaN;
}
