import { formatSIWEMessage, parseSIWxHeader, verifyEVMSignature } from "@x402/extensions/sign-in-with-x";
import { lte } from "drizzle-orm";
import {
  type Address,
  BaseError,
  encodeFunctionData,
  type Hex,
  hashMessage,
  isAddress,
  isHex,
  type PublicClient,
  parseAbi,
} from "viem";
import { nodeFailureOf } from "../chain/node/failure.ts";
import { type Database, underDeadline } from "../db/database.ts";
import { signInNonce } from "../db/tables/payment.ts";
import type { CallerRequest, OwnerAccess, PaidRequest } from "./access.ts";
import type { KeyAccess } from "./api-key-access.ts";
import { Problem, unavailable } from "./problems.ts";
import { type CallLimiter, countedKeys } from "./rate-limits.ts";

/**
 * Returns the wallet (lower-case) that signed the request in by SIGN-IN-WITH-X; null without the header. Throws a 401
 * for an invalid one.
 */
export type SignIn = (request: Pick<PaidRequest, "header">) => Promise<Address | null>;

/**
 * Sign-in by CAIP-122 in the SIGN-IN-WITH-X header: for our domain, origin and chain, at most 5 minutes old. Each nonce
 * is valid once. The signer is an account's key or a contract wallet.
 */
export function createSignIn(
  deps: SignInAudience & {
    readonly clock: { now(): Date };
    /** False when the nonce was taken before. */
    readonly takeNonce: (use: Parameters<typeof takeSignInNonce>[1]) => Promise<boolean>;
    /** Null without a node: then contract wallets cannot sign in. */
    readonly contractSignatures: ReturnType<typeof createContractSignatures> | null;
  },
): SignIn {
  return async (request) => {
    const header = request.header("sign-in-with-x");
    if (header === undefined || header === "") return null;
    const claim = readSignIn(header, deps, deps.clock.now());
    if (!(await isSigned(claim, deps))) {
      const also = deps.contractSignatures === null ? "" : ", nor does a contract there accept it";
      throw invalid(`the signature over the message is not one of ${claim.address}${also}.`);
    }
    // Last step, so that only the signer can use up the nonce. It is stored for twice the lifetime of the message.
    const expiresAt = new Date(claim.issuedAt.getTime() + 2 * MAX_AGE_MS);
    if (!(await deps.takeNonce({ nonce: claim.nonce, address: claim.address, expiresAt })))
      throw invalid(`nonce: "${claim.nonce}" was used before; sign another message with a fresh one.`);
    return claim.address;
  };
}

// Key recovery goes first: it needs no node, and a contract's signature cannot match by chance.
async function isSigned(
  { address, message, signature }: ReturnType<typeof readSignIn>,
  { contractSignatures }: Parameters<typeof createSignIn>[0],
): Promise<boolean> {
  if (await verifyEVMSignature(message, address, signature)) return true;
  if (contractSignatures === null) return false;
  return contractSignatures({ address, hash: hashMessage(message), signature });
}

/**
 * Identifies owners on free endpoints by X-API-Key, else by SIGN-IN-WITH-X, and counts each call against the owner's rate. The error
 * of a request with neither explains both.
 */
