import { NodeFailure } from "../../chain/node/failure.ts";
import type { RawHeader } from "../../chain/node/rpc-answers.ts";
import type { EnrichContext } from "../enrich/context.ts";
import type { BatchSource } from "../history/batch-source.ts";
import type { HistoryFailure } from "../history/history.ts";

export type WarmContext = {
  readonly enrich: EnrichContext;
  readonly source: BatchSource;
  /** Own calls of one wallet in a slice, above which the slice is read again in shorter parts. */
  readonly mostCalls: number;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  readonly now: () => Date;
  readonly signal: AbortSignal;
};

/** The batch source gave no usable answer. */
export class SourceFailure extends Error {
  override readonly name = "SourceFailure";
  readonly reason: HistoryFailure["reason"];
  readonly retryAfterMs: number;

  constructor({ reason, detail, retryAfterSeconds }: HistoryFailure) {
    super(`${reason}: ${detail}`);
    this.reason = reason;
    this.retryAfterMs = 1000 * (retryAfterSeconds ?? 0);
  }
}

/** A block's header from the node; throws a NodeFailure where it has none. */
export async function headerOf({ enrich: { client } }: WarmContext, block: number): Promise<RawHeader> {
  const header = await client.header(block);
  if (header === null) throw new NodeFailure("node_behind", `the node has no block ${block}`);
  return header;
}
