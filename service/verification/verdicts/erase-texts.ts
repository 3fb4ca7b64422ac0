import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../../db/database.ts";
import { verdictRun } from "../../db/tables/verdict.ts";
import { MAX_RETRIES } from "./settle-intake.ts";
import type { VerdictResult } from "./verdict-result.ts";
import { isJobEnded } from "./verdict-sweeps.ts";

/** requested: the texts are erased within seconds, or were at `erasedAt`. Every other outcome changed nothing. */
export type ErasureOutcome =
  | { readonly kind: "requested"; readonly requestedAt: Date; readonly erasedAt: Date | null }
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  /** It is run, or will be, or has no decision yet. */
  | { readonly kind: "open"; readonly status: string }
  /** It failed, and its payer can still have it retried. */
  | { readonly kind: "owed" }
  /** Its job can still end by it. */
  | { readonly kind: "unsettled" };

/**
 * Notes that the texts of a verdict are to be erased, for its submitter, client or provider. A worker erases them, since servers may change
 * no stored text. The specification goes too if its client asks by its wallet. A second request changes nothing.
 */
export function requestErasure(
  db: Database,
  { verdictId, owner, now }: { verdictId: string; owner: string; now: Date },
): Promise<ErasureOutcome> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
    const state = await readState(tx, verdictId);
    if (state === null) return { kind: "unknown" };
    const refusal = refusalOf(state, owner);
    if (refusal !== null) return refusal;
    const withSpec = owner === `wallet:${state.clientAddr}`;
    const { rows } = await tx.execute<{ requested_at: string; erased_at: string | null }>(sql`
      with added as (
        insert into ahs.text_erasure (verdict_id, requested_by, with_spec, requested_at)
        values (${verdictId}, ${owner}, ${withSpec}, ${now}) on conflict do nothing returning requested_at, erased_at)
      select requested_at, erased_at from added
      union all select requested_at, erased_at from ahs.text_erasure where verdict_id = ${verdictId}`);
    const [row] = rows;
    if (row === undefined) throw new Error(`the erasure of verdict ${verdictId} was not stored`);
    const erasedAt = row.erased_at === null ? null : new Date(row.erased_at);
    return { kind: "requested", requestedAt: new Date(row.requested_at), erasedAt };
  });
}

/** Facts that decide if the texts of a verdict may be erased. */
export type ErasureState = {
  readonly owner: string;
  readonly clientAddr: string;
  readonly providerAddr: string;
  /** As stored: that of a re-run, if there is one. */
  readonly status: string;
  /** True if it failed, and its payment buys a retry. */
  readonly isOwed: boolean;
  /** True if the verdict is bound to a job that it may still settle. */
  readonly isJobOpen: boolean;
};

/** Returns why texts are not erased; null if they are. */
export function refusalOf(state: ErasureState, by: string): ErasureOutcome | null {
  const { owner, clientAddr, providerAddr, status } = state;
  if (![owner, `wallet:${clientAddr}`, `wallet:${providerAddr}`].includes(by)) return { kind: "stranger" };
  if (status === "pending" || status === "processing") return { kind: "open", status };
  if (state.isJobOpen) return { kind: "unsettled" };
  return state.isOwed && by !== owner ? { kind: "owed" } : null;
}

/**
 * A bound job is over for a verdict once the escrow has ended it, the index shows its end, or the newest decision can never be signed. A
 * verdict whose slot another one took settles nothing.
 */
async function readState(tx: NodePgDatabase, verdictId: string): Promise<ErasureState | null> {
  const { rows } = await tx.execute<ErasureState & { jobChainId: number | null }>(sql`
    select v.owner, s.client_addr as "clientAddr", v.provider_addr as "providerAddr", v.status,
      v.status = 'failed' and v.retries < ${MAX_RETRIES} and v.replaced_at is null and exists (
        select from ahs.payment p where p.id = v.payment_id and coalesce(p.capture_state, '') not in ('voiding', 'voided')) as "isOwed",
      v.job_chain_id as "jobChainId", v.job_id is not null and v.replaced_at is null
        and not exists (select from ahs.settlement t where t.verdict_id = v.id and t.run = v.runs
          and t.decision <> 'HOLD' and t.state in ('confirmed', 'refused'))
        and not exists (select from ahs.settlement_check c where c.verdict_id = v.id and c.run = v.runs
          and c.not_before is null and v.final_verdict <> 'HOLD'
          and not exists (select from ahs.appeal a where a.verdict_id = v.id and a.state in ('unsettled', 'open')))
        and not exists (select from ahs.hold_clock h where h.verdict_id = v.id and h.ended_at is not null)
        as "isJobOpen"
    from ahs.verdict v join ahs.job_spec s on s.id = v.spec_id
    where v.id = ${verdictId} and v.status <> 'unsettled'`);
  const [row] = rows;
  if (row === undefined) return null;
  const { jobChainId, ...state } = row;
  if (!state.isJobOpen || jobChainId === null) return state;
  const { rowCount } = await tx.execute(sql`
    select 1 from ahs.verdict v where v.id = ${verdictId}
      and ${await isJobEnded(tx, { chainId: jobChainId, escrow: sql`v.job_escrow`, jobId: sql`v.job_id` })}`);
  return { ...state, isJobOpen: rowCount === 0 };
}

