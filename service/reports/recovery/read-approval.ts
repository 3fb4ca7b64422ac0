import { type Address, type Hex, parseAbiParameters, toFunctionSelector } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";

/** ERC-20 approve and its two variants, and setApprovalForAll of collections; ERC-721's approve has the form of the first. */
export const APPROVAL_SELECTORS: readonly Hex[] = [
  "approve(address,uint256)",
  "increaseAllowance(address,uint256)",
  "decreaseAllowance(address,uint256)",
  "setApprovalForAll(address,bool)",
].map((signature) => toFunctionSelector(signature));

const SPENDER_AND_MORE = parseAbiParameters("address, uint256");

/** Who may spend what after a call that changes an allowance, lower-case; null for any other call. */
export function readApproval({ to, input }: { readonly to: Address; readonly input: Hex }): {
  readonly token: Address;
  readonly spender: Address;
} | null {
  if (!APPROVAL_SELECTORS.includes(input.slice(0, 10).toLowerCase() as Hex)) return null;
  const [spender] = decodeParameters(SPENDER_AND_MORE, `0x${input.slice(10)}`) ?? [];
  // Calldata of this selector that is too short allows nothing.
  if (spender === undefined) return null;
  return { token: to.toLowerCase() as Address, spender: spender.toLowerCase() as Address };
}
