import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breakControlTokens } from "../../../../service/verification/panel/control-tokens.ts";
import { createQuoteSearch, elideCopies, quoteOf } from "../../../../service/verification/panel/quotes.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

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

const holds = (text: string, quotation: string) => createQuoteSearch([text], 3)(quotation);

describe("a quotation is found", () => {
  it.each([
    ["word for word", "Revenue was 12 million.", "was 12 million"],
    ["in another case and layout", "Revenue\n  was 12 million.", "REVENUE was\t12"],
    ["between quotation marks", "Revenue was 12 million.", "“Revenue was 12 million.”"],
    ["with an ellipsis at either end", "Revenue was 12 million.", "… was 12 …"],
    ["cut at its end", "Revenue was 12 million.", "Revenue was 12 mil…"],
    ["with other quotation marks within", "He said “twelve” and ‘no’.", `said "twelve" and 'no'`],
    ["with other dashes", "Rates eased – by 2\u20113 % – in autumn.", "eased - by 2-3 % - in"],
    ["in wide letters", "Ｒｅｖｅｎｕｅ was 12.", "Revenue was 12"],
    ["without what nobody sees", "Re\u200bve\u2060nue\u{E0041} w\u00ADas\u0007 12.", "Revenue was 12"],
    ["without strokes through its letters", "R\u0337e\u0336v\u0334enue w\u0337as 12.", "Revenue was 12"],
    ["without what cannot be stored", "Rev\0enue \uFFFDwas 12.", "Revenue was 12"],
    ["with escapes of JSON, where the text has none", 'He said "no"\nand left.', 'said \\"no\\"\\nand'],
    ["without escapes of JSON, where the text has them", '{"a": "said \\"no\\"\\nand"}', 'said "no"\nand'],
    ["of a path, as it stands there", "Look into C:\\new\\table now.", "C:\\new\\table"],
    ["of a path, as JSON has it", '"C:\\\\new\\\\table"', "C:\\\\new\\\\table"],
    ["of a formula", "$\\frac{a}{b} = \\nabla$", "\\frac{a}{b}"],
    ["longer than what is looked for", "a b ".repeat(200), "a b ".repeat(150)],
  ])("%s", (_, text, quotation) => {
    expect(holds(text, quotation)).toBe(true);
  });
});

describe("a quotation is not found", () => {
  it.each([
    ["that stands nowhere", "Revenue was 12 million.", "Revenue was 13"],
    ["of words that stand apart", "Revenue was 12 million.", "Revenue … million"],
    ["that is too short", "Revenue was 12 million.", "12"],
    ["of marks alone", "Revenue… was “12” million...", "“…” ..."],
    ["of nothing", "Revenue was 12 million.", " "],
    ["that another text would complete", "Revenue was", "Revenue was 12"],
  ])("%s", (_, text, quotation) => {
    expect(holds(text, quotation)).toBe(false);
  });
});

it("looks into every text, and into each by itself", () => {
  const search = createQuoteSearch(["Revenue was", "12 million"], 3);
  expect(["revenue", "million", "was 12"].map(search)).toEqual([true, true, false]);
});

/** Words that differ all over, so that no part is like another. */
const passage = (length: number, seed = "w") =>
  Array.from({ length }, (_, index) => `${seed}${index.toString(36)} `)
    .join("")
    .slice(0, length);

describe("passages that a text copies", () => {
  it("are left out where they are longer than 200 characters, and stay where they are not", () => {
    const source = passage(5_000);
    const [allowed, longer] = [source.slice(1_000, 1_200), source.slice(1_000, 1_201)];
    expect(elideCopies([`It says ‘${allowed}’, I see.`, `It says ‘${longer}’, I see.`], [source])).toEqual([
      `It says ‘${allowed}’, I see.`,
      "It says ‘…’, I see.",
    ]);
  });

  it("are found in each source, at its start and its end, several in one text", () => {
    const [one, other] = [passage(900, "a"), passage(900, "b")];
    const text = `First ‘${one.slice(0, 300)}’, then ‘${other.slice(-300)}’.`;
    expect(elideCopies([text], [one, "short", other])).toEqual(["First ‘…’, then ‘…’."]);
  });

  it("are one where they overlap", () => {
    const source = passage(3_000);
    expect(elideCopies([source], [`${source.slice(0, 1_700)}`, source.slice(1_500)])).toEqual(["…"]);
  });

  it("are found through other white space, and the rest of the text keeps its own", () => {
    const source = passage(600).trimEnd();
    const text = `Seen:\n\n${source.replaceAll(" ", "\n   ")}\n\nAll of it.`;
    expect(elideCopies([text], [source])).toEqual(["Seen:\n\n…\n\nAll of it."]);
  });

  it("are found in markup, with and without the spaces that the fence puts into it", () => {
    const source = passage(900).replaceAll(" w1", " <b>w1</b> [w1]");
    const quoted = breakControlTokens(source.slice(0, 600));
    expect(elideCopies([`It says ‘${quoted}’.`, `It says ‘${source.slice(0, 600)}’.`], [source])).toEqual([
      expect.stringMatching(/^It says ‘….{0,9}’.$/),
      "It says ‘…’.",
    ]);
  });

  it("leave no half of a character behind", () => {
    const source = "\u{1F600}\u{1F601}\u{1F602}".repeat(60);
    // Both ends share a half with what the source has there.
    const [elided] = elideCopies([`a\u{1F603}${source}\u{1F200}b`], [`\ude03${source}\ud83c`]);
    expect(elided).toBe("a…b");
  });

  it("are not found in texts and sources that share no more than words", () => {
    const text = passage(4_000, "a");
    expect(elideCopies([text, ""], [passage(50_000, "b"), ""])).toEqual([text, ""]);
    expect(elideCopies([], [text])).toEqual([]);
  });

  it("never are in what is left, whatever the texts", () => {
    // Few letters, so that passages of one text occur in the other.
    const letters = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n"), maxLength: 40 });
    const built = fc
      .tuple(fc.array(letters, { maxLength: 6 }), fc.integer({ min: 1, max: 12 }))
      .map(([parts, times]) => parts.join("").repeat(times));
    fc.assert(
      fc.property(built, built, fc.nat(500), (text, other, from) => {
        const source = other + text.slice(from, from + 400);
        const [left = ""] = elideCopies([text], [source]);
        const [line, spaced] = [left, source].map((each) => each.replaceAll(/\s+/g, " ")) as [string, string];
        for (const part of line.split("…"))
          for (let at = 0; at + 201 <= part.length; at += 1)
            expect(spaced.includes(part.slice(at, at + 201))).toBe(false);
        if (!left.includes("…")) expect(left).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("cost little in the longest texts there are, even where they repeat themselves", () => {
    const texts = [passage(16_000, "r"), "ab".repeat(8_000)];
    const given = ["ab".repeat(100_000), passage(200_000, "o"), "a ".repeat(75_000)];
    expect(cpuMsOf(() => elideCopies(texts, given))).toBeLessThan(3_000);
  });
});
