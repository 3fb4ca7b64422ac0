import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** What is looked for: uses of Idempotency-Keys by the holder of an API key. */
export type PurchaseQuery = {
  /** Lower-case hex SHA-256 of the API key. */
  readonly apiKeyHash: string;
  /** Lower-case hex SHA-256 of each Idempotency-Key. */
  readonly keyHashes: readonly string[];
  readonly now: Date;
};

/** none: also for a key that is revoked, expired or unknown. */
export type KeptPurchase =
  | { readonly kind: "none" }
  /** A request is under way. */
  | { readonly kind: "running" }
  /** An answer is kept until then. */
  | { readonly kind: "answered"; readonly body: string; readonly until: Date };

type Row = {
  readonly answer_body: Buffer | null;
  readonly expires_at: Date;
};

/** The newest answer that a live key has under one of these Idempotency-Keys, else whether one is under way; it begins none. */
export async function readKeptPurchase(
  db: Database,
  { apiKeyHash, keyHashes, now }: PurchaseQuery,
): Promise<KeptPurchase> {
  const { rows } = await db.$client.query<Row>({
    ...QUERY_DEADLINE,
    name: "kept_purchase",
    text: `select a.answer_body, a.expires_at
           from ahs.api_key k
           join ahs.idempotent_answer a on a.scope = 'key:' || k.id::text and a.key_hash = any($2)
           where k.key_hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)
             and a.expires_at > $3
           order by a.answer_body is null, a.expires_at desc limit 1`,
    values: [apiKeyHash, keyHashes, now],
  });
  const [row] = rows;
  if (row === undefined) return { kind: "none" };
  if (row.answer_body === null) return { kind: "running" };
  return { kind: "answered", body: row.answer_body.toString("utf8"), until: row.expires_at };
}
