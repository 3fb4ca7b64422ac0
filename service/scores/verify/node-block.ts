import type { Hex } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";
import type { RawReceipt } from "../../chain/node/rpc-answers.ts";
import { medianTip } from "../../ingest/enrich/median-tip.ts";

/** A block as the node tells it, with every receipt. */
export type NodeBlock = {
  readonly number: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly receipts: ReadonlyMap<Hex, RawReceipt>;
  /** Base fee and median tip in wei per gas; null where the block tells none. */
  readonly marketPrice: bigint | null;
};

/** Reads a block and its receipts; throws an EnrichFailure when the node does not hold both. */
export async function readNodeBlock(
  client: Pick<ChainReader, "header" | "blockReceipts">,
  number: number,
): Promise<NodeBlock> {
  const [header, receipts] = await Promise.all([client.header(number), client.blockReceipts(number)]);
  if (header === null || receipts === null) {
    throw new EnrichFailure("node_behind", `the node has no block ${number}`);
  }
  const { timestamp, baseFeePerGas = null } = header;
  const tip =
    baseFeePerGas === null
      ? null
      : medianTip(
          receipts.map((receipt) => receipt.effectiveGasPrice),
          baseFeePerGas,
        );
  return {
    number,
    timestamp,
    receipts: new Map(receipts.map((receipt) => [receipt.transactionHash, receipt])),
    marketPrice: baseFeePerGas === null || tip === null ? null : baseFeePerGas + tip,
  };
}
