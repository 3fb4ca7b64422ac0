import { formatSIWEMessage, parseSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { type Address, type Hex, isAddress, isHex } from "viem";
import { Problem } from "./problems.ts";

/** What a sign-in has to name to be meant for this service. */
export type SignInAudience = {
  /** Scheme, host and port under which the service is reached, without a path. */
  readonly origin: string;
  readonly chainId: number;
};

/** A sign-in that fits in everything but its signature, which nobody has checked yet. */
export type SignInClaim = {
  /** Lower-case. */
  readonly address: Address;
  readonly nonce: string;
  readonly issuedAt: Date;
  /** The EIP-4361 text that was signed. */
  readonly message: string;
  readonly signature: Hex;
};

type Fields = ReturnType<typeof parseSIWxHeader>;

/** Age beyond which a sign-in is no good, in milliseconds: api.md section 2. */
export const MAX_AGE_MS = 5 * 60_000;
/** How far the clock of a client may be ahead of ours. */
const SKEW_MS = 30_000;
const MAX_HEADER_CHARACTERS = 8_192;
/** Contract wallets concatenate the signatures of their owners. */
const MAX_SIGNATURE_BYTES = 2_048;
/** EIP-4361 wants at least 8; the upper end keeps rows small. */
const NONCE = /^[A-Za-z0-9]{8,96}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads a SIGN-IN-WITH-X header: base64 of the JSON of x402's `sign-in-with-x` extension (CAIP-122). Throws a 401 that tells
 * what was given and what was expected.
 */
export function readSignIn(header: string, audience: SignInAudience, now: Date): SignInClaim {
  if (header.length > MAX_HEADER_CHARACTERS)
    throw invalid(`The header has ${header.length} characters; at most ${MAX_HEADER_CHARACTERS} are read.`);
  const fields = parse(header);
  checkAudience(fields, audience);
  checkForm(fields);
  const issuedAt = checkTimes(fields, now);
  return {
    // isAddress has vouched for it.
    address: fields.address.toLowerCase() as Address,
    nonce: fields.nonce,
    issuedAt,
    message: messageOf(fields),
    // isHex has vouched for it.
    signature: fields.signature as Hex,
  };
}

/** What generic clients are told with a 401 that a sign-in would do for. */
export const SIGN_IN_CHALLENGE = {
  "www-authenticate":
    'ApiKey realm="agent-health", header="X-API-Key", SignInWithX realm="agent-health", header="SIGN-IN-WITH-X"',
} as const;

/** A 401 for a sign-in that is no good. */
export function invalid(detail: string, cause?: unknown): Problem {
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

// The package checks neither chain nor version nor kind, and a port or user that URL would drop must not pass as our domain.
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

// A line break inside of a member would make one signed text readable in two ways.
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
