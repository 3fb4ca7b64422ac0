import { type Address, getAddress, type Hex, isAddress, keccak256 } from "viem";
import { z } from "zod";

/** Tag of answers to requests for a score. */
export const SCORE_TAG = "ahs";
/** First part of the tag of answers to requests for a verdict; the second is the decision. */
export const VERDICT_TAG = "ahm-verify";

const agent = {
  agentRegistry: z.string(),
  agentId: z.union([z.int().nonnegative(), z.string().regex(/^\d{1,78}$/)]),
};
const id = z.guid().transform((text) => text.toLowerCase());

/** The form of a body: it asks for the agent's score or for a verdict on its output. Further members, such as a salt, are free. */
const request = z.union([
  z.object({ ...agent, type: z.literal(SCORE_TAG) }),
  z.object({ ...agent, type: z.literal(VERDICT_TAG), verdictId: id }),
  z.object({
    ...agent,
    type: z.literal(VERDICT_TAG),
    specId: id,
    outputHash: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .transform((hash) => hash.toLowerCase() as Hex),
  }),
]);

/** A verdict by its id, or by its specification and the keccak256 of the output. */
export type VerdictName =
  | { readonly verdictId: string }
  | { readonly specId: string; readonly outputHash: Hex };

/** Subject of a request, or the reason of its refusal. */
type ValidationSubject =
  | { readonly kind: "score" }
  | { readonly kind: "verdict"; readonly name: VerdictName }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads the body behind a validation request, and checks that its keccak256 is the request's hash and that it names the very agent
 * that the request is for. So a hash that another agent took first is never answered for that agent.
 */
export function readValidationBody(
  body: Uint8Array,
  asked: {
    readonly requestHash: Hex;
    readonly agentId: bigint;
    readonly chainId: number;
    readonly identityRegistry: Address;
  },
): ValidationSubject {
  const hash = keccak256(body);
  if (hash !== asked.requestHash)
    return refused(`the body's keccak256 is ${hash}, expected ${asked.requestHash}`);
  const parsed = request.safeParse(parseJson(body));
  if (!parsed.success)
    return refused(
      `the body asks for neither a score nor a verdict: expected {"type":"${SCORE_TAG}","agentRegistry","agentId"}, or "type":"${VERDICT_TAG}" with "verdictId", or with "specId" and "outputHash"`,
    );
  const { agentId, agentRegistry, ...subject } = parsed.data;
  if (BigInt(agentId) !== asked.agentId)
    return refused(`the body names agent ${agentId}, the request is for ${asked.agentId}`);
  const expected = `eip155:${asked.chainId}:${getAddress(asked.identityRegistry)}`;
  if (!isRegistry(agentRegistry, asked))
    return refused(`the body names another agentRegistry, expected ${expected}`);
  if (subject.type === SCORE_TAG) return { kind: "score" };
  const { type: _, ...name } = subject;
  return { kind: "verdict", name };
}

function refused(reason: string) {
  return { kind: "refused", reason } as const;
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
