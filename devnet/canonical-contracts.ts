import {
  AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  EIP3009_TOKEN_COLLECTOR_V1_0_ADDRESS,
  ERC3009_DEPOSIT_COLLECTOR_ADDRESS,
  PERMIT2_ADDRESS,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import bytecodes from "../contracts/bytecode.json" with { type: "json" };
import type { JsonRpc } from "./json-rpc.ts";

/** Contracts that x402 clients expect at the same address of every chain, with the creation code of our substitutes. */
const CANONICAL = [
  [PERMIT2_ADDRESS, bytecodes.Permit2],
  [x402ExactPermit2ProxyAddress, bytecodes.X402ExactPermit2Proxy],
  [x402UptoPermit2ProxyAddress, bytecodes.X402UptoPermit2Proxy],
  [AUTH_CAPTURE_ESCROW_V1_0_ADDRESS, bytecodes.AuthCaptureEscrow],
  [EIP3009_TOKEN_COLLECTOR_V1_0_ADDRESS, bytecodes.Eip3009Collector],
  [BATCH_SETTLEMENT_ADDRESS, bytecodes.BatchSettlement],
  [ERC3009_DEPOSIT_COLLECTOR_ADDRESS, bytecodes.Eip3009DepositCollector],
] as const;

/** Puts the substitutes at their addresses, by a method of anvil; those that are there stay as they are. */
export async function putCanonicalContracts(rpc: JsonRpc): Promise<void> {
  for (const [address, creationCode] of CANONICAL) {
    if ((await rpc.request("eth_getCode", address, "latest")) !== "0x") continue;
    const code = await rpc.request("eth_call", { data: creationCode }, "latest");
    await rpc.request("anvil_setCode", address, code);
  }
}
