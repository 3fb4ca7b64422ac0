import { createHash } from "node:crypto";
import { createLocalJWKSet, type FlattenedJWSInput, flattenedVerify, type JSONWebKeySet } from "jose";

/** A relying party that verifies a receipt. It shares no code with the service. */
export type RelyingParty = {
  readonly jwks: JSONWebKeySet;
  /** The bytes of a mapping by its id; null where it cannot be had. */
  readonly mapping: (id: string) => Promise<string | null>;
  /** Unix seconds. */
  readonly now: number;
};

type Rule = { readonly when: Record<string, string>; readonly v_recommendation: string };
type Mapping = {
  readonly v_gate_threshold: number;
  readonly rules: readonly Rule[];
  readonly gates: Record<string, string>;
};

/** The gate of a receipt: "act" only where signature, mapping, recommendation, gate and time all hold, else "halt". */
export async function gateOf(receipt: FlattenedJWSInput, party: RelyingParty): Promise<"act" | "halt"> {
  try {
    return await verifiedGate(receipt, party);
  } catch {
    // Whatever cannot be verified halts.
    return "halt";
  }
}

async function verifiedGate(receipt: FlattenedJWSInput, { jwks, mapping, now }: RelyingParty) {
  const { payload } = await flattenedVerify(receipt, createLocalJWKSet(jwks), { algorithms: ["EdDSA"] });
  const claims = JSON.parse(new TextDecoder().decode(payload));
  if (!(claims.iat <= now + 30) || !(claims.exp > now - 30)) return "halt";
  const text = await mapping(claims.v_gate_mapping);
  if (text === null) return "halt";
  const digest = `sha256-${createHash("sha256").update(text).digest("hex")}`;
  if (digest !== claims.v_gate_mapping_hash) return "halt";
  const rules: Mapping = JSON.parse(text);
  const recommendation = recommend(rules, claims);
  if (recommendation === undefined || recommendation !== claims.v_recommendation) return "halt";
  return rules.gates[recommendation] === "act" && claims.v_gate === "act" ? "act" : "halt";
}

function recommend({ rules, v_gate_threshold }: Mapping, claims: Record<string, unknown>) {
  const level = Number(claims.v_confidence) >= v_gate_threshold ? "at_least_threshold" : "below_threshold";
  const facts: Record<string, unknown> = { ...claims, v_confidence: level };
  return rules.find(({ when }) => Object.entries(when).every(([name, value]) => facts[name] === value))
    ?.v_recommendation;
}
