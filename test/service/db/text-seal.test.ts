import { describe, expect, it } from "vitest";
import { createTextSeal, NO_TEXT_KEYS } from "../../../service/db/text-seal.ts";

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const PLACE = "output_text.text:7";
const plain = createTextSeal(NO_TEXT_KEYS);
const sealing = createTextSeal({ current: first, old: [] });

describe("a seal with a key", () => {
  it.each(["", "a", "Größe 漢字 🙂", "x".repeat(200_000), "ahs-text:plain:a"])(
    "opens what it seals",
    (text) => {
      const stored = sealing.seal(text, PLACE);
      expect(stored).toMatch(/^ahs-text:[0-9a-f]{8}:[A-Za-z0-9+/]+=*$/);
      if (text.length > 1) expect(stored).not.toContain(text);
      expect(sealing.open(stored, PLACE)).toBe(text);
    },
  );

  it("gives the same text another form each time", () => {
    expect(sealing.seal("a", PLACE)).not.toBe(sealing.seal("a", PLACE));
  });

  it("opens a plain text as it is", () => {
    expect(sealing.open("An order of last year.", PLACE)).toBe("An order of last year.");
  });

  it("opens texts of an old key and seals with the current one", () => {
    const rotated = createTextSeal({ current: second, old: [first] });
    expect(rotated.open(sealing.seal("a", PLACE), PLACE)).toBe("a");
    expect(rotated.keyId).not.toBe(sealing.keyId);
    expect(() => sealing.open(rotated.seal("a", PLACE), PLACE)).toThrow(
      `encrypted with key ${rotated.keyId}, and the keys here are ${sealing.keyId}`,
    );
  });

  it("does not open a text of another row or column", () => {
    const stored = sealing.seal("a", PLACE);
    expect(() => sealing.open(stored, "output_text.text:8")).toThrow("it was changed or moved");
    expect(() => sealing.open(stored, "held_evidence.text:7")).toThrow("it was changed or moved");
  });

  it.each([0, 12, 28])("does not open a text whose byte %i was changed", (index) => {
    const [name, id, base64 = ""] = sealing.seal("a text", PLACE).split(":");
    const bytes = Buffer.from(base64, "base64");
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    expect(() => sealing.open([name, id, bytes.toString("base64")].join(":"), PLACE)).toThrow("changed");
  });

  it.each(["ahs-text:", "ahs-text:00000000:", "ahs-text:x"])("does not open %s", (stored) => {
    expect(() => sealing.open(stored, PLACE)).toThrow("is encrypted with key");
    expect(() => sealing.open(`ahs-text:${sealing.keyId}:AAAA`, PLACE)).toThrow("does not decrypt");
  });
});

describe("a seal without a key", () => {
  it.each(["", "A text.", "ahs-text:00000000:AAAA", "ahs-text:plain:x"])(
    "opens what it seals: %s",
    (text) => {
      const stored = plain.seal(text, PLACE);
      expect(plain.open(stored, PLACE)).toBe(text);
      expect(sealing.open(stored, PLACE)).toBe(text);
    },
  );

  it("names the key that is missing", () => {
    expect(() => plain.open(sealing.seal("a", PLACE), PLACE)).toThrow(
      `encrypted with key ${sealing.keyId}, and the keys here are none: set TEXT_ENCRYPTION_KEY`,
    );
  });
});