export function createOwnerAccess(deps: {
  readonly keys: Pick<KeyAccess, "identify">;
  readonly signIn: SignIn;
  readonly audience: SignInAudience;
  readonly limiter: CallLimiter;
  /** Calls a minute of a wallet. */
  readonly payerRatePerMinute: number;
}): OwnerAccess {
  const { signIn, audience, limiter } = deps;
  const keys = countedKeys(deps.keys, limiter);
  return {
    async identify(request: CallerRequest) {
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

/** The service that a sign-in must name. */
export type SignInAudience = {
  /** Scheme, host and port under which the service is reached, without a path. */
  readonly origin: string;
  readonly chainId: number;
};

type Fields = ReturnType<typeof parseSIWxHeader>;

/** Longest age of a sign-in, in milliseconds. */
const MAX_AGE_MS = 5 * 60_000;
/** How far the clock of a client may be ahead of ours. */
const SKEW_MS = 30_000;
const MAX_HEADER_CHARACTERS = 8_192;
/** Contract wallets concatenate the signatures of their owners. */
const MAX_SIGNATURE_BYTES = 2_048;
/** EIP-4361 requires at least 8; the maximum bounds the rows. */
const NONCE = /^[A-Za-z0-9]{8,96}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a SIGN-IN-WITH-X header: base64 of the JSON of x402's `sign-in-with-x` extension (CAIP-122). Only the signature is not
 * checked. Throws a 401 with given and expected value.
 */
function readSignIn(header: string, audience: SignInAudience, now: Date) {
  if (header.length > MAX_HEADER_CHARACTERS)
    throw invalid(`The header has ${header.length} characters; at most ${MAX_HEADER_CHARACTERS} are read.`);
  const fields = parse(header);
  checkAudience(fields, audience);
  checkForm(fields);
  const issuedAt = checkTimes(fields, now);
  return {
    // Lower-case; isAddress has vouched for it.
    address: fields.address.toLowerCase() as Address,
    nonce: fields.nonce,
    issuedAt,
    /** The signed EIP-4361 text. */
    message: messageOf(fields),
    // isHex has vouched for it.
    signature: fields.signature as Hex,
  };
}

/** Headers of a 401 that a sign-in would satisfy. */
const SIGN_IN_CHALLENGE = {
  "www-authenticate":
    'ApiKey realm="agent-health", header="X-API-Key", SignInWithX realm="agent-health", header="SIGN-IN-WITH-X"',
} as const;

/** The 401 of an invalid sign-in. */
function invalid(detail: string, cause?: unknown): Problem {
  return new Problem("sign-in-invalid", `SIGN-IN-WITH-X: ${detail}`, { headers: SIGN_IN_CHALLENGE, cause });
}

function parse(header: string): Fields {
  try {
    return parseSIWxHeader(header);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw invalid(`expected base64 of the JSON of a signed CAIP-122 message. ${found}`, error);
  }
}

// The package checks neither chain nor version nor kind. URL drops default ports and users, which must not pass as our domain.
function checkAudience(fields: Fields, { origin, chainId }: SignInAudience): void {
  const { host } = new URL(origin);
  expectEqual("domain", fields.domain, host);
  if (originOf(fields.uri) !== origin) throw mismatch("uri", fields.uri, `a URL under ${origin}`);
  expectEqual("chainId", fields.chainId, `eip155:${chainId}`);
  expectEqual("version", fields.version, "1");
  expectEqual("type", fields.type, "eip191");
}

function originOf(uri: string): string | null {
  return URL.canParse(uri) ? new URL(uri).origin : null;
}

// A line break inside a member would make the signed text ambiguous.
function checkForm(fields: Fields): void {
  const texts = Object.values(fields).flat();
  if (texts.some((text) => text !== undefined && hasControlCharacter(text)))
    throw invalid("a member holds a line break or another control character; none may.");
  if (!isAddress(fields.address)) throw mismatch("address", fields.address, "an EIP-55 address");
  if (!NONCE.test(fields.nonce)) throw mismatch("nonce", fields.nonce, "8 to 96 letters and digits, random");
  const bytes = (fields.signature.length - 2) / 2;
  if (!isHex(fields.signature) || !Number.isInteger(bytes) || bytes < 1 || bytes > MAX_SIGNATURE_BYTES)
    throw mismatch("signature", fields.signature, `0x and 1 to ${MAX_SIGNATURE_BYTES} bytes in hexadecimal`);
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

function checkTimes({ issuedAt, expirationTime, notBefore }: Fields, now: Date): Date {
  const issued = timeOf("issuedAt", issuedAt);
  const ageMs = now.getTime() - issued.getTime();
  const current = `it is ${now.toISOString()} here`;
  if (ageMs > MAX_AGE_MS)
    throw mismatch("issuedAt", issuedAt, `a time at most ${MAX_AGE_MS / 60_000} minutes ago; ${current}`);
  if (ageMs < -SKEW_MS) throw mismatch("issuedAt", issuedAt, `a time that has come; ${current}`);
  if (expirationTime !== undefined && timeOf("expirationTime", expirationTime) <= now)
    throw mismatch("expirationTime", expirationTime, `a time to come; ${current}`);
  if (notBefore !== undefined && timeOf("notBefore", notBefore).getTime() > now.getTime() + SKEW_MS)
    throw mismatch("notBefore", notBefore, `a time that has come; ${current}`);
  return issued;
}

function timeOf(name: string, text: string): Date {
  const time = new Date(text);
  if (!TIME.test(text) || Number.isNaN(time.getTime()))
    throw mismatch(name, text, "ISO 8601 with a zone, such as 2026-11-20T10:00:00Z");
  return time;
}

// The cast holds because the package's own schema made the fields; it lets absent members be undefined as well.
function messageOf(fields: Fields): string {
  try {
    return formatSIWEMessage(fields as Parameters<typeof formatSIWEMessage>[0], fields.address);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw invalid(`the members make no EIP-4361 message. ${found}`, error);
  }
}

function expectEqual(name: string, given: string, expected: string): void {
  if (given !== expected) throw mismatch(name, given, `"${expected}"`);
}

function mismatch(name: string, given: string, expected: string): Problem {
  return invalid(`${name}: expected ${expected}, got "${given.slice(0, 128)}".`);
}

const ERC_1271 = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
/** The whole answer of an accepting contract: the magic value as an ABI word. A longer answer may be an echo. */
const ACCEPTED = `0x1626ba7e${"0".repeat(56)}`;
const RETRY_AFTER_SECONDS = 5;

/**
 * Asks a deployed contract by ERC-1271 through a node, at its newest block; false if there is no contract. Wallets not deployed yet
 * (ERC-6492) are not asked: they own nothing here. Throws a 503 if the node fails.
 */
export function createContractSignatures(client: Pick<PublicClient, "call" | "getCode">) {
  return async ({
    address,
    hash,
    signature,
  }: {
    readonly address: Address;
    readonly hash: Hex;
    readonly signature: Hex;
  }): Promise<boolean> => {
    const data = encodeFunctionData({
      abi: ERC_1271,
      functionName: "isValidSignature",
      args: [hash, signature],
    });
    try {
      // Precompiles answer without being contracts.
      const [code, answer] = await Promise.all([
        client.getCode({ address }),
        client.call({ to: address, data }),
      ]);
      return code !== undefined && code !== "0x" && answer.data?.toLowerCase() === ACCEPTED;
    } catch (error) {
      if (nodeFailureOf(error)?.isVerdict === false) throw nodeSilent(error);
      // Any other failure comes from the contract and means no acceptance.
      if (error instanceof BaseError) return false;
      throw error;
    }
  };
}

function nodeSilent(cause: unknown): Error {
  const detail = "The node that asks contract wallets about signatures does not answer.";
  return unavailable("node-unavailable", detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
}

/** Takes a nonce of one address by one atomic insert. Returns false if it was used before. */
export async function takeSignInNonce(
  db: Database,
  use: {
    readonly nonce: string;
    /** Lower-case. */
    readonly address: Address;
    /** From then on a message with this nonce is too old for any server. */
    readonly expiresAt: Date;
  },
): Promise<boolean> {
  const { rowCount } = await underDeadline(db).insert(signInNonce).values(use).onConflictDoNothing();
  return rowCount === 1;
}

/** Deletes expired nonces. Returns their number. */
export async function dropExpiredNonces(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.delete(signInNonce).where(lte(signInNonce.expiresAt, now));
  return rowCount ?? Number.NaN;
}
