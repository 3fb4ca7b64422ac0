import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../../../bin/commands/snapshot.ts";
import { parseConfig } from "../../../bin/config.ts";
import { makeCache } from "../../../bin/indexer/make-cache.ts";
import { type Deployment, writeDeployment } from "../../../service/chain/deployments.ts";
import { readChainMark } from "../../../service/db/chain-fence.ts";
import type { Database } from "../../../service/db/database.ts";
import { TABLE_RIGHTS } from "../../../service/db/role-rights.ts";
import { SNAPSHOT_TABLES } from "../../../service/db/snapshot.ts";
import { decodeFrames, encodeFrame, type Frame, type FrameKind } from "../../../service/db/table-file.ts";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { readInputFile } from "../../../service/scores/scores.ts";
import { account } from "../../service/model/features/histories.ts";
import { blockHash } from "../../service/model/features/index-tables.ts";
import {
  CHAIN_ID,
  createRecordWorld,
  FINALIZED,
  type RecordWorld,
} from "../../service/scores/record-world.ts";
import { startLoopbackServer } from "../../support/loopback-server.ts";
import {
  createTestDatabase,
  openMigrated,
  type TestDatabase,
  urlForRole,
} from "../../support/test-database.ts";
import { useFolder } from "../../support/use-folder.ts";

const OTHER_CHAIN = 5;
const MARK = { blockNumber: FINALIZED, blockHash: blockHash(FINALIZED) };
const WALLET = account(1);
const CONTRACT = { address: "0x000000000000000000000000000000000000dEaD", startBlock: 0 } as const;
const DEPLOYMENT: Deployment = {
  chainId: CHAIN_ID,
  name: "a chain",
  startBlock: 1,
  finalityBlocks: 1,
  identityRegistry: CONTRACT,
  sanctionsList: null,
  oracle: CONTRACT,
  verdictEvaluator: null,
  assuranceAccounts: null,
  escrows: [],
  registries: [],
  reputationRegistry: null,
  validationRegistry: null,
  usdc: null,
  market: { native: { symbol: "ETH", decimals: 18, feed: null }, wrappedNative: null, tokens: [] },
  accounts: { entryPoints: [], publicFunders: [], mixers: [], venues: [], vettedServices: [] },
  staticWallets: [],
};

const folder = useFolder();
let world: RecordWorld;
let target: TestDatabase & { readonly db: Database };
let node: Awaited<ReturnType<typeof startLoopbackServer>>;
/** Of the node's block at the mark. */
let hashAtMark: string | null = MARK.blockHash;
let created: readonly string[];
let frames: readonly Frame[];

