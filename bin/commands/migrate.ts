import { migrateDatabase } from "../../service/store/database.ts";
import type { Invocation } from "../ahs.ts";
import { createLogger, openProcessDatabase } from "../process.ts";

/** `ahs migrate`: brings the schema `ahs` to the newest version. */
export async function migrate({ config, out }: Invocation): Promise<void> {
  const db = openProcessDatabase(config, "ahs-migrate", createLogger(config, "migrate"));
  try {
    await migrateDatabase(db);
    out("the database schema is at the newest version");
  } finally {
    await db.$client.end();
  }
}
