import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { type RunCause, verdictRun } from "../../db/tables/verdict.ts";
import { queueDecision } from "../escrow/settlements.ts";
import type { Decision, PanelMethodology, RoleFinding, RoleName, RuleName } from "../panel/types.ts";
import { tellOfVerdict } from "./verdict-events.ts";

/**
 * What a decision adds to its verdict's answer, as it is stored and served. A reviewer's decision on a verdict that had failed rests on
 * no result of the panel: score, confidence, mdi, majority, latency, panel version and prompts are null, and lists are empty.
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
  /** From the start of the run to its decision. */
  readonly latency_ms: number | null;
  readonly findings: readonly RoleFinding[];
  readonly methodology: {
    readonly panel_version: PanelMethodology["panelVersion"] | null;
    readonly prompt_hash: PanelMethodology["promptHash"] | null;
    readonly models: Readonly<Partial<Record<RoleName, string>>>;
    readonly thresholds: PanelMethodology["thresholds"];
    readonly rules_fired: readonly RuleName[];
  };
  /** The reviewer's name and reason; null for a decision of the panel. */
  readonly review: { readonly reviewed_by: string; readonly reason: string } | null;
};

/** A decision on an output, of the panel or a reviewer. */
export type NewDecision = {
  readonly verdictId: string;
  /** One more than the decisions before it. */
  readonly run: number;
  readonly cause: RunCause;
  readonly result: VerdictResult;
  readonly evidence: { readonly body: string; readonly hash: Hex };
  readonly at: Date;
};

/**
 * Writes a decision, makes it its verdict's newest, queues it to be signed where it is on a bound job, and queues the event that tells
 * of it, in a transaction that holds the verdict's row already: the caller has seen there that the decision is still wanted. Throws
 * where it is not the next one.
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
  await tellOfVerdict(
    tx,
    { kind: "decided", run, cause, decision: result.final_verdict, evidenceHash: evidence.hash },
    { verdictId, at },
  );
}

/** A decision on an output, as its row has it. */
export type DecisionRow = {
  readonly verdictId: string;
  /** One more than the decisions before it. */
  readonly run: number;
  readonly cause: RunCause;
  readonly finalVerdict: Decision;
  /** What readers get of it: plain JSON without U+0000 and lone surrogates, which PostgreSQL refuses. */
  readonly result: object;
  readonly evidence: string;
  readonly evidenceHash: Hex;
  readonly createdAt: Date;
};

/**
 * Writes a decision and makes it its verdict's newest, in the transaction that holds the verdict's row; throws where it is not
 * the next one.
 */
async function insertDecision(tx: NodePgDatabase, decision: DecisionRow): Promise<void> {
  const { verdictId, run, cause, finalVerdict, createdAt: at } = decision;
  await tx.insert(verdictRun).values(decision);
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'completed', cause = ${cause}, runs = ${run}, final_verdict = ${finalVerdict},
      error_message = null, lease_until = null, evaluated_at = ${at}, updated_at = ${at}
    where id = ${verdictId} and runs = ${run - 1}`);
  if (rowCount !== 1) throw new Error(`decision ${run} of verdict ${verdictId} is not the next one`);
}

/** The newest decision of a verdict, whose row nobody else changes until the transaction ends; null where it has none. */
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
 * The same value with what PostgreSQL stores in no text or JSON replaced by U+FFFD in every string: U+0000, and halves of surrogate
 * pairs without their other half. Models repeat such characters where an output has them.
 */
export function storable<Value>(value: Value): Value {
  // Strings become strings, and everything else keeps its shape.
  return cleaned(value) as Value;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "\uFFFD");
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleaned(key), cleaned(member)]));
}