beforeAll(async () => {
  node = await startLoopbackServer(async (request, response) => {
    const { id } = (await json(request)) as { id: number };
    const result = hashAtMark === null ? null : { number: "0x14", hash: hashAtMark, transactions: [] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const database = await createTestDatabase();
  target = { ...database, db: openMigrated(database.url) };
  world = await createRecordWorld();
  await seed();
  created = await snapshot("create", { url: world.url });
  frames = await readFrames(zstdDecompressSync(readFileSync(join(folder, "chain.snapshot"))));
});
afterAll(async () => {
  await Promise.all([world.close(), target.db.$client.end(), node.close()]);
  await target.drop();
});

/** A wallet with calls, its score and its files; rows of the indexer's cache, and rows that belong in no snapshot. */
async function seed(): Promise<void> {
  await makeCache(world.url);
  await world.follow(WALLET, 1);
  for (let block = 2; block <= FINALIZED; block += 1) await world.call(WALLET, block, account(block));
  await world.learn(WALLET);
  await scoreNow(world.context, WALLET);
  await world.query(`
    insert into ahs.chain_mark values (${CHAIN_ID}, ${MARK.blockNumber}, '${MARK.blockHash}', 'first'), (${OTHER_CHAIN}, 1, '0x1', 'other');
    insert into ahs.enrich_cursor values (${OTHER_CHAIN}, 1, '0x1');
    insert into ahs.feed_price values (${CHAIN_ID}, '0xfe', 1, 1, 12345678901234567890, 8);
    insert into ahs.wallet_interest values (${CHAIN_ID}, '${WALLET}', now());
    insert into ahs.enrich_reading values (${CHAIN_ID}, 'chain', 1, 2, 0, null);
    insert into ponder_sync.factories (factory)
      select jsonb_build_object('chainId', id) from unnest(array[${OTHER_CHAIN}, ${CHAIN_ID}]) id;
    insert into ponder_sync.factory_addresses (factory_id, chain_id, block_number, address) values (2, ${CHAIN_ID}, 1, '${WALLET}');
    insert into ponder_sync.intervals (fragment_id, chain_id, blocks) values ('fragment', ${CHAIN_ID}, '{[1,20]}'), ('other', ${OTHER_CHAIN}, '{[1,20]}');
    insert into ponder_sync.logs (chain_id, block_number, log_index, transaction_index, block_hash, transaction_hash, address, data)
      select ${CHAIN_ID}, n, 0, 0, '0x1', '0x1', '0xa', repeat(n::text, 9000) from generate_series(1, 20) n`);
}

type Run = { readonly url?: string; readonly file?: string; readonly deployment?: Partial<Deployment> };

async function snapshot(action: "create" | "restore", options: Run = {}): Promise<readonly string[]> {
  const { url = target.url, file = join(folder, "chain.snapshot") } = options;
  const deploymentFile = join(folder, "deployment.json");
  writeDeployment(deploymentFile, { ...DEPLOYMENT, ...options.deployment });
  const config = parseConfig({ DATABASE_URL: url, RPC_URL: node.origin, AHS_DEPLOYMENT: deploymentFile });
  const lines: string[] = [];
  await run({ config, args: [action, file], out: (line) => lines.push(line) });
  return lines;
}

async function readFrames(bytes: Buffer): Promise<Frame[]> {
  const read: Frame[] = [];
  for await (const frame of decodeFrames(inPieces(bytes))) read.push(frame);
  return read;
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** The snapshot with other frames, packed. */
function packed(changed: readonly Frame[] = frames): Buffer {
  return zstdCompressSync(
    Buffer.concat(changed.map(({ kind, payload }) => encodeFrame(kind, Buffer.from(payload)))),
  );
}

/** With other members in the first frame of a kind. */
function withMembers(kind: FrameKind, members: object): Buffer {
  const place = frames.findIndex((frame) => frame.kind === kind);
  return packed(
    frames.map((frame, index) =>
      index === place
        ? {
            kind,
            payload: Buffer.from(JSON.stringify({ ...JSON.parse(frame.payload.toString()), ...members })),
          }
        : frame,
    ),
  );
}

/** With other text in the rows. */
function withRows(before: string, after: string): Buffer {
  const changed = frames.map((frame) =>
    frame.kind === "rows"
      ? { ...frame, payload: Buffer.from(frame.payload.toString().replaceAll(before, after)) }
      : frame,
  );
  return packed(changed);
}

/** Digests of all tables of both schemas, without what each database has of its own. */
async function digests(db: Database, only: string): Promise<Record<string, string>> {
  const { rows } = await db.$client.query<{ name: string; digest: string }>(
    `select table_schema || '.' || table_name as name, (xpath('//d/text()', query_to_xml(format(
       'select md5(string_agg((to_jsonb(t) - ''generation'' - ''updated_at'')::text, '','' order by t::text)) as d from %I.%I t %s',
       table_schema, table_name, $1::text), true, false, '')))[1]::text as digest
     from information_schema.tables where table_schema = 'ahs' and table_name = any($2) order by 1`,
    [only, SNAPSHOT_TABLES.filter((table) => table !== "input_file")],
  );
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

async function rowsIn(db: Database): Promise<Record<string, number>> {
  const { rows } = await db.$client.query<{ name: string; rows: number }>(
    `select table_name as name, (xpath('//n/text()', query_to_xml(format(
       'select count(*) as n from %I.%I', table_schema, table_name), true, false, '')))[1]::text::int as rows
     from information_schema.tables where table_schema in ('ahs', 'ponder_sync')
       and table_name !~ 'migration' order by 1`,
  );
  return Object.fromEntries(rows.filter((row) => row.rows > 0).map((row) => [row.name, row.rows]));
}

test("every table is in snapshots, or belongs to this database alone", () => {
  const inSnapshots: ReadonlySet<string> = new Set(SNAPSHOT_TABLES);
  expect(Object.keys(TABLE_RIGHTS).filter((table) => !inSnapshots.has(table))).toEqual([
    // Of its own work: what it reads, what failed, what it visited, what it sent.
    ...["migration", "enrich_death", "enrich_reading"],
    ...["agent_document", "document_day", "probe", "probe_schedule", "scan_grade", "scan_run"],
    ...["quarantine", "epoch", "enrolment", "feedback", "validation_request"],
    ...["publish_intent", "sender_transaction", "unfollowed"],
    // Of callers, and lists that operators import under their own licences.
    ...["routing_promise", "wallet_interest", "wallet_label"],
    ...["sanctions_entry", "sanctions_source", "threat_entry", "threat_list"],
    ...["api_key", "key_credit", "key_debit", "payment", "payment_channel"],
    ...["idempotent_answer", "rate_bucket", "sign_in_nonce"],
    ...["routing_policy", "alert_subscription", "webhook_endpoint", "webhook_event", "webhook_attempt"],
    ...["job_spec", "verdict", "output_text", "held_evidence", "role_call", "text_erasure", "verdict_run"],
    ...["settlement", "settlement_check", "appeal", "hold_clock"],
  ]);
});

const NOTHING: readonly Frame[] = [];

test.each<[string, () => Buffer, RegExp]>([
  ["empty", () => Buffer.alloc(0), /no snapshot, or a broken one: unexpected end of file/],
  ["no packed file", () => Buffer.from("no snapshot"), /no snapshot, or a broken one/],
  ["packed text", () => zstdCompressSync(Buffer.from("no snapshot at all")), /no file of ours/],
  ["without a frame", () => packed(NOTHING), /cut off/],
  ["cut within its packing", () => packed().subarray(0, -9), /broken one: unexpected end of file/],
  ["cut within the header", () => packed(frames.slice(0, 1)), /cut off/],
  ["cut within a table", () => packed(frames.slice(0, 12)), /cut off/],
  ["without its end", () => packed(frames.slice(0, -1)), /cut off/],
  ["longer than its end", () => packed([...frames, ...frames.slice(-1)]), /goes on after its end/],
  [
    "a huge header",
    () => withMembers("begin", { padding: "x".repeat(2 ** 20) }),
    /no file of ours, or a broken/,
  ],
  [
    "a backup",
    () => withMembers("begin", { format: "agent-health-backup" }),
    /is "agent-health-backup" 1, and/,
  ],
  [
    "of a later version",
    () => withMembers("begin", { version: 2 }),
    /is "agent-health-snapshot" 2, and this/,
  ],
  ["with a header of other types", () => withMembers("begin", { mark: 7 }), /begin: [\s\S]*mark/],
  ["of another chain", () => withMembers("begin", { chainId: 8453 }), /its chain is 8453, expected 31337/],
  [
    "of another schema",
    () => withMembers("begin", { migrations: ["ab"] }),
    /schema is "1 migrations, [\s\S]*expected/,
  ],
  [
    "of another indexer",
    () => withMembers("begin", { ponder: "0.16.10" }),
    /indexer is "0.16.10", expected "0/,
  ],
  [
    "with another table",
    () => withMembers("table", { table: "api_key" }),
    /table should be blocks, and is api_key/,
  ],
  ["with other columns", () => withMembers("table", { columns: ["number"] }), /columns of blocks should be/],
  ["with another count", () => withMembers("end", { rows: 9 }), /rows of blocks should be 9, and is 0/],
  [
    "with another header",
    () => withMembers("begin", { takenAt: "2026-01-01T00:00:00Z" }),
    /digest should be/,
  ],
  [
    "with changed rows",
    () => withRows("12345678901234567890", "12345678901234567891"),
    /digest of feed_price/,
  ],
  [
    "with rows that are none",
    () => withRows("12345678901234567890", "many"),
    /rows of feed_price: invalid input/,
  ],
  ["with rows of another chain", () => withRows("31337\t0xfe", "8453\t0xfe"), /feed_price/],
])("a file that is %s is refused", async (_, bytes, fault) => {
  const file = join(folder, "faulty.snapshot");
  writeFileSync(file, bytes());
  await expect(snapshot("restore", { file })).rejects.toThrow(fault);
});

test("another deployment, node or database is refused, and no refused file leaves a row", async () => {
  const native = { symbol: "XYZ", decimals: 18, feed: null };
  const other = {
    startBlock: 7,
    sample: { everyBlocks: 9, blocks: 1 },
    market: { ...DEPLOYMENT.market, native },
  };
  await expect(snapshot("restore", { deployment: other })).rejects.toThrow(
    new RegExp(
      `its deployment's startBlock is ${DEPLOYMENT.startBlock}, expected 7; its deployment's market is .*"XYZ".*; its deployment's sample is .*10800.*, expected .*9,`,
    ),
  );
  hashAtMark = "0xab";
  await expect(snapshot("restore")).rejects.toThrow(`block 20 is "${MARK.blockHash}"; the node's is 0xab`);
  hashAtMark = null;
  await expect(snapshot("restore")).rejects.toThrow("the node's is not there yet");
  hashAtMark = MARK.blockHash;
  await expect(snapshot("restore", { url: world.url })).rejects.toThrow(
    "the database has the index chain_31337",
  );
  expect(await rowsIn(target.db)).toEqual({});
  await target.db.$client.query("insert into ahs.feed_price values (5, '0xfe', 1, 1, 1, 8)");
  await expect(snapshot("restore")).rejects.toThrow("ahs.feed_price has rows: expected an empty table");
  await target.db.$client.query("delete from ahs.feed_price");
  await expect(snapshot("create", { file: join(folder, "other") })).rejects.toThrow(
    "no final block of chain 31337",
  );
  expect(await rowsIn(target.db)).toEqual({});
});

test("a snapshot fills another operator's database, whose records, files and numbers go on from it", async () => {
  const file = join(folder, "chain.snapshot");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // The oracle and what the model knows by name may be another operator's own.
  const own = { oracle: { ...CONTRACT, startBlock: 9 }, name: "another operator's" };
  const restored = await snapshot("restore", { deployment: own });
  expect(created.slice(0, 3)).toEqual(restored.slice(-4, -1));
  expect(await rowsIn(target.db)).toMatchObject({
    factories: 1,
    intervals: 1,
    logs: 20,
    score: 1,
    enrich_cursor: 1,
  });
  expect(Object.keys(await rowsIn(target.db))).not.toContain("wallet_interest");
  expect(await digests(target.db, "")).toEqual(await digests(world.db, `where chain_id = ${CHAIN_ID}`));
  const { generation, ...mark } = (await readChainMark(target.db, CHAIN_ID)) ?? {};
  expect(mark).toEqual(MARK);
  expect(generation).toMatch(/^[0-9a-f-]{36}$/);
  for (const [hash, content] of await inputFiles())
    expect(await readInputFile(target.db, hash)).toEqual(content);
  // As the indexer's own user, which goes on with what it fetched.
  const indexer = openMigrated(urlForRole(target.url, "ahs_index"));
  const { rows } = await indexer.$client.query(
    "insert into ponder_sync.factories (factory) values ('{}') returning id",
  );
  await indexer.$client.end();
  expect(rows).toEqual([{ id: 3 }]);
});

async function inputFiles(): Promise<readonly [`0x${string}`, unknown][]> {
  const { rows } = await world.db.$client.query("select hash, content from ahs.input_file");
  expect(rows.length).toBeGreaterThan(0);
  return rows.map(({ hash, content }) => [hash, content]);
}
