import fc from "fast-check";
import { expect, it } from "vitest";
import { quoteOf } from "../../../../service/verification/panel/check-quote.ts";

it.each([
  ["a short text", "Paris", "Paris"],
  ["white space of all kinds", "  a\r\n\t b\u2028c\u0085d ", "a b c d"],
  ["a character that shows nothing", "a\u200bb\u0007", "a⟨U+200B⟩b⟨U+0007⟩"],
  ["half a pair", "a\ud83d", "a⟨U+D83D⟩"],
  ["an emoji of several characters", "👩‍🚀", "👩‍🚀"],
])("shows %s", (_, text, quote) => {
  expect(quoteOf(text)).toBe(quote);
});

it("shows where something was left out", () => {
  expect(quoteOf("abcdef", 4)).toBe("abc…");
  expect(quoteOf("abcd", 4)).toBe("abcd");
});

it("is never longer than it may be, nor broken, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.integer({ min: 20, max: 200 }),
      (text, limit) => {
        const quote = quoteOf(text, limit);
        expect(quote.length).toBeLessThanOrEqual(limit);
        expect(quote.isWellFormed()).toBe(true);
      },
    ),
    { numRuns: 2_000 },
  );
});
