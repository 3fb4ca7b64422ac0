import { type Address, concatHex, type Hex, pad, toHex } from "viem";
import type { TestChain } from "../../../support/anvil-testkit/chain.ts";

/** Logs what it is called with: four topics, then the data. Stands for any token or entry point. */
const CODE: Hex = "0x608036036080600037606035604035602035600035608036036000a400";

/** Puts a contract at an address that emits the log of any `logCall`. */
export async function placeLogEmitter(chain: TestChain, address: Address): Promise<void> {
  await chain.rpc.request("anvil_setCode", address, CODE);
}

/** Calldata that makes a log emitter log these four topics with this data. */
export function logCall(topics: readonly [Hex, Hex, Hex, Hex], data: Hex): Hex {
  return concatHex([...topics, data]);
}

/** Logs a first topic, an account, a number that counts down from how many are asked for, and that as data. */
const FLOOD_CODE: Hex = "0x6040355b8015601d57805f52806020355f3560205fa3600190036003565b00";

/** Puts a contract at an address that logs as many events as it is asked for, through `floodCall`. */
export async function placeLogFlood(chain: TestChain, address: Address): Promise<void> {
  await chain.rpc.request("anvil_setCode", address, FLOOD_CODE);
}

/** Calldata that makes it log an ERC-20 event of the account towards so many others. */
export function floodCall(event: Hex, account: Address, count: number): Hex {
  return concatHex([event, pad(account), toHex(count, { size: 32 })]);
}