/** Requests that one call carries out. */
const BATCH = 20;

/** Erases the texts of requests, each in one database transaction, and returns their number. One whose verdict runs again waits. */
export async function eraseRequested(db: Database, now: Date): Promise<number> {
  const { rows } = await db.execute<{ id: string }>(sql`
    select e.verdict_id as id from ahs.text_erasure e join ahs.verdict v on v.id = e.verdict_id
    where e.erased_at is null and v.status in ('completed', 'failed') order by e.requested_at limit ${BATCH}`);
  let erased = 0;
  for (const { id } of rows) if (await db.transaction((tx) => eraseTexts(tx, id, now))) erased += 1;
  return erased;
}

async function eraseTexts(tx: NodePgDatabase, verdictId: string, now: Date): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and status in ('completed', 'failed') for update`);
  if (rowCount === 0) return false;
  await tx.execute(sql`delete from ahs.output_text where verdict_id = ${verdictId}`);
  await tx.execute(sql`update ahs.held_evidence set text = null where verdict_id = ${verdictId}`);
  await tx.execute(sql`
    update ahs.role_call set answer = null, failure = coalesce(failure, 'its texts were erased')
    where verdict_id = ${verdictId}`);
  const runs = await tx.select().from(verdictRun).where(sql`verdict_id = ${verdictId}`);
  for (const { run, result } of runs) {
    // Only storeDecision writes the column, and with this type.
    const without = JSON.stringify(withoutTexts(result as VerdictResult));
    await tx.execute(sql`
      update ahs.verdict_run set result = ${without}::jsonb, evidence = ''
      where verdict_id = ${verdictId} and run = ${run}`);
  }
  await eraseSpec(tx, verdictId, now);
  await tx.execute(sql`update ahs.text_erasure set erased_at = ${now} where verdict_id = ${verdictId}`);
  return true;
}

/** Keeps a specification that another verdict, or its own job, still needs: it goes when its time of retention is over. */
async function eraseSpec(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  const { rows } = await tx.execute<{ id: string; chainId: number | null }>(sql`
    select s.id, s.job_chain_id as "chainId" from ahs.job_spec s
      join ahs.verdict v on v.spec_id = s.id join ahs.text_erasure e on e.verdict_id = v.id
    where v.id = ${verdictId} and e.with_spec`);
  const [spec] = rows;
  if (spec === undefined) return;
  const { id, chainId } = spec;
  const ended =
    chainId === null
      ? sql`true`
      : await isJobEnded(tx, { chainId, escrow: sql`s.job_escrow`, jobId: sql`s.job_id` });
  await tx.execute(sql`
    update ahs.job_spec s set spec_text = null, acceptance_criteria = null, texts_dropped_at = ${now}
    where s.id = ${id} and (s.job_escrow is null or ${ended}) and not exists (
      select from ahs.verdict other where other.spec_id = s.id and other.id <> ${verdictId}
        and (other.status not in ('completed', 'failed')
          or exists (select from ahs.output_text o where o.verdict_id = other.id)))`);
}

const ERASED = "Erased on request.";

/** A decision without what quotes texts. */
function withoutTexts(result: VerdictResult): VerdictResult {
  return {
    ...result,
    met_criteria: [],
    unmet_criteria: [],
    key_objections: [],
    reasoning: ERASED,
    strongest_dissent: null,
    findings: result.findings.map((finding) => ({
      ...finding,
      criteria: finding.criteria.map((one) => ({ ...one, evidence: "" })),
      objections: [],
    })),
    review: result.review && { ...result.review, reason: ERASED },
  };
}
