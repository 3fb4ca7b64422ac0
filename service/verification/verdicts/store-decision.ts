import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { type RunCause, verdictRun } from "../../db/tables/verdict.ts";
import { queueDecision } from "../escrow/settlements.ts";
import type { Decision, PanelMethodology, RoleFinding, RoleName, RuleName } from "../panel/types.ts";
import { notifyOfVerdict } from "./verdict-events.ts";

/**
 * Result of a decision, as stored and served. If a reviewer decides a failed verdict, score, confidence, mdi, majority, latency, panel
 * version and prompts are null, and lists are empty.
 */
export type VerdictResult = {
  readonly final_verdict: Decision;
  readonly final_score: number | null;
  readonly confidence: number | null;
  readonly mdi: number | null;
  readonly domain: string;
  readonly met_criteria: readonly string[];
  readonly unmet_criteria: readonly string[];
  readonly key_objections: readonly string[];
  readonly reasoning: string;
  readonly strongest_dissent: string | null;
  readonly generator_majority: Decision | null;
  readonly critic_override_applied: boolean;
  readonly zero_history_adjustment_applied: boolean;
  readonly rejection_asymmetry_applied: boolean;
  /** Time from the start of the run to its decision. */
  readonly latency_ms: number | null;
  readonly findings: readonly RoleFinding[];
  readonly methodology: {
    readonly panel_version: PanelMethodology["panelVersion"] | null;
    readonly prompt_hash: PanelMethodology["promptHash"] | null;
    readonly models: Readonly<Partial<Record<RoleName, string>>>;
    readonly thresholds: PanelMethodology["thresholds"];
    readonly rules_fired: readonly RuleName[];
  };
  /** Reviewer and reason; null for a decision of the panel. */
  readonly review: { readonly reviewed_by: string; readonly reason: string } | null;
};

/** A decision of the panel or of a reviewer. */
export type NewDecision = {
  readonly verdictId: string;
  /** From 1 on. */
  readonly run: number;
  readonly cause: RunCause;
  readonly result: VerdictResult;
  readonly evidence: { readonly body: string; readonly hash: Hex };
  readonly at: Date;
};

/**
 * Stores a decision as its verdict's newest, queues it for signing if it is about a bound job, and queues its event. The caller's database
 * transaction must hold the verdict's lock and have checked that the decision is still wanted. Throws if it is not the next one.
 */
export async function storeDecision(tx: NodePgDatabase, decision: NewDecision): Promise<void> {
  const { verdictId, run, cause, result, evidence, at } = decision;
  await insertDecision(tx, {
    verdictId,
    run,
    cause,
    finalVerdict: result.final_verdict,
    result,
    evidence: evidence.body,
    evidenceHash: evidence.hash,
    createdAt: at,
  });
  await queueDecision(tx, { verdictId, run }, at);
  await notifyOfVerdict(
    tx,
    { kind: "decided", run, cause, decision: result.final_verdict, evidenceHash: evidence.hash },
    { verdictId, at },
  );
}

/** Row of a decision. */
export type DecisionRow = {
  readonly verdictId: string;
  /** From 1 on. */
  readonly run: number;
  readonly cause: RunCause;
  readonly finalVerdict: Decision;
  /** Result for readers: plain JSON without U+0000 and unpaired surrogates, which PostgreSQL refuses. */
  readonly result: object;
  readonly evidence: string;
  readonly evidenceHash: Hex;
  readonly createdAt: Date;
};

/** Inserts a decision as its verdict's newest. Throws if it is not the next one. */
async function insertDecision(tx: NodePgDatabase, decision: DecisionRow): Promise<void> {
  const { verdictId, run, cause, finalVerdict, createdAt: at } = decision;
  await tx.insert(verdictRun).values(decision);
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'completed', cause = ${cause}, runs = ${run}, final_verdict = ${finalVerdict},
      error_message = null, lease_until = null, evaluated_at = ${at}, updated_at = ${at}
    where id = ${verdictId} and runs = ${run - 1}`);
  if (rowCount !== 1) throw new Error(`decision ${run} of verdict ${verdictId} is not the next one`);
}

/** Locks a verdict until the database transaction ends and reads its newest decision; null without one. */
export async function takeNewestDecision(tx: NodePgDatabase, verdictId: string): Promise<DecisionRow | null> {
  const { rows } = await tx.execute(sql`
    select 1 from ahs.verdict where id = ${verdictId} and runs > 0 for update`);
  if (rows.length === 0) return null;
  const [row] = await tx
    .select()
    .from(verdictRun)
    .where(sql`verdict_id = ${verdictId} and run = (select runs from ahs.verdict where id = ${verdictId})`);
  if (row === undefined) throw new Error(`verdict ${verdictId} counts a decision that it does not have`);
  return { ...row, result: Object(row.result) };
}

/**
 * Replaces U+0000 and unpaired surrogates in all strings by U+FFFD, because PostgreSQL refuses them in text and JSON. Models repeat such
 * characters of an output.
 */
export function storable<Value>(value: Value): Value {
  // The shape of the value does not change.
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "\uFFFD");
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}
