import { createPrivateKey, createPublicKey, hash, type KeyObject } from "node:crypto";
import canonicalize from "canonicalize";
import { calculateJwkThumbprint, type FlattenedJWS, FlattenedSign, type JWK } from "jose";
import { type Hex, hexToBytes } from "viem";
import type { VerdictResult } from "./verdict-result.ts";
import type { VerdictView } from "./verdict-view.ts";

/** `typ` of the JWS: the candidate profile verification.v0.3 of ERC-8210's registry. */
export const RECEIPT_TYPE = "application/vnd.verification.v0.3+jws";

/** Signed payload of a receipt, as RFC 8785 JSON. */
export type ReceiptPayload = NonNullable<ReturnType<typeof receiptPayload>>;

/** Validity of a receipt; a new one is available at any time. */
const VALID_SECONDS = 30 * 86_400;

const VERDICTS = { ALLOW: "supported", REJECT: "refuted", HOLD: "unverifiable" } as const;

/** The claim, that an output fulfils a specification, as RFC 8785 JSON of both keccak256 hashes. */
export function claimText(verdict: Pick<VerdictView, "specHash" | "outputHash">): string {
  return canonicalText({ output_hash: verdict.outputHash, spec_hash: verdict.specHash });
}

/** Builds the receipt of a verdict's newest decision; null unless the verdict is `completed`. */
export function receiptPayload(verdict: VerdictView, { origin, now }: { origin: string; now: Date }) {
  const { result, status, id, specHash, outputHash } = verdict;
  const newest = verdict.runs.at(-1);
  if (status !== "completed" || result === null || newest === undefined) return null;
  const mapping = mappingOf(result.methodology.thresholds.confidence);
  const primitives = primitivesOf(result);
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claim = digestOf(claimText(verdict));
  return {
    receipt_version: "0.3.0" as const,
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
    // The profile has no null. A review without a panel score claims no confidence.
    v_confidence: result.confidence ?? 0,
    v_adversarial_result: adversarialOf(result),
    v_method: result.review === null ? "panel" : "review",
  };
}

/** Tally rules that apply the critic's findings. */
const CRITICS_RULES: ReadonlySet<string> = new Set(["fabrication_risk", "spec_gaming", "challenged"]);

function adversarialOf({ findings, methodology }: VerdictResult): ReceiptPrimitives["v_adversarial_result"] {
  const critic = findings.find(({ role }) => role === "critic");
  if (critic === undefined || critic.abstained !== null) return "not_checked";
  return methodology.rules_fired.some((rule) => CRITICS_RULES.has(rule)) ? "vulnerable" : "resilient";
}

/** Names of the profile's values (draft-krausz-verification-state-01, sections 4 and 5). */
type Recommendation =
  | "confident_supported"
  | "un_probed_not_cleared"
  | "vulnerable_supported"
  | "weak_supported"
  | "refuted"
  | "unverifiable";

/** Inputs of a recommendation; v_method is review if a person decided. */
type ReceiptPrimitives = {
  readonly v_verdict: "supported" | "refuted" | "unverifiable";
  readonly v_confidence: number;
  readonly v_adversarial_result: "resilient" | "vulnerable" | "not_checked";
  readonly v_method: "panel" | "review";
};

/** Published rules of one threshold. The first rule whose members all match applies. */
type ReceiptMapping = {
  readonly mapping_id: string;
  readonly v_gate_threshold: number;
  readonly rules: readonly {
    readonly when: Partial<Omit<ReceiptPrimitives, "v_confidence">> & {
      readonly v_confidence?: "at_least_threshold" | "below_threshold";
    };
    readonly v_recommendation: Recommendation;
  }[];
  readonly gates: Readonly<Record<Recommendation, "act" | "halt">>;
};

/** Publication day of these rules; changed rules get another day. */
const PREFIX = "agent-health-v0.3-2026-11-20-t";

/**
 * Table 2 of the draft, with an added row for decisions of a person. A reviewer has the panel's findings and answers by name, so their
 * ALLOW is the service's ALLOW at any confidence.
 */
const RULES: ReceiptMapping["rules"] = [
  { when: { v_verdict: "refuted" }, v_recommendation: "refuted" },
  { when: { v_verdict: "unverifiable" }, v_recommendation: "unverifiable" },
  { when: { v_verdict: "supported", v_method: "review" }, v_recommendation: "confident_supported" },
  {
    when: { v_verdict: "supported", v_adversarial_result: "vulnerable" },
    v_recommendation: "vulnerable_supported",
  },
  { when: { v_verdict: "supported", v_confidence: "below_threshold" }, v_recommendation: "weak_supported" },
  {
    when: { v_verdict: "supported", v_adversarial_result: "not_checked" },
    v_recommendation: "un_probed_not_cleared",
  },
  { when: { v_verdict: "supported" }, v_recommendation: "confident_supported" },
];

