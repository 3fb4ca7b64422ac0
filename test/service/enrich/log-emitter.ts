import { type Address, concatHex, type Hex } from "viem";
import type { TestChain } from "../../support/anvil-testkit/chain.ts";

/** Logs what it is called with: four topics, then the data. Stands for any token or entry point. */
const CODE: Hex = "0x608036036080600037606035604035602035600035608036036000a400";

/** Puts a contract at an address that logs whatever it is told, through `logCall`. */
export async function placeLogEmitter(chain: TestChain, address: Address): Promise<void> {
  await chain.rpc.request("anvil_setCode", address, CODE);
}

/** Calldata that makes a log emitter log these four topics with this data. */
export function logCall(topics: readonly [Hex, Hex, Hex, Hex], data: Hex): Hex {
  return concatHex([...topics, data]);
}
