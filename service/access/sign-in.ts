import { verifyEVMSignature } from "@x402/extensions/sign-in-with-x";
import { type Address, type Hex, hashMessage } from "viem";
import type { KeyAccess } from "./access.ts";
import { countedKeys } from "./call-limiter.ts";
import type { CallLimiter } from "./create-access.ts";
import type { OwnerAccess } from "./owner.ts";
import { Problem } from "./problems.ts";
import {
  invalid,
  MAX_AGE_MS,
  readSignIn,
  SIGN_IN_CHALLENGE,
  type SignInAudience,
  type SignInClaim,
} from "./sign-in-message.ts";
import type { NonceUse } from "./sign-in-nonces.ts";

/** Any request, as far as a sign-in can be read from it. */
type HeaderSource = { header(name: string): string | undefined };

/** The wallet, lower-case, that signed the request in by its SIGN-IN-WITH-X header; null without one; throws a 401 otherwise. */
export type SignIn = (request: HeaderSource) => Promise<Address | null>;

/** ERC-1271, asked of a deployed contract; false as well where there is none. Throws a 503 when the node does not answer. */
export type ContractSignatures = (claim: {
  readonly address: Address;
  readonly hash: Hex;
  readonly signature: Hex;
}) => Promise<boolean>;

export type SignInDeps = SignInAudience & {
  readonly clock: { now(): Date };
  /** False when the nonce was taken before. */
  readonly takeNonce: (use: NonceUse) => Promise<boolean>;
  /** Null without a node: then contract wallets cannot sign in. */
  readonly contractSignatures: ContractSignatures | null;
};

/**
 * Sign-in by CAIP-122 in the SIGN-IN-WITH-X header: for our domain, origin and chain, at most 5 minutes old, each nonce once,
 * signed by an account's key or accepted by a contract wallet.
 */
export function createSignIn(deps: SignInDeps): SignIn {
  return async (request) => {
    const header = request.header("sign-in-with-x");
    if (header === undefined || header === "") return null;
    const claim = readSignIn(header, deps, deps.clock.now());
    if (!(await isSigned(claim, deps))) {
      const also = deps.contractSignatures === null ? "" : ", nor does a contract there accept it";
      throw invalid(`the signature over the message is not one of ${claim.address}${also}.`);
    }
    // Last of all, so that nobody else's message can use it up; kept for twice as long as a server would take the message.
    const expiresAt = new Date(claim.issuedAt.getTime() + 2 * MAX_AGE_MS);
    if (!(await deps.takeNonce({ nonce: claim.nonce, address: claim.address, expiresAt })))
      throw invalid(`nonce: "${claim.nonce}" was used before; sign another message with a fresh one.`);
    return claim.address;
  };
}

// Recovery needs no node and the same signature cannot be a contract's by chance, so it goes first.
async function isSigned(
  { address, message, signature }: SignInClaim,
  { contractSignatures }: SignInDeps,
): Promise<boolean> {
  if (await verifyEVMSignature(message, address, signature)) return true;
  if (contractSignatures === null) return false;
  return contractSignatures({ address, hash: hashMessage(message), signature });
}

export type OwnerAccessDeps = {
  readonly keys: Pick<KeyAccess, "identify">;
  readonly signIn: SignIn;
  readonly audience: SignInAudience;
  readonly limiter: CallLimiter;
  /** Calls a minute of a wallet. */
  readonly payerRatePerMinute: number;
};

/**
 * Owners by X-API-Key, else by SIGN-IN-WITH-X, each call counted against the owner's rate; a request with neither is told how to
 * make one.
 */
export function createOwnerAccess(deps: OwnerAccessDeps): OwnerAccess {
  const { signIn, audience, limiter } = deps;
  const keys = countedKeys(deps.keys, limiter);
  return {
    async identify(request) {
      const key = await keys.identify(request);
      if (key !== null) return { kind: "key", keyId: key.keyId };
      const address = await signIn(request);
      if (address !== null) {
        const owner = { kind: "wallet", address } as const;
        await limiter.take(owner, deps.payerRatePerMinute);
        return owner;
      }
      throw new Problem(
        "identity-missing",
        `Send an API key in X-API-Key, or in SIGN-IN-WITH-X a message signed by the wallet that pays: base64 of the JSON of x402's sign-in-with-x, for the domain ${new URL(audience.origin).host}, a URI under ${audience.origin} and the chain eip155:${audience.chainId}.`,
        { headers: SIGN_IN_CHALLENGE },
      );
    },
  };
}
