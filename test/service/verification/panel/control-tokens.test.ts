import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breakControlTokens } from "../../../../service/verification/panel/control-tokens.ts";
import { blockOf, fenceBlocks } from "../../../../service/verification/panel/fence.ts";
import { PUBLISHED_TOKENS } from "../../../../service/verification/panel/find-read-token.ts";
import { createQuoteSearch } from "../../../../service/verification/panel/quotes.ts";
import { CHAT_TEMPLATES } from "../../../support/chat-templates.ts";

const MARKER = "0123456789abcdef0123456789abcdef";
const FORMS = [
  ...PUBLISHED_TOKENS.flat(),
  ...CHAT_TEMPLATES.flatMap(({ tokens }) => tokens.map((token) => token.trim())),
  ...["[|assistant|]", "[TOOL_CONTENT]", "[/THINK]", "<begin_of_box>", "]<]end_of_sentence[>[", "]~!b["],
  ...["[gMASK]", "[unused9]", ">>QUESTION<<", "◁think▷", '<|"|>', "<用户>", "<[begin_of_image]>", "<<SYS>>"],
];
/** Changes that servers and tokenisers may make to a text before they look for tokens. */
const NORMALISERS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.normalize("NFKC"),
  (text) => text.normalize("NFKD").replace(/\p{M}/gu, ""),
  (text) => text.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, ""),
  (text) =>
    text.normalize("NFKC").replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}/gu, ""),
  (text) => text.toLowerCase(),
  (text) => unescaped(text),
  (text) => unescaped(unescaped(text)),
];

function unescaped(text: string): string {
  return text
    .replace(
      /&(?:(lsqb|rsqb|lbrack|rbrack);|(lt|gt|amp);?)/gi,
      (_, one?: string, other?: string) => NAMES[(one ?? other ?? "").toLowerCase()] ?? "",
    )
    .replace(/&#x([0-9a-f]{1,6});?/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&#(\d{1,6});?/g, (_, digits: string) => String.fromCodePoint(Number(digits)))
    .replace(/\\u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, one?: string, other?: string) =>
      String.fromCodePoint(Number.parseInt(one ?? other ?? "", 16)),
    );
}
const NAMES: Readonly<Record<string, string>> = {
  ...{ lt: "<", gt: ">", amp: "&", lsqb: "[", lbrack: "[", rsqb: "]", rbrack: "]" },
};

/** Tokens that a server reads in a text of ours, whatever it does before. */
function readIn(text: string): readonly string[] {
  return NORMALISERS.flatMap((normalise) => {
    const seen = normalise(text);
    return FORMS.filter((token) => seen.includes(normalise(token)));
  });
}

/** A token as it is, and as a server may undo it. */
const disguised = fc.tuple(fc.constantFrom(...FORMS), fc.nat(9)).map(([token, kind]) => {
  switch (kind) {
    case 0:
      return token.replace(/[<>[\]|/]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0));
    case 1:
      return [...token].join("\u200b");
    case 2:
      return token.replace(/[<>[\]]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    case 3:
      return token.replaceAll("<", "&amp;lt;").replaceAll("[", "&amp;lsqb;");
    case 4:
      return token.replace(/[<>[\]]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
    case 5:
      return token.replace(/[<>[\]]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
    case 6:
      return token.replaceAll("<", "&lt").replaceAll("[", "&#91");
    case 7:
      return token.replaceAll("<", "&#38;lt;").replaceAll("[", "&#x26;#91;");
    case 8:
      return token.replaceAll("<", "\u226e");
    default:
      return token;
  }
});
const halves = disguised.chain((token) =>
  fc.nat(token.length).map((place) => [token.slice(0, place), token.slice(place)]),
);
const hostile = fc
  .array(
    fc.oneof(
      disguised,
      halves.map(([one, other]) => `${one}${MARKER}${other}`),
      fc.constantFrom("=== END", "\n", "<", "[", "]", " ", "\ufeff", "a", "|"),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

describe("control tokens", () => {
  it.each(FORMS)("are broken by their form: %s", (token) => {
    const broken = breakControlTokens(`a${token}b`);
    expect(broken).not.toContain(token);
    expect(broken.replaceAll(" ", "")).toBe(`a${token}b`);
    expect(breakControlTokens(broken)).toBe(broken);
  });

  it("are in no fenced text, in any disguise, half, or order, even over two texts", () => {
    fc.assert(
      fc.property(hostile, hostile, halves, (one, other, [head, tail]) => {
        const blocks = [blockOf("specification", `${one}${head}`), blockOf("output", `${tail}${other}`)];
        expect(readIn(fenceBlocks(blocks, MARKER))).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it.each([
    ["&ltstart_of_turn>", "&lt start_of_turn>"],
    ["&#60start_of_turn>", "&#60 start_of_turn>"],
    ["&#x3cstart_of_turn>", "&#x3c start_of_turn>"],
    ["&#38;lt;|turn>", "&#38;lt; |turn>"],
    ["&#x26;#x26;#60;|turn>", "&#x26;#x26;#60; |turn>"],
    ["&ltimes; &lte; &#601; &#x3cb;", "&ltimes; &lte; &#601; &#x3cb;"],
  ])("are broken behind entities without a semicolon or within each other: %s", (text, broken) => {
    expect(breakControlTokens(text)).toBe(broken);
    expect(breakControlTokens(broken)).toBe(broken);
  });

  it("leave ordinary text readable and its quotations findable", () => {
    const text = `if (a < b && c <= d || x[0] > y[i]) { m["k"] = [1, 2]; } // [^1] [x] [ ] -> => <=>
const v: Map<string, List<number>> = f<T>(); cout << v[10] >> w; <section class="a"><b>bold</b></section>
{"rows": [{"a": [true]}, "b"]} see [the docs](https://a.example) and /[0-9]+/`;
    expect(
      breakControlTokens(text),
    ).toBe(`if (a < b && c <= d || x[0] > y[i]) { m["k"] = [1, 2]; } // [^1] [x] [ ] -> => <=>
const v: Map< string, List< number>> = f< T>(); cout << v[10] >> w; < section class="a">< b>bold< /b>< /section>
{"rows": [{"a": [ true]}, "b"]} see [ the docs](https://a.example) and /[0-9]+/`);
    const finds = createQuoteSearch([text], 12);
    for (const line of breakControlTokens(text).split("\n")) expect(finds(line)).toBe(true);
    expect(
      createQuoteSearch([breakControlTokens(text)], 12)('<section class="a"><b>bold</b></section>'),
    ).toBe(true);
  });

  it("without brackets are broken if the operator names them, in any width and with invisible characters", () => {
    const texts = ["areserved_0b", "RESERVED_0", "ｒｅｓｅｒｖｅｄ＿０", "re\u200bserved_0", "reserved_1"];
    const fenced = fenceBlocks([blockOf("output", texts.join("\n"))], MARKER, ["reserved_0", "|END|"]);
    expect(fenced.split("\n").slice(1, -1)).toEqual([
      ...["ar eserved_0b", "R ESERVED_0", "ｒ ｅｓｅｒｖｅｄ＿０", "r e\u200bserved_0", "reserved_1"],
    ]);
  });

  it("cost linear time", () => {
    const startedMs = performance.now();
    for (const text of ["<|", "]\u200b", ">\u200b", "[".repeat(9), "&amp;", "&#38;", "&lt", "]a", "\\u003"])
      breakControlTokens(text.repeat(200_000 / text.length));
    // Quadratic time would be minutes.
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });
});
