/** Most bytes of a document, as of a fetched one. */
const MAX_BYTES = 65_536;
const MAX_HEADER_CHARACTERS = 1_024;
/** A byte takes at most three characters ("%2F"). */
const MAX_CHARACTERS = 3 * MAX_BYTES + MAX_HEADER_CHARACTERS;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Decodes a data: URI (RFC 2397) of at most 64 KiB of content, percent-encoded or base64. A "#" is content: registries
 * hold unescaped JSON. The media type is lower-case; text/plain where none is given. Stray percent signs are kept as they are, as browsers have it.
 */
export function decodeDataUri(
  uri: string,
):
  | { kind: "decoded"; mediaType: string; body: Uint8Array }
  | { kind: "failed"; reason: "not_a_data_uri" | "malformed" | "too_large" } {
  if (!/^data:/i.test(uri)) return { kind: "failed", reason: "not_a_data_uri" };
  if (uri.length > MAX_CHARACTERS) return { kind: "failed", reason: "too_large" };
  const comma = uri.indexOf(",");
  if (comma === -1 || comma > MAX_HEADER_CHARACTERS) return { kind: "failed", reason: "malformed" };
  const header = uri.slice("data:".length, comma);
  const isBase64 = /;\s*base64\s*$/i.test(header);
  const content = percentDecode(uri.slice(comma + 1));
  const body = isBase64 ? fromBase64(content.toString("latin1")) : content;
  if (body === null) return { kind: "failed", reason: "malformed" };
  if (body.length > MAX_BYTES) return { kind: "failed", reason: "too_large" };
  return { kind: "decoded", mediaType: mediaTypeOf(header), body };
}

function mediaTypeOf(header: string): string {
  const [type = ""] = header.split(";");
  const trimmed = type.trim().toLowerCase();
  return trimmed === "" ? "text/plain" : trimmed;
}

function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const decoded = Buffer.alloc(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === 0x25 ? bytes.toString("latin1", at + 1, at + 3) : "";
    const isEscape = /^[0-9a-f]{2}$/i.test(escaped);
    decoded[length++] = isEscape ? Number.parseInt(escaped, 16) : Number(bytes[at]);
    if (isEscape) at += 2;
  }
  return decoded.subarray(0, length);
}

function fromBase64(text: string): Buffer | null {
  const packed = text.replace(/[\t\n\f\r ]/g, "");
  return BASE64.test(packed) ? Buffer.from(packed, "base64") : null;
}
