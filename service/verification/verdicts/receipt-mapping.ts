import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** Names of the profile's values (draft-krausz-verification-state-01, sections 4 and 5). */
export type ReceiptVerdict = "supported" | "refuted" | "unverifiable";
export type AdversarialResult = "resilient" | "vulnerable" | "not_checked";
export type Recommendation =
  | "confident_supported"
  | "un_probed_not_cleared"
  | "vulnerable_supported"
  | "weak_supported"
  | "refuted"
  | "unverifiable";
export type Gate = "act" | "halt";

/** What a recommendation is derived from. */
export type ReceiptPrimitives = {
  readonly v_verdict: ReceiptVerdict;
  readonly v_confidence: number;
  readonly v_adversarial_result: AdversarialResult;
  /** panel, or review where a person decided. */
  readonly v_method: "panel" | "review";
};

/** The rules of one threshold, as they are published; the first rule whose members all fit decides. */
export type ReceiptMapping = {
  readonly mapping_id: string;
  readonly v_gate_threshold: number;
  readonly rules: readonly {
    readonly when: {
      readonly v_verdict: ReceiptVerdict;
      readonly v_method?: "review";
      readonly v_adversarial_result?: AdversarialResult;
      readonly v_confidence?: "at_least_threshold" | "below_threshold";
    };
    readonly v_recommendation: Recommendation;
  }[];
  readonly gates: Readonly<Record<Recommendation, Gate>>;
};

/** Day on which these rules were published; other rules get another day. */
const PREFIX = "agent-health-v0.3-2026-11-20-t";

/**
 * Table 2 of the draft, and a row before it for decisions of a person, who had the panel's findings and answers for the verdict by
 * name: their ALLOW is the service's ALLOW, whatever the panel's confidence was.
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

/** The mapping whose threshold is a confidence from 0 to 1 in hundredths. */
export function mappingOf(threshold: number): ReceiptMapping {
  const hundredths = String(Math.round(threshold * 100)).padStart(3, "0");
  return {
    mapping_id: `${PREFIX}${hundredths}`,
    v_gate_threshold: threshold,
    rules: RULES,
    gates: GATES,
  };
}

/** The mapping of an id; null where none has it. */
export function findMapping(id: string): ReceiptMapping | null {
  const hundredths = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : "";
  if (!/^(0\d\d|100)$/.test(hundredths)) return null;
  return mappingOf(Number(hundredths) / 100);
}

/** The bytes that are published: RFC 8785 JSON. */
export function mappingText(mapping: ReceiptMapping): string {
  return canonicalText(mapping);
}

/** "sha256-" and the hexadecimal digest of those bytes. */
export function mappingHash(mapping: ReceiptMapping): string {
  return digestOf(mappingText(mapping));
}

/** The RFC 8785 form of a value that JSON can hold. */
export function canonicalText(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("the value has no JSON form");
  return text;
}

/** The profile's form of a digest: "sha256-" and hexadecimal digits, of UTF-8. */
export function digestOf(text: string): string {
  return `sha256-${hash("sha256", text, "hex")}`;
}

/** The recommendation that a mapping's rules derive, and its gate. */
export function deriveGate(
  mapping: ReceiptMapping,
  primitives: ReceiptPrimitives,
): { readonly v_recommendation: Recommendation; readonly v_gate: Gate } {
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
    when.v_verdict === primitives.v_verdict &&
    (when.v_method ?? primitives.v_method) === primitives.v_method &&
    (when.v_adversarial_result ?? primitives.v_adversarial_result) === primitives.v_adversarial_result &&
    (when.v_confidence ?? level) === level
  );
}
