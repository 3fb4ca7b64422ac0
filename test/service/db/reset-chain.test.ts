import { afterEach, beforeEach, expect, test } from "vitest";
import { holdChain } from "../../../service/db/chain-fence.ts";
import { resetChain } from "../../../service/db/reset-chain.ts";
import { scoreNow } from "../../../service/scores/score-on-demand.ts";
import { account } from "../model/features/histories.ts";
import { CHAIN_ID, createRecordWorld, type RecordWorld } from "../scores/record-world.ts";

let world: RecordWorld;

beforeEach(async () => {
  world = await createRecordWorld();
});
afterEach(() => world.close());

test("a reset clears the scores and the index of the chain", async () => {
  await world.follow(account(1), 1);
  await scoreNow(world.context, account(1));
  expect(await world.countScores()).toBe(1);
  await world.db.$client.query("create schema index_31337_abc; create schema index_313370_abc");
  await resetChain(world.db, CHAIN_ID);
  expect(await world.countScores()).toBe(0);
  const { rows } = await world.db.$client.query(
    "select schema_name from information_schema.schemata where schema_name like '%31337%'",
  );
  expect(rows).toEqual([{ schema_name: "index_313370_abc" }]);
});

test("of the tables of a replaced chain only those stay that callers paid for or asked for", async () => {
  expect(await tablesLeft(CHAIN_ID)).toEqual([
    "alert_subscription",
    "payment",
    "unfollowed",
    "wallet_interest",
  ]);
});

test("of any other chain all rows stay that cannot be read from it again", async () => {
  expect(await tablesLeft(OTHER_CHAIN)).toEqual([
    "agent_document",
    "alert_subscription",
    "appeal",
    "enrolment",
    "epoch",
    "feedback",
    "hold_clock",
    "own_call",
    "payment",
    "payment_channel",
    "probe",
    "probe_schedule",
    "publish_intent",
    "scan_grade",
    "scan_run",
    "score",
    "sender_transaction",
    "settlement",
    "settlement_check",
    "stored_history",
    "unfollowed",
    "validation_request",
    "wallet_interest",
  ]);
});

