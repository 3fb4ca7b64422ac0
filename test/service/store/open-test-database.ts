import { type Database, migrateDatabase, openDatabase } from "../../../service/store/database.ts";
import { createTestDatabase } from "../../support/test-database.ts";

/** A migrated database of its own, and what closes and drops it. */
export async function openTestDatabase(): Promise<{ db: Database; close: () => Promise<void> }> {
  const { url, drop } = await createTestDatabase();
  const db = openDatabase({
    url,
    applicationName: "test",
    maxConnections: 10,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5000,
    onIdleError: () => undefined,
  });
  await migrateDatabase(db);
  return {
    db,
    async close() {
      await db.$client.end();
      await drop();
    },
  };
}
