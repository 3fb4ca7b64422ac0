import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { sweepOnce } from "../../../../bin/work/verification.ts";
import { useDatabase } from "../../../support/test-database.ts";
import {
  CHAIN_ID,
  clearIntake,
  ESCROW,
  intakeWorld,
  type Submitted,
} from "../../api/verification/intake-world.ts";

const DAY_MS = 86_400_000;
const db = useDatabase();
afterEach(() => clearIntake(db));

const sweep = (days: number) =>
  sweepOnce({
    db,
    chainId: CHAIN_ID,
    now: () => new Date(Date.now() + days * DAY_MS),
    retentionDays: 90,
  });

async function idsOfSpecs(): Promise<string[]> {
  const { rows } = await db.$client.query<{ id: string }>("select id from ahs.job_spec order by id");
  return rows.map(({ id }) => id);
}

describe("a specification without an output", () => {
  it("goes after a day where it names no job of an escrow", async () => {
    const world = intakeWorld(db);
    const used = await world.output();
    await world.submit(used, (await world.key()).headers);
    await world.registered();
    await world.registered({ erc8183_job_id: "0x7" });
    await sweep(0.9);
    expect(await idsOfSpecs()).toHaveLength(3);
    await sweep(1.1);
    expect(await idsOfSpecs()).toEqual([used.spec_id]);
  });

  it("that names a job is deleted once the job has ended, and stays while it runs or no index exists", async () => {
    const world = intakeWorld(db);
    const named = (erc8183_job_id: string) => world.registered({ erc8183_job_id, escrow: ESCROW });
    const [running, ended, unseen] = [await named("0x1"), await named("0x2"), await named("0x3")];
    await sweep(400);
    expect(await idsOfSpecs()).toHaveLength(3);
    const { $client } = db;
    await $client.query(`create schema chain_${CHAIN_ID}`);
    await $client.query(`create table chain_${CHAIN_ID}.job (id text, status text)`);
    await $client.query(`insert into chain_${CHAIN_ID}.job values ($1, 'Submitted'), ($2, 'Completed')`, [
      `${ESCROW.toLowerCase()}:1`,
      `${ESCROW.toLowerCase()}:2`,
    ]);
    await sweep(0);
    expect(await idsOfSpecs()).toHaveLength(3);
    await sweep(1.1);
    expect([await idsOfSpecs(), ended, unseen]).toEqual([[running], expect.any(String), expect.any(String)]);
    await $client.query(`drop schema chain_${CHAIN_ID} cascade`);
  });
});

describe("texts", () => {
  async function judged(status: string) {
    const world = intakeWorld(db);
    const output = await world.output();
    const { verdict_id: id } = (await (
      await world.submit(output, (await world.key()).headers)
    ).json()) as Submitted;
    await db.$client.query("update ahs.verdict set status = $2, evaluated_at = updated_at where id = $1", [
      id,
      status,
    ]);
    await db.$client.query(
      `insert into ahs.held_evidence (id, verdict_id, submitted_by, text, text_hash, created_at)
       values ($1, $2, 'key:x', 'more', '0x', now())`,
      [randomUUID(), id],
    );
    return id;
  }

  async function textsOf(id: string) {
    const { rows } = await db.$client.query(
      `select o.text is not null as output, s.spec_text is not null as spec, e.text is not null as evidence,
         s.texts_dropped_at is not null as dropped
       from ahs.verdict v join ahs.job_spec s on s.id = v.spec_id join ahs.held_evidence e on e.verdict_id = v.id
       left join ahs.output_text o on o.verdict_id = v.id where v.id = $1`,
      [id],
    );
    return rows[0];
  }

  const ALL_STORED = { output: true, spec: true, evidence: true, dropped: false };
  const GONE = { output: false, spec: false, evidence: false, dropped: true };

  it.each([
    ["completed", GONE],
    ["failed", GONE],
    ["pending", ALL_STORED],
    ["processing", ALL_STORED],
  ])("of a verdict that is %s, after their time of retention", async (status, after) => {
    const id = await judged(status);
    await sweep(89);
    expect(await textsOf(id)).toEqual(ALL_STORED);
    await sweep(91);
    expect(await textsOf(id)).toEqual(after);
  });

  it("of more verdicts than one statement drops all go at once, and those of the next day stay", async () => {
    const id = await judged("completed");
    const { $client } = db;
    await $client.query(
      `with made as (
         insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units,
           status, not_before, cause, runs, evaluated_at, created_at, updated_at)
         select gen_random_uuid(), v.spec_id, 'spec:' || n, v.output_hash, 'client', '0x', '0x', 'key:x', 500, 'completed',
           now(), 'submitted', 1, v.evaluated_at + case when n > 2500 then interval '1 day' else '0' end, v.created_at, now()
         from ahs.verdict v, generate_series(1, 2501) n where v.id = $1 returning id, created_at
       )
       insert into ahs.output_text (verdict_id, text, created_at) select id, 'Delivered.', created_at from made`,
      [id],
    );
    await sweep(90.5);
    const { rows } = await $client.query("select count(*)::int as left from ahs.output_text");
    expect(rows).toEqual([{ left: 1 }]);
    expect(await textsOf(id)).toMatchObject({ output: false, spec: true });
    await sweep(91.5);
    expect(await textsOf(id)).toEqual(GONE);
  });

  it.each(["its job ends", "a reviewer decides"])("stay while a job is held, until %s", async (end) => {
    const id = await judged("completed");
    await db.$client.query("update ahs.verdict set final_verdict = 'HOLD' where id = $1", [id]);
    await db.$client.query(
      `insert into ahs.hold_clock (verdict_id, chain_id, expires_at, rerun_at, review_by, created_at)
       values ($1, $2, now(), now(), now(), now())`,
      [id, CHAIN_ID],
    );
    await sweep(400);
    expect(await textsOf(id)).toEqual(ALL_STORED);
    await db.$client.query(
      end === "a reviewer decides"
        ? "update ahs.verdict set final_verdict = 'REJECT'"
        : "update ahs.hold_clock set ended_at = now()",
    );
    await sweep(400);
    expect(await textsOf(id)).toEqual(GONE);
  });
});
