import canonicalize from "canonicalize";
import { type Address, getAddress, type Hex, keccak256, stringToBytes } from "viem";

/** keccak256 of a text's UTF-8 bytes. An unpaired surrogate counts as U+FFFD. */
export function hashText(text: string): Hex {
  return keccak256(stringToBytes(text.toWellFormed()));
}

/**
 * keccak256 of the RFC 8785 JSON of a specification's five members, after defaults, with EIP-55 addresses. Its job is not hashed, since the
 * job's description names the hash.
 */
export function hashSpec(spec: {
  clientAddr: Address;
  providerAddr: Address | null;
  specText: string;
  acceptanceCriteria: string | null;
  domain: string;
}): Hex {
  return hashText(
    canonicalJson({
      client_addr: getAddress(spec.clientAddr),
      provider_addr: spec.providerAddr && getAddress(spec.providerAddr),
      spec_text: spec.specText,
      acceptance_criteria: spec.acceptanceCriteria,
      domain: spec.domain,
    }),
  );
}

/** Canonical JSON by RFC 8785. An unpaired surrogate becomes U+FFFD. */
export function canonicalJson(value: object): string {
  const body = canonicalize(wellFormed(value));
  if (body === undefined) throw new Error("An object that is no JSON cannot be canonicalised");
  return body;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, wellFormed(member)]));
}