const GATES: ReceiptMapping["gates"] = {
  confident_supported: "act",
  un_probed_not_cleared: "halt",
  vulnerable_supported: "halt",
  weak_supported: "halt",
  refuted: "halt",
  unverifiable: "halt",
};

/** Mapping of a threshold: a confidence from 0 to 1 in hundredths. */
export function mappingOf(threshold: number): ReceiptMapping {
  const hundredths = String(Math.round(threshold * 100)).padStart(3, "0");
  return { mapping_id: `${PREFIX}${hundredths}`, v_gate_threshold: threshold, rules: RULES, gates: GATES };
}

/** Finds the mapping of an id; null without one. */
export function findMapping(id: string): ReceiptMapping | null {
  const hundredths = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : "";
  if (!/^(0\d\d|100)$/.test(hundredths)) return null;
  return mappingOf(Number(hundredths) / 100);
}

/** Published bytes: RFC 8785 JSON. */
export function mappingText(mapping: ReceiptMapping): string {
  return canonicalText(mapping);
}

/** "sha256-" and the hexadecimal digest of those bytes. */
export function mappingHash(mapping: ReceiptMapping): string {
  return digestOf(mappingText(mapping));
}

/** The RFC 8785 form of a value that JSON can hold. */
function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("the value has no JSON form");
  return text;
}

/** Digest in the profile's form: "sha256-" and hexadecimal digits, of the UTF-8 bytes. */
function digestOf(text: string): string {
  return `sha256-${hash("sha256", text, "hex")}`;
}

/** Derives the recommendation by a mapping's rules, and its gate. */
export function deriveGate(
  mapping: ReceiptMapping,
  primitives: ReceiptPrimitives,
): { v_recommendation: Recommendation; v_gate: "act" | "halt" } {
  const rule = mapping.rules.find(({ when }) => fits(when, primitives, mapping.v_gate_threshold));
  if (rule === undefined) throw new Error(`no rule fits ${JSON.stringify(primitives)}`);
  return { v_recommendation: rule.v_recommendation, v_gate: mapping.gates[rule.v_recommendation] };
}

function fits(
  when: ReceiptMapping["rules"][number]["when"],
  primitives: ReceiptPrimitives,
  threshold: number,
): boolean {
  const level = primitives.v_confidence >= threshold ? "at_least_threshold" : "below_threshold";
  return (
    (when.v_verdict ?? primitives.v_verdict) === primitives.v_verdict &&
    (when.v_method ?? primitives.v_method) === primitives.v_method &&
    (when.v_adversarial_result ?? primitives.v_adversarial_result) === primitives.v_adversarial_result &&
    (when.v_confidence ?? level) === level
  );
}

/** Keys of receipts: the private signing key, and the public keys of all current and earlier ones. */
export type ReceiptKeys = {
  readonly signing: { readonly key: KeyObject; readonly kid: string };
  /** The current one first. */
  readonly published: readonly JWK[];
};

/** PKCS #8 prefix of an Ed25519 key (RFC 8410), before the 32 bytes of its seed. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** Creates the keys from 32-byte seeds of the current and earlier Ed25519 keys. Each key id is its RFC 7638 thumbprint. */
export async function openReceiptKeys(current: Hex, previous: readonly Hex[]): Promise<ReceiptKeys> {
  const key = privateKeyOf(current);
  const published = await Promise.all([key, ...previous.map(privateKeyOf)].map(publicKeyOf));
  const kid = published[0]?.kid;
  if (kid === undefined) throw new Error("a public key has no name");
  return { signing: { key, kid }, published };
}

export async function publishedKeys(seeds: readonly Hex[]): Promise<readonly JWK[]> {
  return Promise.all(seeds.map(privateKeyOf).map(publicKeyOf));
}

function privateKeyOf(seed: Hex): KeyObject {
  const bytes = Buffer.concat([PKCS8_HEAD, hexToBytes(seed)]);
  return createPrivateKey({ key: bytes, format: "der", type: "pkcs8" });
}

async function publicKeyOf(key: KeyObject): Promise<JWK> {
  const { kty, crv, x } = createPublicKey(key).export({ format: "jwk" });
  if (kty !== "OKP" || crv !== "Ed25519" || x === undefined) throw new Error("the key is not of Ed25519");
  const named = { kty, crv, x };
  return { ...named, kid: await calculateJwkThumbprint(named, "sha256"), alg: "EdDSA", use: "sig" };
}
