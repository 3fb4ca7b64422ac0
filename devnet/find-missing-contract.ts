import { contractAddresses } from "./contract-list.ts";
import type { JsonRpc } from "./json-rpc.ts";

/** Names the contracts of the local chain that a chain lacks, in one sentence; null when it has code at every address. */
export async function findMissingContract(rpc: JsonRpc): Promise<string | null> {
  const contracts = Object.entries(contractAddresses());
  const codes = await rpc.batch(
    contracts.map(([, address]) => ({ method: "eth_getCode", params: [address, "latest"] })),
  );
  const missing = contracts.find((_, i) => codes[i] === "0x");
  return missing === undefined ? null : `there is no ${missing[0]} at ${missing[1]}`;
}
