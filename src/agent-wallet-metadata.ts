import type { Address, Hex } from "viem";

export type AgentWalletChange = { readonly wallet: Address | null };

const PACKED_ADDRESS_CHARACTERS = 42;

/**
 * Reads a MetadataSet event as a change of the agent's wallet (ERC-8004: 20 packed bytes set it, none clears it).
 * Null for every other metadata key and for a value of any other length.
 */
export function decodeAgentWalletChange(metadataKey: string, metadataValue: Hex): AgentWalletChange | null {
  if (metadataKey !== "agentWallet") return null;
  if (metadataValue === "0x") return { wallet: null };
  if (metadataValue.length !== PACKED_ADDRESS_CHARACTERS) return null;
  return { wallet: metadataValue.toLowerCase() as Address };
}
