import { type Address, getAddress, type Hex, numberToHex } from "viem";
import type { Critique } from "./answers.ts";
import { canonicalJson, hashText } from "./hashes.ts";
import { MAX_QUOTE_CHARACTERS } from "./policy.ts";
import { quoteOf } from "./quotes.ts";
import {
  type Decision,
  type OutputCheck,
  ROLE_NAMES,
  type RoleFinding,
  type RoleName,
  type RuleName,
  type Voting,
} from "./types.ts";

/** Version of the document; it changes with the meaning of a member. */
const SCHEMA = "agent-health.verdict-evidence.v1";
const MAX_OBJECTIONS = 20;
/** Characters of a finding: our sentence around a quotation. */
const MAX_FINDING_CHARACTERS = 500;
const MAX_REASON_CHARACTERS = 2_000;

/** Inputs of a decision's evidence. Score, confidence and mdi are null if a reviewer decides and the panel did not. */
export type EvidenceParts = {
  readonly verdictId: string;
  readonly run: number;
  readonly cause: string;
  /** The bound job; null without one. */
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  /** Hashes of the evidence texts after a HOLD, oldest first. */
  readonly evidenceHashes: readonly Hex[];
  readonly decision: Decision;
  readonly score: number | null;
  readonly confidence: number | null;
  readonly mdi: number | null;
  /** Version and prompts are null, and no model is named, if the panel made no decision. */
  readonly methodology: {
    readonly panelVersion: string | null;
    readonly promptHash: string | null;
    readonly models: Readonly<Partial<Record<RoleName, string>>>;
    readonly thresholds: { readonly domain: string; readonly confidence: number };
    /** Null if the panel made no decision, or made it before panel-2026.1. */
    readonly voting: Voting | null;
  };
  readonly rulesFired: readonly RuleName[];
  /** The decision that an appeal is about; null for every other run. */
  readonly appealed: {
    readonly run: number;
    readonly finalVerdict: Decision;
    readonly evidenceHash: Hex;
  } | null;
  readonly checks: readonly OutputCheck[];
  readonly findings: readonly RoleFinding[];
  /** Null without a critique. */
  readonly fabricationRisk: Critique["fabricationRisk"] | null;
  /** Reviewer and reason; null for a decision of the panel. */
  readonly review: { readonly reviewedBy: string; readonly reason: string } | null;
  readonly evaluatedAt: string;
};

/**
 * Builds the evidence of a decision as RFC 8785 JSON, with the keccak256 of its UTF-8 bytes, the `reason` on chain. It holds hashes,
 * findings and quotations of at most 200 characters, and no whole text.
 */
export function buildEvidence(parts: EvidenceParts): { body: string; hash: Hex } {
  const { job, methodology, review, appealed } = parts;
  const body = canonicalJson({
    schema: SCHEMA,
    verdict_id: parts.verdictId,
    run: parts.run,
    cause: parts.cause,
    // ERC-8183 has job ids as uint256, ERC-8210 as bytes32.
    chain_id: job?.chainId ?? null,
    escrow: job && getAddress(job.escrow),
    erc8183_job_id: job && numberToHex(job.jobId),
    job_id_bytes32: job && numberToHex(job.jobId, { size: 32 }),
    spec_hash: parts.specHash,
    output_hash: parts.outputHash,
    evidence_hashes: parts.evidenceHashes,
    final_verdict: parts.decision,
    final_score: parts.score,
    confidence: parts.confidence,
    mdi: parts.mdi,
    panel_version: methodology.panelVersion,
    prompt_hash: methodology.promptHash,
    models: methodology.models,
    thresholds: methodology.thresholds,
    voting: methodology.voting,
    rules_fired: parts.rulesFired,
    checks: parts.checks.map((check) => ({ ...check, finding: cutSentence(check.finding) })),
    findings: parts.findings.map(cutFinding),
    fabrication_risk: parts.fabricationRisk,
    ...(appealed === null ? {} : { appealed: describeAppealed(appealed) }),
    // The assessor form of ERC-8210's candidate profile.
    assessors: ROLE_NAMES.map((id) => {
      const { verdict = null, confidence = null } = parts.findings.find(({ role }) => role === id) ?? {};
      return { type: "model", id, verdict, confidence };
    }),
    reviewed_by: review && cut(review.reviewedBy),
    review_reason: review && quoteOf(review.reason, MAX_REASON_CHARACTERS),
    evaluated_at: parts.evaluatedAt,
  });
  return { body, hash: hashText(body) };
}

/** Only evidence of an appeal has this member, so that all other evidence keeps its bytes. */
function describeAppealed({ run, finalVerdict, evidenceHash }: NonNullable<EvidenceParts["appealed"]>) {
  return { run, final_verdict: finalVerdict, evidence_hash: evidenceHash };
}

/** Cuts a finding for the public: 20 objections, and no text over 200 characters. */
export function cutFinding(finding: RoleFinding): RoleFinding {
  return {
    ...finding,
    model: cut(finding.model),
    criteria: finding.criteria.map(({ id, met, evidence }) => ({
      id: cut(id),
      met,
      evidence: cut(evidence),
    })),
    objections: finding.objections.slice(0, MAX_OBJECTIONS).map(cut),
    abstained: finding.abstained && cut(finding.abstained),
  };
}

/** Cuts a sentence for the public at 500 characters, so that one with a quotation stays whole. */
export function cutSentence(text: string): string {
  return quoteOf(text, MAX_FINDING_CHARACTERS);
}

function cut(text: string): string {
  return quoteOf(text, MAX_QUOTE_CHARACTERS);
}
