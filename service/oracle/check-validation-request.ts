import { type Address, getAddress, type Hex, isAddress, keccak256 } from "viem";
import { z } from "zod";

/** Tag of answers to requests for a score. */
export const SCORE_TAG = "ahs";

/** The form of a body that asks for an agent's score; further members, such as a salt, are free. */
const request = z.object({
  type: z.literal(SCORE_TAG),
  agentRegistry: z.string(),
  agentId: z.union([z.int().nonnegative(), z.string().regex(/^\d{1,78}$/)]),
});

/**
 * Checks the body behind a validation request: the hash is its keccak256, and it asks for the score of the very agent that the
 * request is for. So a hash that another agent took first is never answered for that agent. Returns the reason of a refusal, or null.
 */
export function refuseValidationBody(
  body: Uint8Array,
  asked: {
    readonly requestHash: Hex;
    readonly agentId: bigint;
    readonly chainId: number;
    readonly identityRegistry: Address;
  },
): string | null {
  const hash = keccak256(body);
  if (hash !== asked.requestHash) return `the body's keccak256 is ${hash}, expected ${asked.requestHash}`;
  const parsed = request.safeParse(parseJson(body));
  if (!parsed.success)
    return `the body does not ask for a score: expected {"type":"${SCORE_TAG}","agentRegistry","agentId"}`;
  const { agentId, agentRegistry } = parsed.data;
  if (BigInt(agentId) !== asked.agentId)
    return `the body names agent ${agentId}, the request is for ${asked.agentId}`;
  const expected = `eip155:${asked.chainId}:${getAddress(asked.identityRegistry)}`;
  return isRegistry(agentRegistry, asked)
    ? null
    : `the body names another agentRegistry, expected ${expected}`;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return null;
  }
}

/** CAIP-10, in any case of letters. */
function isRegistry(
  given: string,
  { chainId, identityRegistry }: { readonly chainId: number; readonly identityRegistry: Address },
): boolean {
  const [namespace, reference, address, ...rest] = given.split(":");
  return (
    namespace === "eip155" &&
    reference === `${chainId}` &&
    rest.length === 0 &&
    isAddress(address ?? "", { strict: false }) &&
    address?.toLowerCase() === identityRegistry.toLowerCase()
  );
}
