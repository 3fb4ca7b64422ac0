import type { Address } from "viem";
import { z } from "zod";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/raw-log.ts";
import { logAnswer } from "../../chain/node/rpc-answers.ts";

/** What one block holds for a registry; too_full: no answer of the node has room for it. */
export type FullBlock = readonly RawLog[] | "too_full" | EnrichFailure;

export type FullBlockQuery = {
  readonly client: Pick<ChainReader, "blockReceipts" | "header">;
  /** Lower-case address. */
  readonly registry: Address;
  readonly block: number;
  /** What the node said when it was asked for the block's logs. */
  readonly refusal: EnrichFailure;
};

/**
 * The registry's logs of a block whose logs the node refuses, whatever their first topic, out of the receipts of the whole
 * block. The block is too full only where the node refused both for their size, or does not know the latter, and still answers
 * what is small, since limits of rate are told in the same words; a node that took too long is a failure, which may pass.
 */
export async function readFullBlock({
  client,
  registry,
  block,
  refusal,
}: FullBlockQuery): Promise<FullBlock> {
  try {
    const receipts = await client.blockReceipts(block);
    if (receipts === null) return new EnrichFailure("node_behind", `no receipts of block ${block}`);
    const logs = z.array(logAnswer).safeParse(receipts.flatMap((receipt) => receipt.logs));
    if (!logs.success) return new EnrichFailure("garbage", `malformed logs in receipts of block ${block}`);
    return logs.data.filter(({ address }) => address === registry);
  } catch (error) {
    if (!(error instanceof EnrichFailure)) throw error;
    const isTooLarge = error.kind === "too_many_results" || error.kind === "method_missing";
    if (!isTooLarge || refusal.kind !== "too_many_results") return refusal;
    return (await isAnswering(client, block)) ? "too_full" : refusal;
  }
}

async function isAnswering({ header }: Pick<ChainReader, "header">, block: number): Promise<boolean> {
  try {
    return (await header(block)) !== null;
  } catch (error) {
    if (error instanceof EnrichFailure) return false;
    throw error;
  }
}
