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
      timestamp numeric, transaction_hash text);
    insert into chain_7.job values ('${ESCROW}:8', '${PROVIDER}');
    insert into chain_7.verdict_event
    select 'v' || n, '${ESCROW}', n, 1 + n % 3, case when n % 3 < 2 then 90 end, n, 1000 + n, '${HASH}'
    from generate_series(1, 8) n;`);
  const reader = (chainId: number) => createSettledVerdictReader(db, { chainId, monotonicMs: () => 0 })();
  const found = await reader(7);
  expect(found).toHaveLength(6);
  expect(found.slice(0, 2)).toEqual([
    {
      ...{ escrow: ESCROW, jobId: 8n, decision: "HOLD", score: null, provider: PROVIDER },
      ...{ at: new Date(1_008_000), transactionHash: HASH },
    },
    {
      ...{ escrow: ESCROW, jobId: 7n, decision: "REJECT", score: 90, provider: null },
      ...{ at: new Date(1_007_000), transactionHash: HASH },
    },
  ]);
  expect(await reader(1)).toEqual([]);
});
