import type { LocalAccount } from "viem/accounts";
import type { Config } from "./config.ts";
import type { Role } from "./keys/key-variables.ts";
import { openAccounts } from "./keys/open-accounts.ts";

/** The account of one role; throws where its key is not set or cannot be used, as openAccounts does for several at once. */
export async function accountFromConfig(config: Config, chainId: number, role: Role): Promise<LocalAccount> {
  const accounts = await openAccounts(config, { required: [role] }, { chainId });
  return accounts[role];
}
