import type { Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { BundleTransaction } from "./executions.ts";
import { readFrames, type TraceFrame } from "./native-payments.ts";

/** Passes that may fail on one transaction by trouble of the node: nodes answer some traces with their own errors for ever. */
const MOST_TROUBLE = 3;
/** Transactions whose trouble is remembered. */
const MOST_REMEMBERED = 1_000;

/**
 * Reads traces of transactions; null where the node gives none: it has no such method, or answers too slowly, too much or with an
 * error. A node that may be in trouble is asked again by the next pass, twice at most: then a NodeFailure is thrown.
 */
export function createTraceReader(
  client: Pick<ChainReader, "trace" | "header">,
  onMissing: (cause: NodeFailure) => void,
): (
  hash: Hex,
  bundle: Pick<BundleTransaction, "block" | "to" | "input">,
) => Promise<readonly TraceFrame[] | null> {
  let hasTraces = true;
  const trouble = new Map<Hex, number>();
  return async (hash, { block, to, input }) => {
    if (!hasTraces) return null;
    try {
      const frames = readFrames(await client.trace(hash));
      trouble.delete(hash);
      const [whole] = frames ?? [];
      return whole?.to === to && whole.input === input ? frames : null;
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      if (error.kind === "method_missing") {
        if (hasTraces) onMissing(error);
        hasTraces = false;
        return null;
      }
      if (!error.mayPass || error.kind === "timeout") return null;
      // Throws where the node answers nothing else either.
      await client.header(block);
      const times = (trouble.get(hash) ?? 0) + 1;
      if (times < MOST_TROUBLE && (trouble.has(hash) || trouble.size < MOST_REMEMBERED)) {
        trouble.set(hash, times);
        throw error;
      }
      trouble.delete(hash);
      return null;
    }
  };
}
