import { type FlattenedJWS, FlattenedSign } from "jose";
import type { Decision } from "../panel/types.ts";
import type { ReceiptKeys } from "./receipt-keys.ts";
import {
  type AdversarialResult,
  canonicalText,
  deriveGate,
  digestOf,
  type Gate,
  mappingHash,
  mappingOf,
  type ReceiptPrimitives,
  type ReceiptVerdict,
  type Recommendation,
} from "./receipt-mapping.ts";
import type { VerdictResult } from "./types.ts";
import type { VerdictView } from "./verdict-view.ts";

/** `typ` of the JWS: the candidate profile verification.v0.3 of ERC-8210's registry. */
export const RECEIPT_TYPE = "application/vnd.verification.v0.3+jws";

/** What a receipt signs, as RFC 8785 JSON. */
export type ReceiptPayload = ReceiptPrimitives & {
  readonly receipt_version: "0.3.0";
  /** Origin of the service. */
  readonly iss: string;
  /** verdict: and its id. */
  readonly sub: string;
  /** Unix seconds. */
  readonly iat: number;
  readonly exp: number;
  readonly mapping_id: string;
  readonly subject: {
    readonly claim_hash: string;
    readonly verdict_id: string;
    readonly final_verdict: Decision;
    readonly spec_hash: string;
    readonly output_hash: string;
    readonly evidence_hash: string;
  };
  readonly v_claim: { readonly hash: string };
  readonly v_gate_threshold: number;
  readonly v_recommendation: Recommendation;
  readonly v_gate: Gate;
  readonly v_gate_mapping: string;
  readonly v_gate_mapping_hash: string;
  /** URL of the evidence that the decision rests on. */
  readonly v_evidence: string;
  readonly signature_meta: { readonly jwks_url: string };
};

/** A receipt is asked for when it is needed, so it says nothing for longer than this. */
const VALID_SECONDS = 30 * 86_400;

const VERDICTS: Readonly<Record<Decision, ReceiptVerdict>> = {
  ALLOW: "supported",
  REJECT: "refuted",
  HOLD: "unverifiable",
};

/** What is claimed: that an output fulfils a specification, both by their keccak256; RFC 8785 JSON, hashed by SHA-256. */
export function claimText(verdict: Pick<VerdictView, "specHash" | "outputHash">): string {
  return canonicalText({ output_hash: verdict.outputHash, spec_hash: verdict.specHash });
}

/** The receipt of a verdict's newest decision; null where it has none that stands: then it is not `completed`. */
export function receiptPayload(
  verdict: VerdictView,
  { origin, now }: { readonly origin: string; readonly now: Date },
): ReceiptPayload | null {
  const { result, status, id, specHash, outputHash } = verdict;
  const newest = verdict.runs.at(-1);
  if (status !== "completed" || result === null || newest === undefined) return null;
  const mapping = mappingOf(result.methodology.thresholds.confidence);
  const primitives = primitivesOf(result);
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claim = digestOf(claimText(verdict));
  return {
    receipt_version: "0.3.0",
    iss: origin,
    sub: `verdict:${id}`,
    iat: issuedAt,
    exp: issuedAt + VALID_SECONDS,
    mapping_id: mapping.mapping_id,
    subject: {
      claim_hash: claim,
      verdict_id: id,
      final_verdict: result.final_verdict,
      spec_hash: specHash,
      output_hash: outputHash,
      evidence_hash: newest.evidenceHash,
    },
    v_claim: { hash: claim.replace("sha256-", "") },
    ...primitives,
    v_gate_threshold: mapping.v_gate_threshold,
    ...deriveGate(mapping, primitives),
    v_gate_mapping: mapping.mapping_id,
    v_gate_mapping_hash: mappingHash(mapping),
    v_evidence: `${origin}/v1/verdicts/${id}/evidence?run=${newest.run}`,
    signature_meta: { jwks_url: `${origin}/.well-known/jwks.json` },
  };
}

/** Signs a receipt: a JWS in flattened JSON, EdDSA over the RFC 8785 form of the payload. */
export async function signReceipt(
  payload: ReceiptPayload,
  { signing }: Pick<ReceiptKeys, "signing">,
): Promise<FlattenedJWS> {
  const bytes = new TextEncoder().encode(canonicalText(payload));
  return new FlattenedSign(bytes)
    .setProtectedHeader({ alg: "EdDSA", kid: signing.kid, typ: RECEIPT_TYPE })
    .sign(signing.key);
}

function primitivesOf(result: VerdictResult): ReceiptPrimitives {
  return {
    v_verdict: VERDICTS[result.final_verdict],
    // The profile has no null: a review that rests on no score of the panel claims no confidence.
    v_confidence: result.confidence ?? 0,
    v_adversarial_result: adversarialOf(result),
    v_method: result.review === null ? "panel" : "review",
  };
}

/** Rules of the tally by which the critic's findings change an outcome. */
const CRITICS_RULES: ReadonlySet<string> = new Set(["fabrication_risk", "spec_gaming", "challenged"]);

function adversarialOf({ findings, methodology }: VerdictResult): AdversarialResult {
  const critic = findings.find(({ role }) => role === "critic");
  if (critic === undefined || critic.abstained !== null) return "not_checked";
  return methodology.rules_fired.some((rule) => CRITICS_RULES.has(rule)) ? "vulnerable" : "resilient";
}
