import { type Address, getAddress, type Hex, numberToHex } from "viem";
import { canonicalJson, hashText } from "./hashes.ts";
import { MAX_QUOTE_CHARACTERS } from "./policy.ts";
import { quoteOf } from "./quotes.ts";
import {
  type Critique,
  type Decision,
  type OutputCheck,
  type PanelMethodology,
  ROLE_NAMES,
  type RoleFinding,
  type RuleName,
} from "./types.ts";

/** The form of the document; another number whenever a member changes its meaning. */
const SCHEMA = "agent-health.verdict-evidence.v1";
/** More of one role's objections are no quotations any more, but the text. */
const MAX_OBJECTIONS = 20;
/** A finding is a sentence of ours around its quotation. */
const MAX_FINDING_CHARACTERS = 500;
/** A reviewer's own words are no quotation: a page of them. */
const MAX_REASON_CHARACTERS = 2_000;

/** What a decision is proved by, by whomever it was made. */
export type EvidenceParts = {
  readonly verdictId: string;
  /** From 1 on. */
  readonly run: number;
  readonly cause: string;
  /** The job that the verdict is bound to; null where it is bound to none. */
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  /** Hashes of the texts that were handed in after a HOLD, oldest first. */
  readonly evidenceHashes: readonly Hex[];
  readonly decision: Decision;
  /** Null, as confidence and mdi, for a reviewer's decision where the panel came to none. */
  readonly score: number | null;
  readonly confidence: number | null;
  readonly mdi: number | null;
  readonly methodology: EvidenceMethodology;
  readonly rulesFired: readonly RuleName[];
  readonly checks: readonly OutputCheck[];
  readonly findings: readonly RoleFinding[];
  /** Null where no critic told. */
  readonly fabricationRisk: Critique["fabricationRisk"] | null;
  /** Who decided in the panel's place, and why; null for the panel's own decision. */
  readonly review: { readonly reviewedBy: string; readonly reason: string } | null;
  /** ISO 8601. */
  readonly evaluatedAt: string;
};

/** How the panel was asked; version and prompts are null, and no model is named, where it came to no decision. */
type EvidenceMethodology = {
  readonly panelVersion: PanelMethodology["panelVersion"] | null;
  readonly promptHash: PanelMethodology["promptHash"] | null;
  readonly models: Readonly<Partial<PanelMethodology["models"]>>;
  readonly thresholds: PanelMethodology["thresholds"];
};

/**
 * The evidence of a decision as RFC 8785 JSON, and the keccak256 of its UTF-8 bytes, which is the `reason` on chain. It holds hashes,
 * findings and quotations of at most 200 characters, and none of the texts.
 */
export function buildEvidence(parts: EvidenceParts): { readonly body: string; readonly hash: Hex } {
  const body = canonicalJson({
    schema: SCHEMA,
    verdict_id: parts.verdictId,
    run: parts.run,
    cause: parts.cause,
    ...jobMembers(parts.job),
    spec_hash: parts.specHash,
    output_hash: parts.outputHash,
    evidence_hashes: parts.evidenceHashes,
    final_verdict: parts.decision,
    final_score: parts.score,
    confidence: parts.confidence,
    mdi: parts.mdi,
    panel_version: parts.methodology.panelVersion,
    prompt_hash: parts.methodology.promptHash,
    models: parts.methodology.models,
    thresholds: parts.methodology.thresholds,
    rules_fired: parts.rulesFired,
    checks: parts.checks.map(({ name, finding, criterion }) => ({
      name,
      finding: cutSentence(finding),
      criterion,
    })),
    findings: parts.findings.map(cutFinding),
    fabrication_risk: parts.fabricationRisk,
    assessors: ROLE_NAMES.map((role) => describeAssessor(role, parts.findings)),
    reviewed_by: parts.review === null ? null : cut(parts.review.reviewedBy),
    review_reason: parts.review === null ? null : quoteOf(parts.review.reason, MAX_REASON_CHARACTERS),
    evaluated_at: parts.evaluatedAt,
  });
  return { body, hash: hashText(body) };
}

/** ERC-8183 counts jobs in uint256, ERC-8210 names them in bytes32: both stand here. */
function jobMembers(job: EvidenceParts["job"]): object {
  return {
    chain_id: job === null ? null : job.chainId,
    escrow: job === null ? null : getAddress(job.escrow),
    erc8183_job_id: job === null ? null : numberToHex(job.jobId),
    job_id_bytes32: job === null ? null : numberToHex(job.jobId, { size: 32 }),
  };
}

/** A finding as the public may see it: 20 objections, and no text of more than 200 characters. */
export function cutFinding(finding: RoleFinding): RoleFinding {
  return {
    role: finding.role,
    model: cut(finding.model),
    verdict: finding.verdict,
    score: finding.score,
    confidence: finding.confidence,
    criteria: finding.criteria.map(({ id, met, evidence }) => ({
      id: cut(id),
      met,
      evidence: cut(evidence),
    })),
    objections: finding.objections.slice(0, MAX_OBJECTIONS).map(cut),
    abstained: finding.abstained === null ? null : cut(finding.abstained),
  };
}

/** A sentence as the public may see it: 500 characters, so that one around a quotation is whole. */
export function cutSentence(text: string): string {
  return quoteOf(text, MAX_FINDING_CHARACTERS);
}

/** One role as ERC-8210's candidate form for verification output has its assessors. */
function describeAssessor(role: RoleFinding["role"], findings: readonly RoleFinding[]): object {
  const finding = findings.find((each) => each.role === role);
  return {
    type: "model",
    id: role,
    verdict: finding?.verdict ?? null,
    confidence: finding?.confidence ?? null,
  };
}

function cut(text: string): string {
  return quoteOf(text, MAX_QUOTE_CHARACTERS);
}
