import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

/** Encrypts texts for the row and column that hold them, and decrypts those of every known key. */
export type TextSeal = ReturnType<typeof createTextSeal>;

/** Keys of 32 bytes: the one that encrypts, null for plain texts, and those that only decrypt. */
export type TextKeys = { readonly current: Buffer | null; readonly old: readonly Buffer[] };

export const NO_TEXT_KEYS: TextKeys = { current: null, old: [] };

/** Start of every stored text that is not plain. */
export const SEALED_PREFIX = "ahs-text:";
/** Start of a plain text that would begin with the prefix otherwise. */
const ESCAPE = `${SEALED_PREFIX}plain:`;

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A text is encrypted with a key that this process does not have. */
class TextKeyMissing extends Error {
  constructor(keyId: string, known: readonly string[]) {
    super(
      `a stored text is encrypted with key ${keyId}, and the keys here are ${known.join(", ") || "none"}: set TEXT_ENCRYPTION_KEY or TEXT_ENCRYPTION_OLD_KEYS`,
    );
    this.name = "TextKeyMissing";
  }
}

/**
 * Encrypts with AES-256-GCM under a random nonce. The place (`table.column:key`) is authenticated, so a text that was changed, or moved to
 * another row, does not decrypt. Plain texts stay readable beside encrypted ones.
 */
export function createTextSeal({ current, old }: TextKeys) {
  const keys = new Map([...(current === null ? [] : [current]), ...old].map((key) => [keyIdOf(key), key]));
  const keyId = current === null ? null : keyIdOf(current);
  return {
    /** Id of the key that encrypts; null if texts are stored plain. */
    keyId,
    seal: (text: string, place: string): string => {
      if (current === null) return text.startsWith(SEALED_PREFIX) ? `${ESCAPE}${text}` : text;
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, current, iv).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const bytes = Buffer.concat([iv, cipher.getAuthTag(), sealed]);
      return `${SEALED_PREFIX}${keyId}:${bytes.toString("base64")}`;
    },
    /** Throws for a text of an unknown key, and for one that was changed or moved. */
    open: (stored: string, place: string): string => {
      if (!stored.startsWith(SEALED_PREFIX)) return stored;
      if (stored.startsWith(ESCAPE)) return stored.slice(ESCAPE.length);
      const [, usedId = "", base64 = ""] = stored.split(":", 3);
      const key = keys.get(usedId);
      if (key === undefined) throw new TextKeyMissing(usedId, [...keys.keys()]);
      return decrypt(Buffer.from(base64, "base64"), { key, place });
    },
  };
}

function decrypt(bytes: Buffer, { key, place }: { key: Buffer; place: string }): string {
  const tagEnd = IV_BYTES + TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(IV_BYTES, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString("utf8");
  } catch (error) {
    throw new Error(`the stored text of ${place} does not decrypt: it was changed or moved`, {
      cause: error,
    });
  }
}

/** The first 8 hexadecimal digits of a hash of the key, under a name of its own. */
function keyIdOf(key: Buffer): string {
  return createHash("sha256").update("ahs text key\0").update(key).digest("hex").slice(0, 8);
}
