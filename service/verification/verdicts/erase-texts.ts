import { and, eq, exists, inArray, isNull, ne, not, notExists, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Database } from "../../db/database.ts";
import {
  heldEvidence,
  jobSpec,
  outputText,
  roleCall,
  textErasure,
  verdict,
  verdictRun,
} from "../../db/tables/verdict.ts";
import { erasureState } from "./erase-texts.sql.ts";
import { lockVerdict } from "./lock-verdict.ts";
import { resultOf } from "./store-decision.ts";
import type { ErasureOutcome, VerdictResult } from "./verdict-result.ts";
import { isJobEnded } from "./verdict-sweeps.ts";

/**
 * Notes that the texts of a verdict are to be erased, for its submitter, client or provider. A worker erases them, since servers may change
 * no stored text. The specification goes too if its client asks by its wallet. A second request changes nothing.
 */
export function requestErasure(
  db: Database,
  { verdictId, owner, now }: { verdictId: string; owner: string; now: Date },
): Promise<ErasureOutcome> {
  return db.transaction(async (tx) => {
    await lockVerdict(tx, verdictId);
    const state = await readState(tx, verdictId);
    if (state === null) return { kind: "unknown" };
    const refusal = refusalOf(state, owner);
    if (refusal !== null) return refusal;
    const withSpec = owner === `wallet:${state.clientAddr}`;
    const asked = { verdictId, requestedBy: owner, withSpec, requestedAt: now };
    await tx.insert(textErasure).values(asked).onConflictDoNothing();
    const { requestedAt, erasedAt } = textErasure;
    const [row] = await tx
      .select({ requestedAt, erasedAt })
      .from(textErasure)
      .where(eq(textErasure.verdictId, verdictId));
    if (row === undefined) throw new Error(`the erasure of verdict ${verdictId} was not stored`);
    return { kind: "requested", ...row };
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
  const { rows } = await tx.execute<ErasureState & { jobChainId: number | null }>(erasureState(verdictId));
  const [row] = rows;
  if (row === undefined) return null;
  const { jobChainId: chainId, ...state } = row;
  if (!state.isJobOpen || chainId === null) return state;
  const ended = await isJobEnded(tx, { chainId, escrow: verdict.jobEscrow, jobId: verdict.jobId });
  const isOpen = and(eq(verdict.id, verdictId), not(ended));
  return { ...state, isJobOpen: (await tx.$count(verdict, isOpen)) > 0 };
}

/** Requests that one call carries out. */
const BATCH = 20;

const hasEnded = inArray(verdict.status, ["completed", "failed"]);

/** Erases the texts of requests, each in one database transaction, and returns their number. One whose verdict runs again waits. */
export async function eraseRequested(db: Database, now: Date): Promise<number> {
  const rows = await db
    .select({ id: textErasure.verdictId })
    .from(textErasure)
    .innerJoin(verdict, eq(verdict.id, textErasure.verdictId))
    .where(and(isNull(textErasure.erasedAt), hasEnded))
    .orderBy(textErasure.requestedAt)
    .limit(BATCH);
  let erased = 0;
  for (const { id } of rows) if (await db.transaction((tx) => eraseTexts(tx, id, now))) erased += 1;
  return erased;
}

async function eraseTexts(tx: NodePgDatabase, verdictId: string, now: Date): Promise<boolean> {
  if (!(await lockVerdict(tx, verdictId, hasEnded))) return false;
  await tx.delete(outputText).where(eq(outputText.verdictId, verdictId));
  await tx.update(heldEvidence).set({ text: null }).where(eq(heldEvidence.verdictId, verdictId));
  await tx
    .update(roleCall)
    .set({ answer: null, failure: sql`coalesce(${roleCall.failure}, 'its texts were erased')` })
    .where(eq(roleCall.verdictId, verdictId));
  const runs = await tx.select().from(verdictRun).where(eq(verdictRun.verdictId, verdictId));
  for (const decision of runs) {
    await tx
      .update(verdictRun)
      .set({ result: withoutTexts(resultOf(decision)), evidence: "" })
      .where(and(eq(verdictRun.verdictId, verdictId), eq(verdictRun.run, decision.run)));
  }
  await eraseSpec(tx, verdictId, now);
  await tx.update(textErasure).set({ erasedAt: now }).where(eq(textErasure.verdictId, verdictId));
  return true;
}

/** Keeps a specification that another verdict, or its own job, still needs: it goes when its time of retention is over. */
async function eraseSpec(tx: NodePgDatabase, verdictId: string, now: Date): Promise<void> {
  const [spec] = await tx
    .select({ id: jobSpec.id, chainId: jobSpec.jobChainId })
    .from(jobSpec)
    .innerJoin(verdict, eq(verdict.specId, jobSpec.id))
    .innerJoin(textErasure, eq(textErasure.verdictId, verdict.id))
    .where(and(eq(verdict.id, verdictId), textErasure.withSpec));
  if (spec === undefined) return;
  const { id, chainId } = spec;
  const { jobEscrow: escrow, jobId } = jobSpec;
  const ended = chainId === null ? undefined : await isJobEnded(tx, { chainId, escrow, jobId });
  const output = tx.select().from(outputText).where(eq(outputText.verdictId, verdict.id));
  const others = tx
    .select()
    .from(verdict)
    .where(and(eq(verdict.specId, jobSpec.id), ne(verdict.id, verdictId), or(not(hasEnded), exists(output))));
  await tx
    .update(jobSpec)
    .set({ specText: null, acceptanceCriteria: null, textsDroppedAt: now })
    .where(
      and(eq(jobSpec.id, id), ended === undefined ? undefined : or(isNull(escrow), ended), notExists(others)),
    );
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
