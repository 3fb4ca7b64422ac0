import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { creditPayer } from "../../access/api-keys.ts";
import type { Database } from "../../db/database.ts";
import { viewOf } from "../../db/index-snapshot.ts";
import { MAX_RETRIES } from "./settle-intake.ts";

/**
 * Deletes specifications without a verdict that will not get one, and returns their number: those older than `before` that name no job, or a
 * job that the index never saw, and those older than `endedBefore` whose job has ended. None of them has lost its texts.
 */
export async function dropUnusedSpecs(
  db: Database,
  { chainId, before, endedBefore }: { chainId: number; before: Date; endedBefore: Date },
): Promise<number> {
  const unused = sql`not exists (select from ahs.verdict v where v.spec_id = s.id)`;
  const unnamed = await db.execute(sql`
    delete from ahs.job_spec s
    where s.job_escrow is null and s.spec_text is not null and s.created_at < ${before} and ${unused}`);
  if (!(await hasJobs(db, chainId))) return unnamed.rowCount ?? 0;
  const job = sql`select from ${viewOf(chainId, "job")} j where j.id = s.job_escrow || ':' || s.job_id`;
  const named = await db.execute(sql`
    delete from ahs.job_spec s
    where s.job_escrow is not null and s.job_chain_id = ${chainId} and s.spec_text is not null
      and s.created_at < ${before < endedBefore ? endedBefore : before} and ${unused} and (
      (s.created_at < ${endedBefore} and exists (${job} and j.status in ('Completed', 'Rejected', 'Expired')))
      or (s.created_at < ${before} and not exists (${job})))`);
  return (unnamed.rowCount ?? 0) + (named.rowCount ?? 0);
}

/** Condition that the index shows the end of a job; false without an index of its chain. */
export async function isJobEnded(
  db: NodePgDatabase,
  { chainId, escrow, jobId }: { chainId: number; escrow: SQL; jobId: SQL },
): Promise<SQL> {
  if (!(await hasJobs(db, chainId))) return sql`false`;
  return sql`exists (select from ${viewOf(chainId, "job")} j
    where j.id = ${escrow} || ':' || ${jobId} and j.status in ('Completed', 'Rejected', 'Expired'))`;
}

async function hasJobs(db: NodePgDatabase, chainId: number): Promise<boolean> {
  const { rows } = await db.execute<{ there: boolean }>(
    sql`select to_regclass(${`chain_${chainId}.job`}) is not null as there`,
  );
  return rows[0]?.there === true;
}

/** Verdicts that ended before a moment; a held one only after its job ended. */
const over = (before: Date) => sql`
  v.status in ('completed', 'failed') and coalesce(v.evaluated_at, v.updated_at) < ${before}
  and not (v.final_verdict is not distinct from 'HOLD'
    and exists (select from ahs.hold_clock h where h.verdict_id = v.id and h.ended_at is null))`;

/** Rows per statement, so that each stays below its time limit. */
const BATCH = 1_000;

/**
 * Gives the prices of failed verdicts that no retry can decide any more back to the wallets that paid them, once each, and returns their
 * number. Debits of keys and payments in the payment escrow went back when the run failed. One that fails leaves the others returned;
 * then the failures are thrown together.
 */
export async function returnFinalFailures(db: Database, now: Date): Promise<number> {
  const failures: unknown[] = [];
  const returned = await db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ paymentId: string; units: string }>(sql`
      select v.payment_id as "paymentId", v.units from ahs.verdict v join ahs.payment p on p.id = v.payment_id
      where v.status = 'failed' and v.runs = 0 and p.state in ('settled', 'answered') and p.capture_state is null
        and (v.retries >= ${MAX_RETRIES} or ${isReplaced} or not ${hasTexts})
        and not exists (select from ahs.key_credit c where c.id = v.payment_id)
      limit ${BATCH} for update of v skip locked`);
    for (const { paymentId, units } of rows) {
      const credited = tx.transaction((one) => creditPayer(one, { paymentId, units: Number(units), now }));
      await credited.catch((error: unknown) => failures.push(error));
    }
    return rows.length - failures.length;
  });
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} prices were not returned`);
  return returned;
}

/** An unpaid submission gives the slot back. */
const isReplaced = sql`(v.replaced_at is not null and not exists (
  select from ahs.verdict n where n.slot = v.slot and n.replaced_at is null and n.status = 'unsettled'))`;

const hasTexts = sql`(exists (select from ahs.output_text o where o.verdict_id = v.id)
  and exists (select from ahs.job_spec s where s.id = v.spec_id and s.spec_text is not null))`;

/**
 * Drops the texts of verdicts that ended before a moment, and of specifications whose verdicts all lost theirs. Hashes, findings and
 * decisions stay. Returns the number of outputs.
 */
export async function dropOldTexts(
  db: Database,
  { before, now }: { before: Date; now: Date },
): Promise<number> {
  const outputs = await inBatches(db, dropOutputs(before));
  await inBatches(db, dropEvidence(before));
  await inBatches(db, dropSpecTexts(before, now));
  return outputs;
}

/** An output is older than the end of its verdict, so only older ones are read. */
const dropOutputs = (before: Date) => sql`
  delete from ahs.output_text where verdict_id in (
    select o.verdict_id from ahs.output_text o join ahs.verdict v on v.id = o.verdict_id
    where o.created_at < ${before} and ${over(before)}
    order by o.created_at limit ${BATCH} for update of o skip locked)`;

const dropEvidence = (before: Date) => sql`
  update ahs.held_evidence set text = null where id in (
    select e.id from ahs.held_evidence e join ahs.verdict v on v.id = e.verdict_id
    where e.text is not null and e.created_at < ${before} and ${over(before)}
    order by e.created_at limit ${BATCH} for update of e skip locked)`;

const dropSpecTexts = (before: Date, now: Date) => sql`
  update ahs.job_spec set spec_text = null, acceptance_criteria = null, texts_dropped_at = ${now} where id in (
    select s.id from ahs.job_spec s
    where s.spec_text is not null and s.created_at < ${before}
      and exists (select from ahs.verdict v where v.spec_id = s.id)
      and not exists (
        select from ahs.verdict v join ahs.output_text o on o.verdict_id = v.id where v.spec_id = s.id)
    order by s.created_at limit ${BATCH} for update of s skip locked)`;

async function inBatches(db: Database, statement: SQL): Promise<number> {
  let total = 0;
  for (;;) {
    const { rowCount } = await db.execute(statement);
    total += rowCount ?? 0;
    if (rowCount !== BATCH) return total;
  }
}