test("on any other chain own calls go that enrichment found, and scores are taken back that wait to be published", async () => {
  await fill("score", OTHER_CHAIN);
  await world.db.$client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value, ok,
       gas_limit, gas_used, gas_price_wei, fee_wei)
     select ${OTHER_CHAIN}, '0x1', 1, 0, position, '0x', 'transaction', source, 1, 0, true, 1, 1, 1, 1
     from (values (0, 'enrich'), (1, 'explorer')) as told (position, source)`,
  );
  await world.db.$client.query(
    `insert into ahs.publish_intent (chain_id, wallet, score_id, reason, state)
     select ${OTHER_CHAIN}, state, score.id, 'move', state from ahs.score, unnest(array['pending', 'sent']) as told (state)`,
  );
  await resetChain(world.db, OTHER_CHAIN);
  const { rows } = await world.db.$client.query(
    `select (select array_agg(source) from ahs.own_call) as calls,
       (select array_agg(state order by id) from ahs.publish_intent) as intents`,
  );
  expect(rows).toEqual([{ calls: ["explorer"], intents: ["superseded", "sent"] }]);
});

/** Of the tables with a column for the chain, each with a row of it, those that a reset leaves with rows. */
async function tablesLeft(chainId: number): Promise<readonly string[]> {
  const { rows } = await world.db.$client.query<{ table_name: string }>(
    `select table_name from information_schema.columns
     where table_schema = 'ahs' and column_name = 'chain_id' order by table_name`,
  );
  for (const { table_name } of rows) await fill(table_name, chainId);
  await resetChain(world.db, chainId);
  const left: string[] = [];
  for (const { table_name } of rows) {
    const { rowCount } = await world.db.$client.query(
      `select 1 from ahs."${table_name}" where chain_id = $1`,
      [chainId],
    );
    if (rowCount !== 0) left.push(table_name);
  }
  return left;
}

test("clears rows of the chain that are written while it is reset", async () => {
  let isReset = false;
  let reset: Promise<void> = Promise.resolve();
  await world.db.transaction(async (tx) => {
    await holdChain(tx, CHAIN_ID);
    reset = resetChain(world.db, CHAIN_ID).then(() => {
      isReset = true;
    });
    await waitingForLock();
    expect(isReset).toBe(false);
    await tx.execute(
      `insert into ahs.chain_mark (chain_id, block_number, block_hash, generation) values (${CHAIN_ID}, 1, '0x', 'old')`,
    );
  });
  await reset;
  expect((await world.db.$client.query("select * from ahs.chain_mark")).rows).toEqual([]);
});

test("verdicts of a replaced local chain stay, without their jobs and with their slots free", async () => {
  await boundVerdict();
  await resetChain(world.db, CHAIN_ID);
  const { rows: verdicts } = await world.db.$client.query(
    "select replaced_at is not null as replaced, job_chain_id from ahs.verdict",
  );
  expect(verdicts).toEqual([{ replaced: true, job_chain_id: CHAIN_ID }]);
  const { rows: specs } = await world.db.$client.query(
    "select spec_text, job_chain_id, job_escrow, job_id, registered_block from ahs.job_spec",
  );
  expect(specs).toEqual([
    { spec_text: "Translate.", job_chain_id: null, job_escrow: null, job_id: null, registered_block: null },
  ]);
  const { rows: signed } = await world.db.$client.query("select id from ahs.settlement");
  expect(signed).toEqual([]);
});

test("on any other chain no reset deletes the verdicts signed for a job", async () => {
  await boundVerdict(OTHER_CHAIN);
  await resetChain(world.db, OTHER_CHAIN);
  const { rows } = await world.db.$client.query(
    `select s.chain_id, v.replaced_at, p.job_id from ahs.settlement s
     join ahs.verdict v on v.id = s.verdict_id join ahs.job_spec p on p.id = v.spec_id`,
  );
  expect(rows).toEqual([{ chain_id: OTHER_CHAIN, replaced_at: null, job_id: "7" }]);
});

test("on any other chain decisions that are not signed are looked at anew, those beyond signing among them", async () => {
  await boundVerdict(OTHER_CHAIN);
  await world.db.$client.query(
    `insert into ahs.settlement_check (verdict_id, chain_id, run, status, reason, attempts, not_before, checked_at)
     select id, job_chain_id, 1, 'refused', 'the job is over', 5, null, now() from ahs.verdict`,
  );
  await resetChain(world.db, OTHER_CHAIN);
  const { rows } = await world.db.$client.query(
    "select status, reason, attempts, not_before <= now() as due from ahs.settlement_check",
  );
  expect(rows).toEqual([{ status: "waiting", reason: null, attempts: 0, due: true }]);
});

const OTHER_CHAIN = 8453;

/** A verdict on job 7 of an escrow, signed. */
async function boundVerdict(chainId: number = CHAIN_ID): Promise<void> {
  await world.db.$client.query(
    `with spec as (
       insert into ahs.job_spec (id, client_addr, spec_text, domain, spec_hash, job_chain_id, job_escrow, job_id,
         registered_block, created_at)
       values (gen_random_uuid(), '0xc1', 'Translate.', 'content', '0xab', $1, '0xe5', 7, 1, now()) returning id
     ), made as (
       insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units,
         status, not_before, cause, runs, final_verdict, job_chain_id, job_escrow, job_id, created_at, updated_at)
       select gen_random_uuid(), id, 'job:7', '0xcd', 'agent', '0xa9', '0xa9', 'key:1', 500,
         'completed', now(), 'submitted', 1, 'ALLOW', $1, '0xe5', 7, now(), now() from spec returning id
     )
     insert into ahs.settlement (chain_id, escrow, job_id, verdict_id, run, decision, deliverable, spec_hash, score,
       confidence_bps, evidence_hash, issued_at, deadline, evaluator, signer, signature, state, created_at, updated_at)
     select $1, '0xe5', 7, id, 1, 'ALLOW', '0xcd', '0xab', 80, 8000, '0xef', 1, 2, '0xea', '0x51', '0x', 'confirmed', now(), now()
     from made`,
    [chainId],
  );
}

async function waitingForLock(): Promise<void> {
  const waiters = async () => {
    const { rowCount } = await world.db.$client.query(
      `select from pg_locks where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    return rowCount;
  };
  await expect.poll(waiters).toBe(1);
}

/** One row of the chain, unless it has one, with whatever its columns take; what refers to other rows refers to row 1. */
async function fill(table: string, chainId: number): Promise<void> {
  const { rows } = await world.db.$client.query<{ name: string; type: string; identity: string }>(
    `select column_name as name, udt_name as type, is_identity as identity from information_schema.columns
     where table_schema = 'ahs' and table_name = $1 and is_nullable = 'NO' and column_name <> 'chain_id'`,
    [table],
  );
  const columns = rows.filter(({ identity }) => identity === "NO");
  const names = ["chain_id", ...columns.map(({ name }) => name)].map((name) => `"${name}"`).join(", ");
  const values = [chainId, ...columns.map(({ type }) => VALUES[type])].join(", ");
  const client = await world.db.$client.connect();
  // Rows may come before what they refer to.
  await client.query("set session_replication_role = replica");
  await client.query(`insert into ahs."${table}" (${names}) values (${values}) on conflict do nothing`);
  await client.query("set session_replication_role = default");
  client.release();
}

const VALUES: Readonly<Record<string, string>> = {
  date: "current_date",
  int4: "1",
  int8: "1",
  numeric: "1",
  text: "'1'",
  bool: "false",
  jsonb: "'[]'",
  timestamptz: "now()",
  _text: "'{}'",
  uuid: "gen_random_uuid()",
};
