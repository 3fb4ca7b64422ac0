import { type Address, type Hex, keccak256, toHex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export type KeyedWallet = { readonly address: Address; readonly privateKey: Hex };

/** The wallet that a seed gives to a label: its key is keccak256 of both, so anyone with the seed can sign for it. */
export function walletOf(seed: string, label: string): KeyedWallet {
  const privateKey = keccak256(toHex(`agent-health devnet/${seed}/${label}`));
  return { address: privateKeyToAccount(privateKey).address, privateKey };
}

/** The viem account of a wallet, which signs for it. */
export function signerOf(wallet: KeyedWallet): PrivateKeyAccount {
  return privateKeyToAccount(wallet.privateKey);
}

/** A wallet of grade A or B that takes jobs in scripts, since its archetype rests on the living chain: `samples["weekly-payroll"]`. */
export function jobProvider(seed: string): KeyedWallet {
  return walletOf(seed, "weekly-payroll/0");
}
