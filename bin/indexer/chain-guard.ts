import { BlockNotFoundError, type PublicClient } from "viem";
import type { ChainMark } from "../../service/db/chain-fence.ts";

/** Whether the node still serves the chain that the mark was taken from. Raises the node's error when it is out of reach. */
export async function servesMarkedChain(client: PublicClient, mark: ChainMark): Promise<boolean> {
  try {
    const block = await client.getBlock({ blockNumber: BigInt(mark.blockNumber) });
    return block.hash === mark.blockHash;
  } catch (error) {
    if (error instanceof BlockNotFoundError) return false;
    throw error;
  }
}
