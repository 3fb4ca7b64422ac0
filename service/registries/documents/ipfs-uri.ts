import { createHash } from "node:crypto";

/** A file of IPFS, as an ipfs: URI names it. */
type IpfsFile = {
  /** As the URI spells it. */
  readonly cid: string;
  /** Segments below the CID, decoded; none for the CID itself. */
  readonly path: readonly string[];
  /** Hash that the whole file must have; null where the CID names a graph of blocks, or a folder above the file. */
  readonly sha256: Buffer | null;
};

const SHA2_256 = 0x12;
const SHA2_256_BYTES = 32;
const RAW = 0x55;
const MAX_DIGEST_BYTES = 64;
/** A CIDv1 of 64 bytes in base16. */
const MAX_CID_CHARACTERS = 160;
const MAX_SEGMENTS = 16;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Reads `ipfs://CID` or `ipfs://CID/path`: CIDv0, or CIDv1 in base32 (b…) or base16 (f…), in lower case, whole and nothing
 * else. Null for any other text, and for a path with a query, a fragment or a segment that is not a plain name.
 */
export function readIpfsUri(uri: string): IpfsFile | null {
  const [, cid, rest] = /^ipfs:\/\/([A-Za-z0-9]+)((?:\/[^?#\\]*)?)$/i.exec(uri) ?? [];
  if (cid === undefined || rest === undefined) return null;
  const path = readPath(rest);
  if (path === null) return null;
  if (isV0(cid)) return { cid, path, sha256: null };
  const content = readV1(cid);
  if (content === null) return null;
  const isWhole = content.codec === RAW && content.hash === SHA2_256 && path.length === 0;
  return { cid, path, sha256: isWhole ? content.digest : null };
}

/** Where a gateway serves the file: its own URL, `/ipfs/`, CID and path. */
export function gatewayUrl(gateway: string, { cid, path }: IpfsFile): string {
  return [gateway.replace(/\/+$/, ""), "ipfs", cid, ...path.map(encodeURIComponent)].join("/");
}

/**
 * True if the bytes match the CID. Also true for a CID that does not hash single files: only the gateway knows those.
 */
export function isContentOf({ sha256 }: IpfsFile, bytes: Uint8Array): boolean {
  return sha256 === null || createHash("sha256").update(bytes).digest().equals(sha256);
}

/** Segments of "" or "/a/b", decoded; a slash at the end is left out. */
function readPath(rest: string): readonly string[] | null {
  const segments = rest.replace(/\/$/, "").split("/").slice(1);
  if (segments.length > MAX_SEGMENTS) return null;
  const names: string[] = [];
  for (const segment of segments) {
    const name = decodeSegment(segment);
    if (name === null || name === "" || name === "." || name === ".." || /[/\\?#%\p{Cc}]/u.test(name))
      return null;
    names.push(name);
  }
  return names;
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment).toWellFormed();
  } catch {
    // A percent sign that escapes nothing.
    return null;
  }
}

/** SHA2-256 of a DAG-PB node, 34 bytes in base58: always 46 characters that begin with Qm. */
function isV0(cid: string): boolean {
  return /^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(cid);
}

function readV1(cid: string) {
  if (cid.length > MAX_CID_CHARACTERS) return null;
  const bytes = bytesOf(cid);
  if (bytes === null) return null;
  const version = readVarint(bytes, 0);
  const codec = version === null ? null : readVarint(bytes, version.next);
  const hash = codec === null ? null : readVarint(bytes, codec.next);
  const length = hash === null ? null : readVarint(bytes, hash.next);
  if (version?.value !== 1 || codec === null || hash === null || length === null) return null;
  const digest = bytes.subarray(length.next);
  if (digest.length !== length.value || digest.length === 0 || digest.length > MAX_DIGEST_BYTES) return null;
  if (hash.value === SHA2_256 && digest.length !== SHA2_256_BYTES) return null;
  return { codec: codec.value, hash: hash.value, digest };
}

function bytesOf(cid: string): Buffer | null {
  const text = cid.slice(1);
  if (cid.startsWith("f")) {
    return /^(?:[0-9a-f]{2})+$/.test(text) ? Buffer.from(text, "hex") : null;
  }
  return cid.startsWith("b") && /^[a-z2-7]+$/.test(text) ? fromBase32(text) : null;
}

/** Null where bits are left over that no byte has. */
function fromBase32(text: string): Buffer | null {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text) {
    bits = (bits << 5) | BASE32.indexOf(character);
    held += 5;
    if (held < 8) continue;
    held -= 8;
    bytes.push(bits >> held);
    bits &= (1 << held) - 1;
  }
  return held < 5 && bits === 0 ? Buffer.from(bytes) : null;
}

/** Reads an unsigned varint of at most three bytes, which fits every registered codec; null for any other. */
function readVarint(bytes: Buffer, at: number) {
  let value = 0;
  for (let index = 0; index < 3; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return null;
    value |= (byte & 0x7f) << (7 * index);
    if ((byte & 0x80) === 0) return { value, next: at + index + 1 };
  }
  return null;
}
