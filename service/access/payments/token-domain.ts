import { type Address, type PublicClient, parseAbi } from "viem";
import type { TokenDomain } from "./payment-terms.ts";

const TOKEN = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function decimals() view returns (uint8)",
]);
/** Prices are converted on this assumption. */
const DECIMALS = 6;

export type TokenDomainReader = {
  /** Asks the node until it has told once; throws viem's errors, and when the token has other decimals than 6. */
  readonly read: () => Promise<TokenDomain>;
  /** What was read; null before that. */
  readonly known: () => TokenDomain | null;
};

/**
 * Asks the token for name and version of its signing domain: they differ between chains, and a wrong one fails every
 * signature. The answer is kept; a failure is not, so the next call asks again.
 */
export function createTokenDomain(client: PublicClient, address: Address): TokenDomainReader {
  let asked: Promise<TokenDomain> | null = null;
  let known: TokenDomain | null = null;
  const ask = async () => {
    try {
      known = await readDomain(client, address);
      return known;
    } catch (error) {
      asked = null;
      throw error;
    }
  };
  return {
    read: () => {
      asked ??= ask();
      return asked;
    },
    known: () => known,
  };
}

async function readDomain(client: PublicClient, address: Address): Promise<TokenDomain> {
  const contract = { address, abi: TOKEN } as const;
  const [name, version, decimals] = await Promise.all([
    client.readContract({ ...contract, functionName: "name" }),
    client.readContract({ ...contract, functionName: "version" }),
    client.readContract({ ...contract, functionName: "decimals" }),
  ]);
  if (decimals !== DECIMALS)
    throw new Error(`token ${address} has ${decimals} decimals; prices are made for ${DECIMALS}`);
  return { name, version };
}
