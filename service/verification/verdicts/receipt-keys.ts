import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, type JWK } from "jose";
import { type Hex, hexToBytes } from "viem";

/** The keys of receipts: the private one that signs, and the public ones of all that ever did. */
export type ReceiptKeys = {
  readonly signing: { readonly key: KeyObject; readonly kid: string };
  /** The current one first. */
  readonly published: readonly JWK[];
};

/** PKCS #8 of an Ed25519 key (RFC 8410) up to the 32 bytes of its seed. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** Keys from the 32-byte seeds of the current and of earlier Ed25519 keys; each is named by its RFC 7638 thumbprint. */
export async function openReceiptKeys(current: Hex, previous: readonly Hex[]): Promise<ReceiptKeys> {
  const key = privateKeyOf(current);
  const published = await Promise.all([key, ...previous.map(privateKeyOf)].map(publicKeyOf));
  const kid = published[0]?.kid;
  if (kid === undefined) throw new Error("a public key has no name");
  return { signing: { key, kid }, published };
}

/** The public keys of seeds that sign no more, where none signs now. */
export async function publishedKeys(seeds: readonly Hex[]): Promise<readonly JWK[]> {
  return Promise.all(seeds.map(privateKeyOf).map(publicKeyOf));
}

function privateKeyOf(seed: Hex): KeyObject {
  const bytes = Buffer.concat([PKCS8_HEAD, hexToBytes(seed)]);
  return createPrivateKey({ key: bytes, format: "der", type: "pkcs8" });
}

async function publicKeyOf(key: KeyObject): Promise<JWK> {
  const { kty, crv, x } = createPublicKey(key).export({ format: "jwk" });
  if (kty !== "OKP" || crv !== "Ed25519" || x === undefined) throw new Error("the key is not of Ed25519");
  const named = { kty, crv, x };
  return { ...named, kid: await calculateJwkThumbprint(named, "sha256"), alg: "EdDSA", use: "sig" };
}
