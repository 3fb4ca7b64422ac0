import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../../service/access/api-keys.ts";
import { advanceChainMark, holdChain } from "../../../service/db/chain-fence.ts";
import { type Database, migrateDatabase, requireMigrated } from "../../../service/db/database.ts";
import { readBuilds, readTransactions, showBuild } from "../../../service/db/index-builds.ts";
import { resetChain } from "../../../service/db/reset-chain.ts";
import {
  LARGE_OBJECT_FUNCTIONS,
  ROLES,
  type RoleName,
  TABLE_RIGHTS,
} from "../../../service/db/role-rights.ts";
import { createRoles } from "../../../service/db/roles.ts";
import { tryOpenSenderSession } from "../../../service/sender/sender-loop.ts";
import { enqueueTransaction } from "../../../service/sender/sender-transactions.ts";
import {
  createTestDatabase,
  openMigrated,
  type TestDatabase,
  urlForRole,
} from "../../support/test-database.ts";
import { createIndexBuild } from "./index-build.ts";

const CHAIN_ID = 31_337;
const BUILD = { chainId: CHAIN_ID, newest: 9, finalized: 5, at: new Date(1_790_000_000_000) };
const INSUFFICIENT_PRIVILEGE = "42501";

let database: TestDatabase;
let owner: Database;
let as: Record<RoleName, Database>;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = openMigrated(database.url);
  // A copy of a database has no rights of its own.
  await migrateDatabase(owner);
  const open = (role: RoleName) => openMigrated(urlForRole(database.url, role));
  as = { ahs_index: open("ahs_index"), ahs_serve: open("ahs_serve"), ahs_work: open("ahs_work") };
  await createIndexBuild(as.ahs_index.$client, { schema: "index_31337_a1", ...BUILD });
  await as.ahs_index.$client.query(
    "create schema ponder_sync; create table ponder_sync.blocks (number bigint)",
  );
  await showBuild(as.ahs_index.$client, { chainId: CHAIN_ID, schema: "index_31337_a1" });
});
afterAll(async () => {
  await Promise.all([owner, ...Object.values(as)].map((db) => db.$client.end()));
  await database.drop();
});

test("every table has its rights named, and no other has", async () => {
  const { rows } = await owner.$client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'ahs' order by 1",
  );
  expect(Object.keys(TABLE_RIGHTS).sort()).toEqual(rows.map(({ name }) => name).sort());
});

