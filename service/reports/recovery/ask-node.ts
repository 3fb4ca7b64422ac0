import { type Address, createPublicClient, type Hex, http, type PublicClient } from "viem";
import { z } from "zod";
import { classifySendFailure, type SendFailure } from "../../sender/send-rpc.ts";

/** The node gave no usable answer. A retry is always safe. */
export class NodeFailure extends Error {
  override readonly name = "NodeFailure";
  /** behind: it does not have the indexed block, or another block at its height. */
  readonly kind: "unreachable" | "deadline" | "garbage" | "behind";

  constructor(kind: NodeFailure["kind"], message: string, options?: { readonly cause?: unknown }) {
    super(`${kind}: ${message}`, options);
    this.kind = kind;
  }
}

export type AskOptions = {
  readonly url: string;
  /** Per request. */
  readonly timeoutMs: number;
  readonly retries: number;
  /** After which no further request begins. */
  readonly deadlineMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

/** An answer, or the node's refusal, such as a revert. */
export type NodeAnswer<Answer> =
  | { readonly kind: "answer"; readonly value: Answer }
  | { readonly kind: "refused"; readonly failure: SendFailure };

/** Sends one request; the schema checks the answer. */
export type AskNode = <Answer>(
  schema: z.ZodType<Answer>,
  method: string,
  params: readonly unknown[],
) => Promise<NodeAnswer<Answer>>;

/** Error texts of a missing block or state. */
const NO_STATE =
  /header not found|unknown block|block .{0,40}not found|missing trie node|state .{0,60}(not available|unavailable|not found|pruned)|historical state|BlockOutOfRange/i;

/**
 * Sends raw HTTP requests: viem's call would fetch any URL that a contract names (ERC-3668). Throws a NodeFailure if
 * the node is unreachable, lacks the state or returns an invalid answer.
 */
export function createAskNode(options: AskOptions): AskNode {
  const { timeoutMs, retries, deadlineMs, monotonicMs } = options;
  const transport = http(options.url, { timeout: timeoutMs, retryCount: retries, retryDelay: 150 });
  const client = createPublicClient({ transport });
  const end = monotonicMs() + deadlineMs;
  return async (schema, method, params) => {
    if (monotonicMs() > end)
      throw new NodeFailure("deadline", `${method}: not begun within ${deadlineMs} ms`);
    const answer = await askOnce(client, method, params);
    if (answer.kind === "refused") return answer;
    const parsed = schema.safeParse(answer.value);
    if (parsed.success) return { kind: "answer", value: parsed.data };
    throw new NodeFailure("garbage", `${method}: ${z.prettifyError(parsed.error).slice(0, 300)}`);
  };
}

async function askOnce(
  client: PublicClient,
  method: string,
  params: readonly unknown[],
): Promise<NodeAnswer<unknown>> {
  try {
    return { kind: "answer", value: await requestAny(client, method, params) };
  } catch (error) {
    const failure = classifySendFailure(error);
    // Checked first, since contracts choose their revert texts.
    if (failure.kind === "reverted_in_simulation") return { kind: "refused", failure };
    if (NO_STATE.test(failure.message)) {
      throw new NodeFailure("behind", `${method}: ${failure.message}`, { cause: error });
    }
    if (failure.kind === "unreachable") {
      throw new NodeFailure("unreachable", `${method}: ${failure.message}`, { cause: error });
    }
    return { kind: "refused", failure };
  }
}

/** viem types only the methods that it knows; a schema checks every answer instead. */
function requestAny(client: PublicClient, method: string, params: readonly unknown[]): Promise<unknown> {
  return client.request({ method, params } as never);
}

const pattern = (form: RegExp) => z.string().regex(form);

/** Schemas of node answers, in lower case. */
export const bytesAnswer = z
  .string()
  .refine(isBytes)
  .transform((text) => text.toLowerCase() as Hex);

/** Avoids a repeated group, which overflows the stack on megabytes of contract output. */
function isBytes(text: string): boolean {
  return text.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(text);
}

const wordAnswer = pattern(/^0x[0-9a-fA-F]{64}$/).transform((text) => text.toLowerCase() as Hex);

const addressAnswer = pattern(/^0x[0-9a-fA-F]{40}$/).transform((text) => text.toLowerCase() as Address);

export const quantityAnswer = pattern(/^0x[0-9a-fA-F]{1,64}$/).transform((text) => BigInt(text));

export const countAnswer = quantityAnswer
  .refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER))
  .transform(Number);

export const headerAnswer = z.object({
  number: countAnswer,
  hash: wordAnswer,
  timestamp: countAnswer,
  gasLimit: quantityAnswer,
  baseFeePerGas: quantityAnswer.nullish(),
});

/** A block with full transactions; a pending one has no hash. */
export const fullBlockAnswer = z.object({
  transactions: z.array(
    z.object({
      hash: wordAnswer,
      from: addressAnswer,
      to: addressAnswer.nullish(),
      nonce: countAnswer,
      input: bytesAnswer,
      value: quantityAnswer,
    }),
  ),
});

/** Result of eth_simulateV1: one block with the outcome of each call. */
export const simulationAnswer = z.array(
  z.object({ calls: z.array(z.object({ status: z.enum(["0x0", "0x1"]), returnData: bytesAnswer })) }),
);
