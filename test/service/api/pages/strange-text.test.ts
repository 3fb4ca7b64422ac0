import fc from "fast-check";
import { expect, test } from "vitest";
import { firstOf, strangeText } from "../../../../service/api/pages/page-words.ts";

/** Letters, emoji, marks, and what is not to be seen. */
const SIGNS = ["a", "é", "表", "😀", "\u0301", "\u202e", "\u200b", "\u0000", "\ud800", "\n", " "] as const;

test("a text that fits is shown as it is, in whatever language, with its lines", () => {
  for (const text of ["Two lines:\nthe second.", "表は十二行あります。", "Çà et là – naïve"])
    expect(strangeText(text, 40)).toBe(text);
});

test("signs that are not seen, or turn the reading round, are taken out", () => {
  expect(strangeText("paid\u202e 001\u2066x\u200b\u0007\u{e0041}", 40)).toBe("paid  001 x");
});

test("marks piled on one letter do not cover the lines around", () => {
  expect(strangeText(`a${"\u0301".repeat(50)}`, 40).length).toBeLessThan(6);
});

test("shows at most the given number of characters and marks the cut", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...SIGNS), maxLength: 120 }),
      fc.integer({ min: 1, max: 50 }),
      (text, most) => {
        const shown = [...strangeText(text, most)];
        expect(shown.length).toBeLessThanOrEqual(most + 1);
        if (shown.length > most) expect(shown.at(-1)).toBe("…");
        expect(shown.join("").replaceAll("\n", "")).not.toMatch(/\p{C}/u);
      },
    ),
  );
});

test("a list counts the entries that are left out", () => {
  expect(firstOf([1, 2, 3], 2)).toEqual({ shown: [1, 2], left: 1 });
  expect(firstOf([1], 2)).toEqual({ shown: [1], left: 0 });
});
