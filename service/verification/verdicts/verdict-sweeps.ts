import {
  and,
  eq,
  exists,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  notExists,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { alias } from "drizzle-orm/pg-core";
import { creditPayer } from "../../access/api-keys.sql.ts";
import type { Database } from "../../db/database.ts";
import { hasTables, indexOf } from "../../db/index-tables.ts";
import { keyCredit } from "../../db/tables/api-key.ts";
import { payment } from "../../db/tables/payment.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import { heldEvidence, jobSpec, outputText, verdict } from "../../db/tables/verdict.ts";
import { jobIdOf } from "../escrow/escrow-jobs.ts";
import { MAX_RETRIES } from "./settle-intake.ts";

/**
 * Deletes specifications without a verdict that will not get one, and returns their number: those older than `before` that name no job, or a
 * job that the index never saw, and those older than `endedBefore` whose job has ended. None of them has lost its texts.
 */
export async function dropUnusedSpecs(
  db: Database,
  { chainId, before, endedBefore }: { chainId: number; before: Date; endedBefore: Date },
): Promise<number> {
  const { job } = indexOf(chainId);
  const { createdAt, jobEscrow, jobId, jobChainId } = jobSpec;
  const isUnused = and(
    isNotNull(jobSpec.specText),
    notExists(db.select().from(verdict).where(eq(verdict.specId, jobSpec.id))),
  );
  const unnamed = await db.delete(jobSpec).where(and(isNull(jobEscrow), isUnused, lt(createdAt, before)));
  if (!(await hasTables(db, chainId, job))) return unnamed.rowCount ?? 0;
  const isTheirs = eq(job.id, jobIdOf(jobEscrow, jobId));
  const named = await db
    .delete(jobSpec)
    .where(
      and(
        isNotNull(jobEscrow),
        eq(jobChainId, chainId),
        isUnused,
        lt(createdAt, before < endedBefore ? endedBefore : before),
        or(
          and(lt(createdAt, endedBefore), exists(endedJob(db, { chainId, escrow: jobEscrow, jobId }))),
          and(lt(createdAt, before), notExists(db.select({ id: job.id }).from(job).where(isTheirs))),
        ),
      ),
    );
  return (unnamed.rowCount ?? 0) + (named.rowCount ?? 0);
}

type JobColumns = { readonly chainId: number; readonly escrow: SQLWrapper; readonly jobId: SQLWrapper };

function endedJob(db: NodePgDatabase, { chainId, escrow, jobId }: JobColumns) {
  const { job } = indexOf(chainId);
  const isOver = inArray(job.status, ["Completed", "Rejected", "Expired"]);
  return db
    .select({ id: job.id })
    .from(job)
    .where(and(eq(job.id, jobIdOf(escrow, jobId)), isOver));
}

/** Condition that the index shows the end of a job; false without an index of its chain. */
export async function isJobEnded(db: NodePgDatabase, of: JobColumns): Promise<SQL> {
  const hasJobs = await hasTables(db, of.chainId, indexOf(of.chainId).job);
  return hasJobs ? exists(endedJob(db, of)) : sql`false`;
}

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
    const rows = await finalFailures(tx);
    for (const { paymentId, units } of rows) {
      const credited = tx.transaction((one) => creditPayer(one, { paymentId, units, now }));
      await credited.catch((error: unknown) => failures.push(error));
    }
    return rows.length - failures.length;
  });
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} prices were not returned`);
  return returned;
}

/** A verdict whose slot another took stays retryable while that one is unpaid: an unpaid submission gives the slot back. */
function finalFailures(tx: NodePgDatabase) {
  const [v, next] = [alias(verdict, "v"), alias(verdict, "next")];
  const unpaid = tx
    .select()
    .from(next)
    .where(and(eq(next.slot, v.slot), isNull(next.replacedAt), eq(next.status, "unsettled")));
  const output = tx.select().from(outputText).where(eq(outputText.verdictId, v.id));
  const spec = tx
    .select()
    .from(jobSpec)
    .where(and(eq(jobSpec.id, v.specId), isNotNull(jobSpec.specText)));
  const credit = tx.select().from(keyCredit).where(eq(keyCredit.id, payment.id));
  return tx
    .select({ paymentId: payment.id, units: v.units })
    .from(v)
    .innerJoin(payment, eq(payment.id, v.paymentId))
    .where(
      and(
        eq(v.status, "failed"),
        eq(v.runs, 0),
        inArray(payment.state, ["settled", "answered"]),
        isNull(payment.captureState),
        or(
          gte(v.retries, MAX_RETRIES),
          and(isNotNull(v.replacedAt), notExists(unpaid)),
          notExists(output),
          notExists(spec),
        ),
        notExists(credit),
      ),
    )
    .limit(BATCH)
    .for("update", { of: v, skipLocked: true });
}

/**
 * Drops the texts of verdicts that ended before a moment, and of specifications whose verdicts all lost theirs. Hashes, findings and
 * decisions stay. Returns the number of outputs.
 */
export async function dropOldTexts(
  db: Database,
  { before, now }: { before: Date; now: Date },
): Promise<number> {
  const outputs = await inBatches(() => dropOutputs(db, before));
  await inBatches(() => dropEvidence(db, before));
  await inBatches(() => dropSpecTexts(db, { before, now }));
  return outputs;
}

/** Verdicts that ended before a moment; a held one only after its job ended. */
function isOver(db: Database, before: Date) {
  const running = db
    .select()
    .from(holdClock)
    .where(and(eq(holdClock.verdictId, verdict.id), isNull(holdClock.endedAt)));
  return and(
    inArray(verdict.status, ["completed", "failed"]),
    sql`coalesce(${verdict.evaluatedAt}, ${verdict.updatedAt}) < ${before}`,
    or(sql`${verdict.finalVerdict} is distinct from 'HOLD'`, notExists(running)),
  );
}

/** An output is older than the end of its verdict, so only older ones are read. */
function dropOutputs(db: Database, before: Date) {
  const o = alias(outputText, "o");
  const old = db
    .select({ id: o.verdictId })
    .from(o)
    .innerJoin(verdict, eq(verdict.id, o.verdictId))
    .where(and(lt(o.createdAt, before), isOver(db, before)))
    .orderBy(o.createdAt)
    .limit(BATCH)
    .for("update", { of: o, skipLocked: true });
  return db.delete(outputText).where(inArray(outputText.verdictId, old));
}

function dropEvidence(db: Database, before: Date) {
  const e = alias(heldEvidence, "e");
  const old = db
    .select({ id: e.id })
    .from(e)
    .innerJoin(verdict, eq(verdict.id, e.verdictId))
    .where(and(isNotNull(e.text), lt(e.createdAt, before), isOver(db, before)))
    .orderBy(e.createdAt)
    .limit(BATCH)
    .for("update", { of: e, skipLocked: true });
  return db.update(heldEvidence).set({ text: null }).where(inArray(heldEvidence.id, old));
}

function dropSpecTexts(db: Database, { before, now }: { before: Date; now: Date }) {
  const s = alias(jobSpec, "s");
  const itsVerdicts = eq(verdict.specId, s.id);
  const outputs = db
    .select({ id: outputText.verdictId })
    .from(verdict)
    .innerJoin(outputText, eq(outputText.verdictId, verdict.id))
    .where(itsVerdicts);
  const old = db
    .select({ id: s.id })
    .from(s)
    .where(
      and(
        isNotNull(s.specText),
        lt(s.createdAt, before),
        exists(db.select().from(verdict).where(itsVerdicts)),
        notExists(outputs),
      ),
    )
    .orderBy(s.createdAt)
    .limit(BATCH)
    .for("update", { of: s, skipLocked: true });
  return db
    .update(jobSpec)
    .set({ specText: null, acceptanceCriteria: null, textsDroppedAt: now })
    .where(inArray(jobSpec.id, old));
}

async function inBatches(run: () => Promise<{ rowCount: number | null }>): Promise<number> {
  let total = 0;
  for (;;) {
    const { rowCount } = await run();
    total += rowCount ?? 0;
    if (rowCount !== BATCH) return total;
  }
}
