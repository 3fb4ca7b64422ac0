import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import type { FacilitatorConfig } from "@x402/core/http";
import { SignJWT } from "jose";

/** Credentials for an HTTP facilitator: a text in a header, or a key that signs a token for each request. */
export type FacilitatorCredentials =
  | { readonly kind: "header"; readonly name: string; readonly value: string }
  /** The scheme of Coinbase's Developer Platform. */
  | { readonly kind: "key"; readonly id: string; readonly key: KeyObject };

/** Bytes of an Ed25519 secret in base64: its seed, then its public key. */
const ED25519_BYTES = 64;

/**
 * Reads the secret of a CDP API key: an EC key of P-256 in PEM, whose line ends may be written as \n, or an Ed25519 key in
 * base64. Returns null for any other text.
 */
export function readSigningKey(secret: string): KeyObject | null {
  try {
    return secret.includes("-----") ? readEcKey(secret) : readEd25519Key(secret);
  } catch {
    // Node's error would repeat parts of the text.
    return null;
  }
}

function readEcKey(pem: string): KeyObject | null {
  const key = createPrivateKey(pem.replaceAll("\\n", "\n"));
  return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
}

function readEd25519Key(text: string): KeyObject | null {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== ED25519_BYTES) return null;
  const d = bytes.subarray(0, 32).toString("base64url");
  const x = bytes.subarray(32).toString("base64url");
  const key = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" });
  return createPublicKey(key).export({ format: "jwk" }).x === x ? key : null;
}

/** The headers of each request to a facilitator, as the official client asks for them. */
export function authHeadersOf(
  credentials: FacilitatorCredentials,
  { url, now }: { readonly url: string; readonly now: () => Date },
): NonNullable<FacilitatorConfig["createAuthHeaders"]> {
  if (credentials.kind === "header") {
    const headers = { [credentials.name]: credentials.value };
    return async () => ({ verify: headers, settle: headers, supported: headers });
  }
  const { host, pathname } = new URL(url);
  const base = `${host}${pathname.replace(/\/+$/, "")}`;
  const bearer = async (request: string) => ({
    authorization: `Bearer ${await signToken(credentials, { request, at: now() })}`,
  });
  return async () => ({
    verify: await bearer(`POST ${base}/verify`),
    settle: await bearer(`POST ${base}/settle`),
    supported: await bearer(`GET ${base}/supported`),
  });
}

/** Seconds that a token is valid. */
const TOKEN_SECONDS = 120;

/** A token for one request, named by method, host and path (CDP, "JWT Authentication"). */
function signToken(
  { id, key }: Extract<FacilitatorCredentials, { readonly kind: "key" }>,
  { request, at }: { readonly request: string; readonly at: Date },
): Promise<string> {
  const seconds = Math.floor(at.getTime() / 1_000);
  const alg = key.asymmetricKeyType === "ec" ? "ES256" : "EdDSA";
  return new SignJWT({ uris: [request] })
    .setProtectedHeader({ alg, kid: id, typ: "JWT", nonce: randomBytes(16).toString("hex") })
    .setSubject(id)
    .setIssuer("cdp")
    .setAudience(["cdp_service"])
    .setIssuedAt(seconds)
    .setNotBefore(seconds)
    .setExpirationTime(seconds + TOKEN_SECONDS)
    .sign(key);
}
