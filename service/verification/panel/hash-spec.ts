import { type Address, getAddress, type Hex } from "viem";
import { canonicalJson } from "./canonical-json.ts";
import { hashText } from "./hash-text.ts";

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
