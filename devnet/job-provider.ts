import { type KeyedWallet, walletOf } from "./population/wallets.ts";

/**
 * A wallet of the population of a seed that can take jobs in a script: it has a grade of A or B, and no other process sends for
 * it, as its archetype does nothing while the chain lives. Its address is `samples["weekly-payroll"]`.
 */
export function jobProvider(seed: string): KeyedWallet {
  return walletOf(seed, "weekly-payroll/0");
}
