import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  createSIWxPayload,
  encodeSIWxHeader,
} from "@x402/extensions/sign-in-with-x";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";

export const ORIGIN = "https://api.example";
export const CHAIN_ID = 31337;

/** The second account of every local chain. */
export const SIGNER = privateKeyToAccount(
  "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
);

let count = 0;

/** Message that a wallet signs to sign in at `now`; each has a nonce of its own. */
export function signInInfo(now: Date, changes: Partial<CompleteSIWxInfo> = {}): CompleteSIWxInfo {
  count += 1;
  return {
    domain: new URL(ORIGIN).host,
    uri: `${ORIGIN}/ahs/route/policy`,
    statement: "Sign in to Agent Health.",
    version: "1",
    chainId: `eip155:${CHAIN_ID}`,
    type: "eip191",
    nonce: `nonce${String(count).padStart(8, "0")}`,
    issuedAt: now.toISOString(),
    ...changes,
  };
}

/** The SIGN-IN-WITH-X header of a wallet, made by the public client for the service that the message names. */
export async function signInHeader(
  info: CompleteSIWxInfo,
  account: PrivateKeyAccount = SIGNER,
): Promise<string> {
  const origin = new URL(info.uri).origin;
  return encodeSIWxHeader(await createSIWxPayload(info, account, origin));
}

/** A header whose message the client would not sign for this service: built by hand, rightly signed. */
export async function forcedHeader(info: CompleteSIWxInfo, account = SIGNER): Promise<string> {
  const signature = await account.signMessage({ message: createSIWxMessage(info, account.address) });
  return encodeSIWxHeader({ ...info, address: account.address, signature });
}
