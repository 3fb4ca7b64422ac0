import { afterAll, beforeAll, expect, test } from "vitest";
import { restoreBackup, writeBackup } from "../../../service/db/backup.ts";
import {
  type Database,
  migrateDatabase,
  migrateThrough,
  requireMigrated,
} from "../../../service/db/database.ts";
import { createRoles } from "../../../service/db/roles.ts";
import { enqueueTransaction } from "../../../service/sender/sender-transactions.ts";
import {
  createEmptyDatabase,
  createTestDatabase,
  openMigrated,
  type TestDatabase,
  urlForRole,
} from "../../support/test-database.ts";

const NOW = new Date(1_790_000_000_000);
const SPEC = "11111111-1111-4111-8111-111111111111";
/** Characters that COPY must quote, and characters that an encoding could lose. */
const ODD_TEXT = "a\ttab\nline \\. \\N \\x00 \u{1F600}é\r";
const CALL = { chainId: 1, sender: "0x1", to: "0x2", data: "0x", value: 0n, purpose: "p" } as const;

const databases: TestDatabase[] = [];
const pools: Database[] = [];
let source: Database;
let backup: Buffer;

beforeAll(async () => {
  source = await open(createTestDatabase);
  await source.$client.query(
    `insert into ahs.job_spec (id, client_addr, spec_text, domain, spec_hash, created_at)
     values ('${SPEC}', '0xc1', $1, 'content', '0xab', now())`,
    [ODD_TEXT],
  );
  await source.$client.query(
    `insert into ahs.rate_bucket select 'key:' || n, n, 0, now() from generate_series(1, 20000) n`,
  );
  await source.$client.query("insert into ahs.chain_mark values (31337, 7, '0x7', 'first')");
  for (const reference of ["a", "b", "dropped"]) await enqueueTransaction(source, { ...CALL, reference });
  await source.$client.query("delete from ahs.sender_transaction where reference = 'dropped'");
  backup = await taken();
});
afterAll(async () => {
  await Promise.all(pools.map((db) => db.$client.end()));
  for (const database of databases) await database.drop();
});

async function open(create: () => Promise<TestDatabase>): Promise<Database> {
  const database = await create();
  databases.push(database);
  return connect(database.url);
}

function connect(url: string): Database {
  const db = openMigrated(url);
  pools.push(db);
  return db;
}

async function taken(
  meanwhile: () => Promise<unknown> = async () => undefined,
  from: Database = source,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeBackup(from, NOW)) {
    if (chunks.length === 1) await meanwhile();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* inPieces(bytes: Buffer, size = 64_000): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function rowsOf(db: Database): Promise<unknown> {
  const { rows } = await db.$client.query(
    `select (select json_agg(s order by s.id) from ahs.job_spec s) as specs,
       (select json_agg(t order by t.id) from ahs.sender_transaction t) as transactions,
       (select json_agg(m) from ahs.chain_mark m) as marks,
       (select md5(string_agg(b::text, ',' order by b::text)) from ahs.rate_bucket b) as buckets`,
  );
  return rows;
}

test("restores a backup into an empty database, which continues its sequences", async () => {
  const db = await open(createEmptyDatabase);
  const restored = await restoreBackup(db, inPieces(backup));
  expect(restored).toMatchObject({ takenAt: NOW.toISOString(), chainIds: [31_337] });
  expect(restored.tables).toContainEqual(expect.objectContaining({ table: "rate_bucket", rows: 20_000 }));
  expect(await rowsOf(db)).toEqual(await rowsOf(source));
  await requireMigrated(db);
  expect(await enqueueTransaction(db, { ...CALL, reference: "next" })).toBe(4);
});

test("contains concurrent writes wholly or not at all", async () => {
  const bytes = await taken(() =>
    source.$client.query(
      "with gone as (delete from ahs.rate_bucket where identity = 'key:1') insert into ahs.chain_mark values (1, 1, '0x1', 'late')",
    ),
  );
  const db = await open(createTestDatabase);
  await restoreBackup(db, inPieces(bytes));
  const { rows } = await db.$client.query(
    "select (select count(*)::int from ahs.rate_bucket) as buckets, (select count(*)::int from ahs.chain_mark) as marks",
  );
  expect(rows).toEqual([{ buckets: 20_000, marks: 1 }]);
});

test("a backup that is broken anywhere, cut off or of another version restores nothing", async () => {
  const db = await open(createTestDatabase);
  const changed = Buffer.from(backup);
  const place = changed.indexOf("key:777");
  changed.write("key:778", place);
  await expect(restoreBackup(db, inPieces(changed))).rejects.toThrow(/rate_bucket/);
  for (const end of [0, 3, 200, Math.floor(backup.length / 2), backup.length - 1]) {
    await expect(restoreBackup(db, inPieces(backup.subarray(0, end)))).rejects.toThrow(/cut off/);
  }
  await expect(restoreBackup(db, inPieces(Buffer.from("no backup at all")))).rejects.toThrow(
    /no file of ours/,
  );
  const begin = backup.toString("latin1").replace(/"migrations":\["[0-9a-f]{4}/, '"migrations":["ffff');
  await expect(restoreBackup(db, inPieces(Buffer.from(begin, "latin1")))).rejects.toThrow(/unknown here/);
  const { rows } = await db.$client.query("select count(*)::int as n from ahs.rate_bucket");
  expect(rows).toEqual([{ n: 0 }]);
});

test("a database that holds anything of ours is left as it is", async () => {
  const db = await open(createTestDatabase);
  await db.$client.query("insert into ahs.chain_mark values (5, 5, '0x5', 'mine')");
  await expect(restoreBackup(db, inPieces(backup))).rejects.toThrow("ahs.chain_mark has rows");
  const { rows } = await db.$client.query("select chain_id from ahs.chain_mark");
  expect(rows).toEqual([{ chain_id: 5 }]);
});

test("an older backup goes into a database without the schema alone, and the roles are made after it", async () => {
  const { rows } = await source.$client.query<{ hash: string }>("select hash from ahs.migration order by id");
  const older = await open(createEmptyDatabase);
  await migrateThrough(
    older,
    rows.slice(0, -1).map(({ hash }) => hash),
  );
  await older.$client.query("insert into ahs.chain_mark values (5, 5, '0x5', 'older')");
  const bytes = await taken(undefined, older);
  const migrated = await open(createTestDatabase);
  await expect(restoreBackup(migrated, inPieces(bytes))).rejects.toThrow("without the schema ahs");

  const fresh = await createEmptyDatabase();
  databases.push(fresh);
  const db = connect(fresh.url);
  await restoreBackup(db, inPieces(bytes));
  await requireMigrated(db);
  const client = await db.$client.connect();
  await createRoles(client).finally(() => client.release());
  await migrateDatabase(db);
  const indexer = connect(urlForRole(fresh.url, "ahs_index"));
  expect((await indexer.$client.query("select chain_id from ahs.chain_mark")).rows).toEqual([
    { chain_id: 5 },
  ]);
  await indexer.$client.query("create schema index_5_a1");
});
