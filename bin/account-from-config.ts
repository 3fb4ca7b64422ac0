import type { Hex } from "viem";
import { type LocalAccount, privateKeyToAccount } from "viem/accounts";
import type { Config } from "./config.ts";

/** The chain of `ahs devnet`, where keys and node are everybody's. */
export const LOCAL_CHAIN_ID = 31_337;

export type KeyVariable =
  | "PUBLISHER_PRIVATE_KEY"
  | "SIGNER_PRIVATE_KEY"
  | "FACILITATOR_PRIVATE_KEY"
  | "VERDICT_SIGNER_PRIVATE_KEY"
  | "RELAYER_PRIVATE_KEY";

/**
 * The account behind a key of the environment. Throws when there is none, and on a public chain unless raw keys are
 * allowed there explicitly.
 */
export function accountFromConfig(config: Config, chainId: number, variable: KeyVariable): LocalAccount {
  const key = keyOf(config, variable);
  if (key === null) throw new Error(`missing settings: ${variable}`);
  if (chainId !== LOCAL_CHAIN_ID && !config.allowRawKeys) {
    throw new Error(`${variable} holds a raw key, which chain ${chainId} is refused unless ALLOW_RAW_KEYS=1`);
  }
  return privateKeyToAccount(key);
}

function keyOf(config: Config, variable: KeyVariable): Hex | null {
  switch (variable) {
    case "VERDICT_SIGNER_PRIVATE_KEY":
      return config.verdictSignerKey;
    case "RELAYER_PRIVATE_KEY":
      return config.relayerKey;
    case "PUBLISHER_PRIVATE_KEY":
      return config.publisherKey;
    case "SIGNER_PRIVATE_KEY":
      return config.signerKey;
    case "FACILITATOR_PRIVATE_KEY":
      return config.facilitatorKey;
  }
}
