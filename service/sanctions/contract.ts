import { type Address, BlockNotFoundError, type Hex, type PublicClient } from "viem";
import { sanctionsListAbi } from "../chain/abi/sanctions-list.ts";

/** What is asked of the sanctions contract and its node; each call throws where there is no answer. */
export type SanctionsContract = {
  /** At a block, or now; anything but a clear yes or no, as from an address without code, is a failure and never a no. */
  readonly isSanctioned: (wallet: Address, block: number | "latest") => Promise<boolean>;
  /** Null where the node has no such block. */
  readonly blockHash: (block: number) => Promise<Hex | null>;
};

/** The contract at an address, through a client that has its own deadline and retries. */
export function createSanctionsContract(client: PublicClient, address: Address): SanctionsContract {
  return {
    isSanctioned: (wallet, block) =>
      client.readContract({
        address,
        abi: sanctionsListAbi,
        functionName: "isSanctioned",
        args: [wallet],
        ...(block === "latest" ? { blockTag: block } : { blockNumber: BigInt(block) }),
      }),
    async blockHash(block) {
      try {
        return (await client.getBlock({ blockNumber: BigInt(block) })).hash;
      } catch (error) {
        if (error instanceof BlockNotFoundError) return null;
        throw error;
      }
    },
  };
}
