import type { PoolClient } from "pg";
import type { Database } from "./database.ts";

/** Runs reads on one REPEATABLE READ snapshot, so that all of them see the index at the same moment. */
export async function readSnapshot<T>(db: Database, read: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await db.$client.connect();
  let broken: Error | undefined;
  try {
    await client.query("begin isolation level repeatable read read only");
    const result = await read(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