describe("no process may do more than it needs", () => {
  const secrets = [
    "select * from ahs.api_key",
    "select * from ahs.payment",
    "select secret from ahs.webhook_endpoint",
  ];
  const texts = [
    "select spec_text from ahs.job_spec",
    "select * from ahs.output_text",
    "select * from ahs.held_evidence",
  ];
  const forbidden: Readonly<Record<RoleName, readonly string[]>> = {
    ahs_serve: [
      "insert into chain_31337.wallet values ('0x1')",
      "update chain_31337.block set hash = 'forged'",
      "delete from chain_31337.block",
      "update index_31337_a1.block set hash = 'forged'",
      "select * from index_31337_a1.block",
      "insert into ponder_sync.blocks values (1)",
      "select * from ponder_sync.blocks",
      "create view chain_31337.mine as select 1",
      "create schema chain_8453",
      "create table ahs.mine (id int)",
      "create temporary table mine (id int)",
      "delete from ahs.payment",
      "delete from ahs.api_key",
      "delete from ahs.key_debit",
      "delete from ahs.score",
      "update ahs.input_file set hash = ''",
      "select raw from ahs.sender_transaction",
      "select * from ahs.sender_transaction",
      "update ahs.sender_transaction set nonce = 1",
      "delete from ahs.sender_transaction",
      "insert into ahs.settlement (verdict_id) values (null)",
      "update ahs.epoch set root = ''",
      "update ahs.enrich_cursor set block = 0",
      "insert into ahs.sanctions_entry (address) values ('0x1')",
      "delete from ahs.sanctions_reading",
      "insert into ahs.appeal (verdict_id) values (null)",
      "update ahs.appeal set decide_by = now()",
      "update ahs.appeal set units = 1",
      "delete from ahs.chain_mark",
      "insert into ahs.migration (hash) values ('')",
    ],
    ahs_index: [
      ...secrets,
      ...texts,
      "update ahs.api_key set balance_units = 1",
      "select raw from ahs.sender_transaction",
      "insert into ahs.score (wallet) values ('0x1')",
      "update ahs.verdict set final_verdict = 'ALLOW'",
      "select * from ahs.sign_in_nonce",
      "select * from ahs.idempotent_answer",
      "create table ahs.mine (id int)",
    ],
    ahs_work: [
      "delete from ahs.api_key",
      "update ahs.chain_mark set block_hash = 'forged'",
      "insert into ahs.sanctions_entry (address) values ('0x1')",
      "delete from ahs.sender_transaction",
      "delete from ahs.settlement",
      "insert into chain_31337.wallet values ('0x1')",
      "select * from index_31337_a1.block",
      "create schema chain_8453",
      "create table ahs.mine (id int)",
      "create temporary table mine (id int)",
      "select * from ahs.routing_policy",
    ],
  };
  test.each(ROLES)("as %s", async (role) => {
    const allowed: string[] = [];
    for (const statement of forbidden[role]) {
      const code = await as[role].$client.query(statement).then(
        () => "done",
        (error: { code?: string }) => error.code,
      );
      if (code !== INSUFFICIENT_PRIVILEGE) allowed.push(`${statement}: ${code}`);
    }
    expect(allowed).toEqual([]);
  });
});

test("no role can run a function of large objects, with or without its group", async () => {
  const statement = `select oid::regprocedure::text as name, has_function_privilege(oid, 'execute') as can from pg_proc
    where pronamespace = 'pg_catalog'::regnamespace and proname ~ $1`;
  for (const role of ROLES) {
    const client = new Client({ connectionString: urlForRole(database.url, role) });
    await client.connect();
    for (const become of ["select 1", "reset role"]) {
      await client.query(become);
      const { rows } = await client.query<{ name: string; can: boolean }>(statement, [
        LARGE_OBJECT_FUNCTIONS,
      ]);
      expect(rows.length).toBeGreaterThanOrEqual(20);
      expect(rows.filter(({ can }) => can)).toEqual([]);
      for (const call of ["lo_from_bytea(0, 'a')", "lo_create(0)", "lowrite(0, 'a')", "lo_put(1, 0, 'a')"])
        await expect(client.query(`select ${call}`)).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
    }
    await client.end();
  }
});

test("a process is the role that it logs in for, and sees that the database is migrated", async () => {
  for (const role of ROLES) {
    await requireMigrated(as[role]);
    const { rows } = await as[role].$client.query(
      "select current_user as name, rolsuper from pg_roles where rolname = current_user",
    );
    expect(rows).toEqual([{ name: role, rolsuper: false }]);
  }
});

test("a server sells keys, and queues a transaction without reading signed ones", async () => {
  const wanted = { name: "sold", partner: false, balanceUnits: 1, expiresAt: null };
  const { key } = await createApiKey(as.ahs_serve, wanted, {
    randomBytes: (size) => Buffer.alloc(size, 1),
    randomUuid: () => "00000000-0000-4000-8000-000000000001",
  });
  expect(key.name).toBe("sold");
  const call = { chainId: 1, sender: "0x1", to: "0x2", data: "0x", value: 0n } as const;
  expect(
    await enqueueTransaction(as.ahs_serve, { ...call, reference: "r", purpose: "x402" }),
  ).toBeGreaterThan(0);
});

