import type { Hex } from "viem";

/** Signatures of methods that agents call most, by selector; whether a contract means the same by it is its own affair. */
export const METHOD_NAMES: ReadonlyMap<Hex, string> = new Map([
  ["0xa9059cbb", "transfer(address,uint256)"],
  ["0x23b872dd", "transferFrom(address,address,uint256)"],
  ["0x095ea7b3", "approve(address,uint256)"],
  ["0xa22cb465", "setApprovalForAll(address,bool)"],
  ["0xd0e30db0", "deposit()"],
  ["0x2e1a7d4d", "withdraw(uint256)"],
  ["0xac9650d8", "multicall(bytes[])"],
  ["0x5ae401dc", "multicall(uint256,bytes[])"],
  ["0x3593564c", "execute(bytes,bytes[],uint256)"],
  ["0x38ed1739", "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"],
  ["0x7ff36ab5", "swapExactETHForTokens(uint256,address[],address,uint256)"],
  ["0x18cbafe5", "swapExactTokensForETH(uint256,uint256,address[],address,uint256)"],
]);

/** The signature that a selector usually stands for; null for a plain transfer and for a selector not listed. */
export function methodName(selector: Hex | null): string | null {
  return selector === null ? null : (METHOD_NAMES.get(selector) ?? null);
}
