import canonicalize from "canonicalize";
import { type Address, getAddress, type Hex, keccak256, stringToBytes } from "viem";

/** keccak256 of a text's UTF-8 bytes; half of a surrogate pair without its other half counts as U+FFFD, as everywhere in UTF-8. */
export function hashText(text: string): Hex {
  return keccak256(stringToBytes(text.toWellFormed()));
}

/** What a specification's hash covers, after defaults; its job is no part of it, since the job's description names the hash. */
export type HashedSpec = {
  readonly clientAddr: Address;
  readonly providerAddr: Address | null;
  readonly specText: string;
  readonly acceptanceCriteria: string | null;
  readonly domain: string;
};

/** keccak256 of the RFC 8785 JSON of a specification's five members, addresses in EIP-55 whatever their case here. */
export function hashSpec(spec: HashedSpec): Hex {
  return hashText(
    canonicalJson({
      client_addr: getAddress(spec.clientAddr),
      provider_addr: spec.providerAddr === null ? null : getAddress(spec.providerAddr),
      spec_text: spec.specText,
      acceptance_criteria: spec.acceptanceCriteria,
      domain: spec.domain,
    }),
  );
}

/** JSON in the one form that RFC 8785 has for it; half of a surrogate pair without its other half becomes U+FFFD. */
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
