import { expect, it } from "vitest";
import { createSettledVerdictReader } from "../../../../service/verification/escrow/settled-verdicts.ts";
import { useDatabase } from "../../../support/test-database.ts";

const ESCROW = `0x${"e5".repeat(20)}`;
const PROVIDER = `0x${"aa".repeat(20)}`;
const HASH = `0x${"02".repeat(32)}`;
const db = useDatabase();

it("the newest verdicts of the evaluator come with the provider of their job, none while the index has no tables", async () => {
  await db.$client.query(`
    create schema chain_7;
    create table chain_7.job (id text primary key, provider text);
    create table chain_7.verdict_event (id text, escrow text, job_id numeric, decision int, score int, block numeric,
      timestamp numeric, transaction_hash text, evidence_hash text);
    insert into chain_7.job values ('${ESCROW}:8', '${PROVIDER}');
    insert into chain_7.verdict_event
    select 'v' || n, '${ESCROW}', n, 1 + n % 3, case when n % 3 < 2 then 90 end, n, 1000 + n, '${HASH}', '${HASH}'
    from generate_series(1, 8) n;`);
  const reader = (chainId: number) => createSettledVerdictReader(db, { chainId, monotonicMs: () => 0 })();
  const found = await reader(7);
  expect(found).toHaveLength(6);
  expect(found.slice(0, 2)).toEqual([
    {
      ...{ escrow: ESCROW, jobId: 8n, decision: "HOLD", score: null, provider: PROVIDER },
      ...{ at: new Date(1_008_000), transactionHash: HASH, verdictId: null },
    },
    {
      ...{ escrow: ESCROW, jobId: 7n, decision: "REJECT", score: 90, provider: null },
      ...{ at: new Date(1_007_000), transactionHash: HASH, verdictId: null },
    },
  ]);
  expect(await reader(1)).toEqual([]);
});

it("name their verdict on the local chain alone, since its id gives access to it", async () => {
  const verdictId = "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90";
  await db.$client.query(`
    insert into ahs.job_spec (id, client_addr, domain, spec_hash, created_at)
    values ('${verdictId}', '${PROVIDER}', 'default', '${HASH}', now());
    insert into ahs.verdict (id, spec_id, slot, output_hash, submitted_by, submitter_addr, provider_addr, owner, units, status,
      not_before, cause, created_at, updated_at)
    values ('${verdictId}', '${verdictId}', 's', '${HASH}', 'client', '${PROVIDER}', '${PROVIDER}', 'key:a', 500, 'completed',
      now(), 'submitted', now(), now());
    insert into ahs.verdict_run (verdict_id, run, cause, final_verdict, result, evidence, evidence_hash, created_at)
    values ('${verdictId}', 1, 'submitted', 'ALLOW', '{}', '{}', '${HASH}', now());
    create schema chain_31337;
    create table chain_31337.job (like chain_7.job);
    create table chain_31337.verdict_event as select * from chain_7.verdict_event;`);
  const idsOf = async (chainId: number) => {
    const found = await createSettledVerdictReader(db, { chainId, monotonicMs: () => 0 })();
    return new Set(found.map((one) => one.verdictId));
  };
  expect(await idsOf(31_337)).toEqual(new Set([verdictId]));
  expect(await idsOf(7)).toEqual(new Set([null]));
});
