import { setTimeout as sleep } from "node:timers/promises";
import { encode as encodeTypedData } from "ox/TypedData";
import {
  type Address,
  getAddress,
  type Hex,
  hashTypedData,
  isAddressEqual,
  keccak256,
  parseSignature,
  recoverAddress,
  type SignableMessage,
  serializeTransaction,
  toPrefixedMessage,
} from "viem";
import { type LocalAccount, toAccount } from "viem/accounts";

/** Half the order of secp256k1: chains refuse the other of the two signatures that a key can give (EIP-2). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * An account whose key is with a remote signer: every signature is recovered and compared before it is used. Signing throws a
 * SignerFailure.
 */
export function remoteSigner(endpoint: SignerEndpoint, address: Address): LocalAccount {
  const sign = (data: Hex, hash: Hex = keccak256(data)) => signChecked(endpoint, address, { data, hash });
  return toAccount({
    address: getAddress(address),
    signMessage: ({ message }: { readonly message: SignableMessage }) => sign(toPrefixedMessage(message)),
    signTypedData: (definition) => {
      // viem's definition and ox's are one thing; the hash by the one checks the bytes by the other.
      const bytes = encodeTypedData(definition as unknown as Parameters<typeof encodeTypedData>[0]);
      return sign(bytes, hashTypedData(definition));
    },
    signTransaction: async (transaction, options) => {
      const serialize = options?.serializer ?? serializeTransaction;
      const signature = parseSignature(await sign(await serialize(transaction)));
      return serialize(transaction, signature);
    },
  });
}

async function signChecked(
  endpoint: SignerEndpoint,
  address: Address,
  { data, hash }: { readonly data: Hex; readonly hash: Hex },
): Promise<Hex> {
  const signature = await askSigner(endpoint, data);
  const signer = await recover(hash, signature);
  if (signer === null || !isAddressEqual(signer, address))
    throw new SignerFailure("lied", `the remote signer's signature is not one of ${address}`);
  return signature;
}

/** Null for what is no signature, or the one of two that chains refuse. */
async function recover(hash: Hex, signature: Hex): Promise<Address | null> {
  if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return null;
  try {
    return await recoverAddress({ hash, signature });
  } catch {
    // r, s or v out of range: no valid signature.
    return null;
  }
}

/** Where one key of a remote signer is asked for, and for how long. */
type SignerEndpoint = {
  /** Base URL of a signer that speaks Web3Signer's eth1 API; a name and password in it are sent as basic authentication. */
  readonly url: string;
  /** The address or the public key by which the signer knows the key. */
  readonly identifier: Hex;
  readonly timeoutMs: number;
  /** Tries after the first; each is made only where the one before was not answered. */
  readonly retries: number;
};

const FIRST_PAUSE_MS = 200;
/** A signature has 132 characters; a longer answer is not from a signer. */
const MAX_ANSWER_BYTES = 1_024;
const TOO_MANY_REQUESTS = 429;
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/** Has keccak256 of the data signed: r, s and v as 65 bytes, not yet checked. Throws a SignerFailure. */
async function askSigner(endpoint: SignerEndpoint, data: Hex): Promise<Hex> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await askOnce(endpoint, data);
    } catch (error) {
      const isPassing = error instanceof SignerFailure && error.reason === "unreachable";
      if (!isPassing || tries >= endpoint.retries) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** tries);
    }
  }
}

async function askOnce({ url, identifier, timeoutMs }: SignerEndpoint, data: Hex): Promise<Hex> {
  const { target, authorization } = targetOf(url, identifier);
  const answer = await answered(async () => {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/plain", ...authorization },
      body: JSON.stringify({ data }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: response.status, text: await readShort(response) };
  });
  if (answer.status >= 500 || answer.status === TOO_MANY_REQUESTS)
    throw new SignerFailure("unreachable", `the remote signer answers ${answer.status}`);
  if (answer.status !== 200)
    throw new SignerFailure("refused", `the remote signer does not sign: it answers ${answer.status}`);
  const signature = answer.text.trim();
  if (!SIGNATURE.test(signature))
    throw new SignerFailure("lied", "the remote signer answers no signature of 65 bytes");
  // The pattern has just vouched for it.
  return signature as Hex;
}

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SignerFailure) throw error;
    throw new SignerFailure("unreachable", "the remote signer does not answer", { cause: error });
  }
}

/** The body as text; throws a SignerFailure as soon as it is longer than any signature. */
async function readShort(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES)
      throw new SignerFailure("lied", `the remote signer answers more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch takes no credentials in a URL. */
function targetOf(url: string, identifier: Hex) {
  const target = new URL(url);
  const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
  target.username = "";
  target.password = "";
  target.pathname = `${target.pathname.replace(/\/+$/, "")}/api/v1/eth1/sign/${identifier}`;
  const isNamed = credentials !== ":";
  return {
    target,
    authorization: isNamed ? { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } : {},
  };
}

/**
 * A remote signer that did not sign. unreachable: no answer, or one that speaks of the signer; asking again may help. refused: it
 * does not sign this. lied: what it answered is no signature of the account. The message names neither its URL nor the content.
 */
export class SignerFailure extends Error {
  override readonly name = "SignerFailure";
  readonly reason: "unreachable" | "refused" | "lied";

  constructor(reason: SignerFailure["reason"], message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}
