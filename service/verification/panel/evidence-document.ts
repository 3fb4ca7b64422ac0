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

/** Version of the document; it changes with the meaning of a member. */
const SCHEMA = "agent-health.verdict-evidence.v1";
/** Objections shown per role. */
const MAX_OBJECTIONS = 20;
/** Characters of a finding: our sentence around a quotation. */
const MAX_FINDING_CHARACTERS = 500;
/** Characters of a reviewer's reason. */
const MAX_REASON_CHARACTERS = 2_000;

/** Inputs of a decision's evidence. */
export type EvidenceParts = {
  readonly verdictId: string;
  /** From 1 on. */
  readonly run: number;
  readonly cause: string;
  /** The bound job; null without one. */
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  readonly specHash: Hex;
  readonly outputHash: Hex;
  /** Hashes of the evidence texts after a HOLD, oldest first. */
  readonly evidenceHashes: readonly Hex[];
  readonly decision: Decision;
  /** Null, like confidence and mdi, if a reviewer decides and the panel did not. */
  readonly score: number | null;
  readonly confidence: number | null;
  readonly mdi: number | null;
  readonly methodology: EvidenceMethodology;
  readonly rulesFired: readonly RuleName[];
  readonly checks: readonly OutputCheck[];
  readonly findings: readonly RoleFinding[];
  /** Null without a critique. */
  readonly fabricationRisk: Critique["fabricationRisk"] | null;
  /** Reviewer and reason; null for a decision of the panel. */
  readonly review: { readonly reviewedBy: string; readonly reason: string } | null;
  /** ISO 8601. */
  readonly evaluatedAt: string;
};

/** Method of the panel. Version and prompts are null, and no model is named, if the panel made no decision. */
type EvidenceMethodology = {
  readonly panelVersion: PanelMethodology["panelVersion"] | null;
  readonly promptHash: PanelMethodology["promptHash"] | null;
  readonly models: Readonly<Partial<PanelMethodology["models"]>>;
  readonly thresholds: PanelMethodology["thresholds"];
};

/**
 * Builds the evidence of a decision as RFC 8785 JSON, with the keccak256 of its UTF-8 bytes, the `reason` on chain. It holds hashes,
 * findings and quotations of at most 200 characters, and no whole text.
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

/** ERC-8183 has job ids as uint256, ERC-8210 as bytes32. The evidence shows both. */
function jobMembers(job: EvidenceParts["job"]): object {
  return {
    chain_id: job === null ? null : job.chainId,
    escrow: job === null ? null : getAddress(job.escrow),
    erc8183_job_id: job === null ? null : numberToHex(job.jobId),
    job_id_bytes32: job === null ? null : numberToHex(job.jobId, { size: 32 }),
  };
}

/** Cuts a finding for the public: 20 objections, and no text over 200 characters. */
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

/** Cuts a sentence for the public at 500 characters, so that one with a quotation stays whole. */
export function cutSentence(text: string): string {
  return quoteOf(text, MAX_FINDING_CHARACTERS);
}

/** Renders one role in the assessor form of ERC-8210's candidate profile. */
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
