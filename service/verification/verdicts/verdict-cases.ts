import { and, eq, isNotNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { jobSpec, outputText, verdict } from "../../db/tables/verdict.ts";
import type { TextSeal } from "../../db/text-seal.ts";
import { JOB_COLUMNS, jobOf } from "../escrow/types.ts";
import type { Decision } from "../panel/types.ts";
import { openOrNull, openSpecTexts, placeOf } from "./sealed-texts.ts";

/** Inputs of a verdict's run. */
export type VerdictCase = Awaited<ReturnType<typeof readVerdictCase>>;

/** A decision under appeal. */
export type AppealedRun = {
  readonly run: number;
  readonly finalVerdict: Decision;
  readonly evidenceHash: Hex;
};

/**
 * Reads the inputs of a verdict's run. `providerHasScore` is for this chain. `appealed` is the decision that is under appeal, null without one. The texts are null if any of them was dropped or erased. Throws for an unknown verdict.
 */
export async function readVerdictCase(
  db: NodePgDatabase,
  { verdictId, chainId, texts }: { verdictId: string; chainId: number; texts: TextSeal },
) {
  const [row] = await db
    .select({
      specId: verdict.specId,
      specHash: jobSpec.specHash,
      outputHash: verdict.outputHash,
      clientAddr: jobSpec.clientAddr,
      providerAddr: verdict.providerAddr,
      submitterAddr: verdict.submitterAddr,
      submittedBy: verdict.submittedBy,
      domain: jobSpec.domain,
      ...JOB_COLUMNS,
      specText: jobSpec.specText,
      acceptanceCriteria: jobSpec.acceptanceCriteria,
      outputText: outputText.text,
      evidence: sql<readonly { id: string; text: string | null; hash: Hex }[]>`coalesce((
        select json_agg(json_build_object('id', h.id, 'text', h.text, 'hash', h.text_hash) order by h.created_at, h.id)
        from ahs.held_evidence h where h.verdict_id = ${verdict.id}), '[]'::json)`,
      appealed: sql<AppealedRun | null>`(
        select json_build_object('run', r.run, 'finalVerdict', r.final_verdict, 'evidenceHash', r.evidence_hash)
        from ahs.appeal a join ahs.verdict_run r on r.verdict_id = a.verdict_id and r.run = a.run
        where a.verdict_id = ${verdict.id} and a.state = 'open')`,
      providerHasScore: sql<boolean>`exists (
        select from ahs.current_score c
        where c.chain_id = ${chainId} and c.wallet = ${verdict.providerAddr} and c.ahs_score is not null)`,
    })
    .from(verdict)
    .innerJoin(jobSpec, eq(jobSpec.id, verdict.specId))
    .leftJoin(outputText, eq(outputText.verdictId, verdict.id))
    .where(eq(verdict.id, verdictId));
  if (row === undefined) throw new Error(`no verdict ${verdictId} to run`);
  const {
    evidence,
    jobChainId,
    jobEscrow,
    jobId,
    specText,
    acceptanceCriteria,
    outputText: output,
    ...rest
  } = row;
  const spec = openSpecTexts(texts, row.specId, { specText, acceptanceCriteria });
  const evidenceTexts = evidence
    .map(({ id, text }) => openOrNull(texts, text, placeOf("held_evidence.text", id)))
    .filter((text) => text !== null);
  const isComplete = evidenceTexts.length === evidence.length;
  return {
    ...rest,
    job: jobOf({ jobChainId, jobEscrow, jobId }),
    evidenceHashes: evidence.map(({ hash }) => hash),
    texts:
      spec.specText === null || output === null || !isComplete
        ? null
        : {
            specText: spec.specText,
            acceptanceCriteria: spec.acceptanceCriteria,
            outputText: texts.open(output, placeOf("output_text.text", verdictId)),
            evidenceTexts,
          },
  };
}

/** True if a verdict's specification was bound to a job; false for an unknown verdict. */
export async function isVerdictOfJob(db: NodePgDatabase, verdictId: string): Promise<boolean> {
  return (await db.$count(verdict, and(eq(verdict.id, verdictId), isNotNull(verdict.jobId)))) === 1;
}
