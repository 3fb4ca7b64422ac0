import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seenSigns, stripMarker } from "../../../../service/verification/panel/strip-marker.ts";

const MARKER = "0123456789abcdef0123456789abcdef";

describe("stripMarker", () => {
  it.each([
    ["as it is", MARKER],
    ["in upper case", MARKER.toUpperCase()],
    ["with unseen characters between", [...MARKER].join("\u200b\u00ad")],
    ["over two lines", `${MARKER.slice(0, 9)}\n${MARKER.slice(9)}`],
    ["in wide digits", MARKER.replace(/./g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))],
    ["with accents", MARKER.replaceAll("a", "á").replaceAll("e", "e\u0301")],
    ["within itself", `${MARKER.slice(0, 20)}${MARKER}${MARKER.slice(20)}`],
    ["many times within itself", MARKER.slice(0, 20).repeat(50) + MARKER.slice(20).repeat(50)],
    ["twice over", MARKER + MARKER],
  ])("takes out a marker %s", (_, hidden) => {
    expect(stripMarker(`before ${hidden} after`, MARKER)).toBe("before  after");
  });

  it("takes out one that ends, or begins, in a ligature", () => {
    expect(stripMarker(`x${MARKER.slice(0, 31)}\uFB00y`, MARKER)).toBe("xy");
    const begun = `ff${"0".repeat(30)}`;
    expect(stripMarker(`x\uFB00f${"0".repeat(30)}y`, begun)).toBe("xy");
    expect(stripMarker(`x\uFB00${"0".repeat(30)}y`, begun.slice(1))).toBe("xy");
  });

  it("takes out one that begins within a false start", () => {
    expect(stripMarker(`x0123456789abcdef${MARKER}y`, MARKER)).toBe("x0123456789abcdefy");
  });

  it("keeps a text that holds only part of it", () => {
    const text = `${MARKER.slice(0, 31)} and ${MARKER.slice(1)} á \u200b`;
    expect(stripMarker(text, MARKER)).toBe(text);
  });

  it("leaves no marker in any text made of parts of it", () => {
    const part = fc.tuple(fc.nat(31), fc.nat(32)).map(([from, length]) => MARKER.slice(from, from + length));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        expect(stripMarker(parts.join(""), MARKER)).not.toContain(MARKER);
      }),
    );
  });
});

describe("seenSigns", () => {
  // Short, so that random texts hold it, and the slow way to look for it stays bearable.
  const SHORT = "ff0a";
  const UNSEEN = "[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]*";
  const SLOW = new RegExp([...SHORT].join(UNSEEN), "iu");
  const sign = fc.constantFrom(..."fFＦ𝐟0０𝟎⁰aAáＡⓐﬀ", "a\u0301", "\u0130", "\u017F", "g", "1", "的");
  const unseen = fc.constantFrom(
    "\u200b",
    "\u00ad",
    "\n",
    " ",
    "\u3000",
    "\u0315",
    "\u0327",
    "\u302E",
    "\u0BCD",
    "\u{E0041}",
  );
  const text = fc.array(fc.oneof(sign, unseen, fc.string({ unit: "binary", maxLength: 2 })), {
    maxLength: 40,
  });

  it("hold a marker where, and only where, one is taken out", () => {
    fc.assert(
      fc.property(text, (pieces) => {
        const given = pieces.join("");
        const isThere = seenSigns(given).includes(SHORT);
        expect(isThere).toBe(stripMarker(given, SHORT) !== given);
        expect(isThere).toBe(SLOW.test(given.normalize("NFKD")));
      }),
      { numRuns: 5_000 },
    );
  });

  it("are found once for a text, whatever the number of markers that are looked for", () => {
    const signs = seenSigns(`a b\u200bc ${MARKER.toUpperCase()}`);
    expect(signs).toBe(`abc${MARKER}`);
  });
});
