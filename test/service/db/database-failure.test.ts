import { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { databaseFailure } from "../../../service/db/database-failure.ts";
import { useDatabase } from "../../support/test-database.ts";

const db = useDatabase();

async function failureOf(attempt: Promise<unknown>): Promise<unknown> {
  const error: unknown = await attempt.then(
    () => new Error("it succeeded"),
    (caught: unknown) => caught,
  );
  return databaseFailure(error);
}

describe("databaseFailure on real errors of PostgreSQL and its driver", () => {
  it("a server that does not listen is out of reach", async () => {
    const pool = new Pool({ host: "127.0.0.1", port: 1, connectionTimeoutMillis: 1000 });
    expect(await failureOf(pool.query("select 1"))).toBe("database");
  });

  it("a statement beyond its deadline is out of reach", async () => {
    const client = await db.$client.connect();
    await client.query("set statement_timeout = 20");
    expect(await failureOf(client.query("select pg_sleep(2)"))).toBe("database");
    client.release(true);
  });

  it("a connection that the server ends is out of reach", async () => {
    const client = await db.$client.connect();
    client.on("error", () => undefined);
    expect(await failureOf(client.query("select pg_terminate_backend(pg_backend_pid())"))).toBe("database");
    client.release(true);
  });

  it("a pool with no connection to give is out of reach", async () => {
    const pool = new Pool({ ...db.$client.options, max: 1, connectionTimeoutMillis: 1_000 });
    const taken = await pool.connect();
    expect(await failureOf(pool.query("select 1"))).toBe("database");
    taken.release();
    await pool.end();
  });

  it("a missing view of the index is a missing index", async () => {
    expect(await failureOf(db.$client.query('select 1 from "chain_31337".block'))).toBe("index");
  });

  it.each(["select nonsense", "select 1/0", "select 1 from ahs.no_such_table", "not sql"])(
    "%s is a fault of ours",
    async (text) => {
      expect(await failureOf(db.$client.query(text))).toBeNull();
    },
  );

  it("looks into causes", () => {
    const cause = Object.assign(new Error("x"), { code: "57P01" });
    expect(databaseFailure(new Error("scoring failed", { cause }))).toBe("database");
  });
});
