import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localFiles } from "../../../devnet/demo/local-files.ts";
import { urlsOfLeastRights } from "../../../devnet/demo/start-services.ts";
import type { Database } from "../../../service/db/database.ts";
import { createEmptyDatabase, openMigrated, type TestDatabase } from "../../support/test-database.ts";

let folder: string;
let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ahs-users-"));
  database = await createEmptyDatabase();
  db = openMigrated(database.url);
});
afterAll(async () => {
  await db.$client.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

test("each process gets a user of its own, whose password only the owner of the data directory can read", async () => {
  const files = localFiles(folder);
  const urls = await urlsOfLeastRights(db, files, database.url);
  expect(statSync(files.databaseUsersFile).mode & 0o777).toBe(0o600);
  expect(await urlsOfLeastRights(db, files, database.url)).toEqual(urls);
  for (const [name, url] of Object.entries(urls)) {
    const own = openMigrated(url);
    const { rows } = await own.$client.query(
      "select current_user as role, count(*)::int as n from ahs.migration",
    );
    await own.$client.end();
    expect(rows).toEqual([{ role: `ahs_${name}`, n: expect.any(Number) }]);
  }
});