test("a new build of the index is readable without a further grant", async () => {
  await createIndexBuild(as.ahs_index.$client, { schema: "index_31337_b2", ...BUILD, newest: 10 });
  await showBuild(as.ahs_index.$client, { chainId: CHAIN_ID, schema: "index_31337_b2" });
  for (const role of ["ahs_serve", "ahs_work"] as const) {
    const { rows } = await as[role].$client.query(
      "select max(number)::int as newest, max(hash) as hash from chain_31337.block",
    );
    expect(rows).toEqual([{ newest: 10, hash: "of index_31337_b2" }]);
  }
});

test("the indexer knows of transactions of others, whose end it waits for", async () => {
  const before = await readTransactions(as.ahs_index.$client);
  const client = await as.ahs_work.$client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select 1");
  const during = await readTransactions(as.ahs_index.$client);
  await client.query("commit");
  client.release();
  expect(during.filter((id) => !before.includes(id))).toHaveLength(1);
});

test("the indexer moves its mark, and clears a replaced chain", async () => {
  await advanceChainMark(as.ahs_index, CHAIN_ID, { blockNumber: 5, blockHash: "0x5", generation: "first" });
  await resetChain(as.ahs_index, CHAIN_ID);
  const { rows } = await owner.$client.query(
    `select nspname from pg_namespace where nspname ~ '^(index|chain)_31337' or nspname = 'ponder_sync'
     union all select 'mark' from ahs.chain_mark`,
  );
  expect(rows).toEqual([]);
});

test("an index made before there were roles is handed over, however many make the roles at once", async () => {
  await createIndexBuild(owner.$client, { schema: "index_31337_c3", ...BUILD });
  await showBuild(owner.$client, { chainId: CHAIN_ID, schema: "index_31337_c3" });
  const clients = await Promise.all([
    owner.$client.connect(),
    owner.$client.connect(),
    owner.$client.connect(),
  ]);
  await Promise.all(clients.map(createRoles));
  for (const client of clients) client.release();
  await Promise.all([migrateDatabase(owner), migrateDatabase(owner)]);
  await as.ahs_index.$client.query(
    "update index_31337_c3.block set hash = 'indexed on'; drop view chain_31337.wallet",
  );
  expect((await as.ahs_serve.$client.query("select 1 from chain_31337.block")).rowCount).toBe(9);
});

describe("an indexer that is taken over", () => {
  const SENDER = {
    chainId: CHAIN_ID,
    sender: "0x00000000000000000000000000000000000000a1",
    retryMs: 100,
    statementTimeoutMs: 5_000,
  } as const;

  beforeAll(async () => {
    for (const role of ROLES) await plantFunctions(role);
  });

  test("cannot make others run its functions that are named like those of PostgreSQL", async () => {
    for (const db of [as.ahs_serve, as.ahs_work]) {
      await db.transaction((tx) => holdChain(tx, CHAIN_ID));
      await readBuilds(db.$client, CHAIN_ID);
    }
    const databaseUrl = urlForRole(database.url, "ahs_work");
    const session = await tryOpenSenderSession({ ...SENDER, databaseUrl });
    await session?.release();
    expect(session).not.toBeNull();
  });

  test("has no user of a role run it either, whatever it connects with", async () => {
    for (const role of ROLES) {
      const client = new Client({ connectionString: urlForRole(database.url, role) });
      await client.connect();
      const { rows } = await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", ["a"]);
      expect(rows).toHaveLength(1);
      await client.end();
    }
  });

  /** A schema that PostgreSQL looks into first for that user, with functions that fit our calls better than its own. */
  async function plantFunctions(role: RoleName): Promise<void> {
    const { $client } = as.ahs_index;
    const body = "as $$ begin raise exception 'run as %', current_user; end $$";
    await $client.query(`create schema ${role}`);
    await $client.query(`grant usage on schema ${role} to public`);
    for (const call of ["hashtextextended(text, integer)", "hashtext(name)"]) {
      await $client.query(`create function ${role}.${call} returns bigint language plpgsql ${body}`);
    }
  }
});
