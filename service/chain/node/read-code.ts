import type { Address, Hex } from "viem";
import type { ChainReader } from "./chain-reader.ts";
import { EnrichFailure } from "./failure.ts";

/** Code of an account at a block, or at the newest finalized one of a node that keeps no state of that block. */
export async function readCode(client: ChainReader, address: Address, block: number): Promise<Hex> {
  try {
    return await client.code(address, block);
  } catch (error) {
    if (!(error instanceof EnrichFailure) || error.kind === "timeout" || error.kind === "rate_limited")
      throw error;
    return client.code(address, "finalized");
  }
}
