import {
  createContractSignatures,
  createSignIn,
  type SignIn,
  type SignInAudience,
  takeSignInNonce,
} from "../../service/access/sign-in.ts";
import type { Database } from "../../service/db/database.ts";
import { type Config, publicUrl } from "../config.ts";
import { openChainClient } from "../process.ts";

/** A caller waits meanwhile. */
const CALLER_RPC = { timeoutMs: 3_000, retries: 0 } as const;

/** Whom sign-ins have to name: the public origin, or the local one, and the chain. */
export function signInAudience(config: Config, chainId: number): SignInAudience {
  return { origin: new URL(publicUrl(config)).origin, chainId };
}

/** Sign-in by SIGN-IN-WITH-X; contract wallets can where a node is configured. */
export function signInFromConfig(
  config: Config,
  { db, chainId, clock }: { db: Database; chainId: number; clock: { now(): Date } },
): SignIn {
  return createSignIn({
    ...signInAudience(config, chainId),
    clock,
    takeNonce: (use) => takeSignInNonce(db, use),
    contractSignatures:
      config.rpcUrl === null ? null : createContractSignatures(openChainClient(config.rpcUrl, CALLER_RPC)),
  });
}
