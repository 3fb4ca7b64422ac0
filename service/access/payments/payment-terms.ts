import type { PaymentRequirements } from "@x402/core/types";
import { type Address, getAddress } from "viem";

/** The EIP-712 domain of a token, which its authorizations are signed under. */
export type TokenDomain = { readonly name: string; readonly version: string };

/** What this deployment is paid in, and to whom. */
export type PaymentTerms = {
  readonly chainId: number;
  /** CAIP-2. */
  readonly network: `eip155:${number}`;
  /** EIP-55, as is payTo. */
  readonly asset: Address;
  readonly payTo: Address;
  /** What the token says of itself; throws while no node tells. */
  readonly domain: () => Promise<TokenDomain>;
};

/** A price of 0.001 USD in the smallest unit of a token of 6 decimals that is worth a dollar. */
const ATOMIC_PER_UNIT = 1_000n;
/** Seconds that a client's signature is to be valid for: a slow answer, its settlement and some clocks' disagreement. */
const MAX_TIMEOUT_SECONDS = 300;

/** A price in thousandths of a US dollar, in the token's smallest unit; throws when it is no whole number above 0. */
export function atomicPrice(units: number): bigint {
  if (!Number.isSafeInteger(units) || units <= 0)
    throw new Error(`a price in whole units above 0 was expected, got ${units}`);
  return BigInt(units) * ATOMIC_PER_UNIT;
}

/** The one entry of `accepts` for a price in thousandths of a US dollar. */
export async function requirementsOf(terms: PaymentTerms, units: number): Promise<PaymentRequirements> {
  return requirementsUnder(await terms.domain(), terms, units);
}

/** The same under a domain that is known already. */
export function requirementsUnder(
  { name, version }: TokenDomain,
  terms: Omit<PaymentTerms, "domain">,
  units: number,
): PaymentRequirements {
  return {
    scheme: "exact",
    network: terms.network,
    asset: getAddress(terms.asset),
    amount: atomicPrice(units).toString(),
    payTo: getAddress(terms.payTo),
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name, version },
  };
}
