import { randomBytes, randomUUID } from "node:crypto";
import { createApiKey } from "../../service/access/api-keys.ts";
import type { Database } from "../../service/db/database.ts";

/** Stores a key with a balance in units of 0.001 USD (null is unlimited); answers its id and secret. */
export async function createTestKey(
  db: Database,
  balanceUnits: number | null,
): Promise<{ readonly id: string; readonly secret: string }> {
  const wanted = { name: "test", partner: false, balanceUnits, expiresAt: null };
  const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  return { id: key.id, secret };
}

/** The balance of a key in units of 0.001 USD. */
export async function readBalance(db: Database, keyId: string): Promise<number> {
  const { rows } = await db.$client.query("select balance_units from ahs.api_key where id = $1", [keyId]);
  return Number(rows[0]?.balance_units);
}
