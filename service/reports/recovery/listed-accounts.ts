import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { readSanctionsFlags } from "../../sanctions/sanctions.ts";

/** Which of these accounts, lower-case, are sanctioned at the newest indexed block, or mixers. */
export type ListedAccounts = (accounts: ReadonlySet<Address>) => Promise<ReadonlySet<Address>>;

/** Reads the sanctions of one chain's index; mixers are those that its deployment names. */
export function createListedAccounts(
  db: Database,
  { chainId, mixers }: { readonly chainId: number; readonly mixers: readonly Address[] },
): ListedAccounts {
  const known = new Set(mixers.map((mixer) => mixer.toLowerCase()));
  return async (accounts) => {
    const flags = await readSanctionsFlags(db, { schema: `chain_${chainId}`, chainId }, [...accounts]);
    return new Set([...accounts].filter((account) => flags.has(account) || known.has(account)));
  };
}
