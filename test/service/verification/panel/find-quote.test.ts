import { describe, expect, it } from "vitest";
import { createQuoteSearch } from "../../../../service/verification/panel/find-quote.ts";

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
