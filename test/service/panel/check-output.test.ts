import { describe, expect, it } from "vitest";
import { checkOutput } from "../../../service/panel/check-output.ts";
import { splitCriteria } from "../../../service/panel/criteria.ts";
import type { OutputCheck, PanelCase } from "../../../service/panel/types.ts";

const PROSE =
  "Lyon lies where the Saône meets the Rhône. Bordeaux stands on the Garonne, an hour from the sea. Nantes grew on the Loire, " +
  "whose arms once ran through the middle of the town, and Rouen looks over a wide bend of the Seine towards Paris.";

function check(outputText: string, change: Partial<PanelCase> = {}): readonly OutputCheck[] {
  const panelCase: PanelCase = {
    specText: "Name four French cities and the river of each.",
    acceptanceCriteria: null,
    domain: "default",
    outputText,
    evidenceTexts: [],
    providerHasScore: true,
    ...change,
  };
  return checkOutput(panelCase, splitCriteria(panelCase.acceptanceCriteria));
}

const namesOf = (checks: readonly OutputCheck[]) => checks.map(({ name }) => name);

it("finds nothing in an ordinary answer", () => {
  expect(check(PROSE)).toEqual([]);
});

describe("an output that shows nothing", () => {
  it.each([
    ["nothing", ""],
    ["white space", " \n\t\r\n\u00a0\u3000"],
    ["zero-width characters", "\u200b\u200b\u2060\ufeff"],
    ["joiners and selectors", "\u200d\u200c\ufe0f\u00ad"],
    ["tags", "\u{e0041}\u{e0042}"],
    ["fillers", "\u3164\u115f\u2800"],
    ["halves of pairs", "\ud800\udc00\ud800".slice(2)],
  ])("is empty, and that is all that is said of %s", (_, text) => {
    expect(namesOf(check(text))).toEqual(["empty"]);
  });

  it("is not found in the shortest answer", () => {
    expect(check("7")).toEqual([]);
    expect(check("是")).toEqual([]);
    expect(check("🙂")).toEqual([]);
  });
});

describe("padding", () => {
  it.each([
    ["a paragraph again and again", `${PROSE} `.repeat(4)],
    ["a text written twice", `${longText(1, 900)}\n${longText(1, 900)}`],
    [
      "a repetition in another layout and case",
      `${longText(1, 900)}\n${longText(1, 900).toUpperCase().replaceAll(" ", "\n")}`,
    ],
    ["a run of one character", `${PROSE}${"-".repeat(400)}`],
    ["a run of blanks", `${PROSE}${" \n".repeat(600)}.`],
    ["one word for ever", "lorem ".repeat(400)],
  ])("is found in %s", (_, text) => {
    const [found, ...more] = check(text);
    expect(found).toMatchObject({ name: "padded", criterion: null });
    expect(more).toEqual([]);
  });

  it.each([
    ["rules between sections", `${"=".repeat(80)}\n${PROSE}\n${"-".repeat(120)}`],
    ["rows of a table", rows((row) => `| ${row} | city ${row * 7} | ${(row * 7919) % 10_007} inhabitants |`)],
    [
      "rows of JSON",
      `[${rows((row) => `{"id": ${row}, "city": "City ${row * 31}", "inhabitants": ${(row * 7919) % 10_007}},`)}]`,
    ],
    [
      "code with its boilerplate",
      rows((row) => `  it("does case ${row}", () => { expect(work(${row * 17})).toBe(${row * row}); });`),
    ],
    ["a poem with a refrain", `${"The river runs, the river runs.\n".repeat(6)}${PROSE}`],
    ["deep indentation", rows((row) => `${" ".repeat(60)}value_${row * 13} = ${row * 977}`)],
  ])("is not found in %s", (_, text) => {
    expect(check(text)).toEqual([]);
  });
});

describe("an output copied from the specification", () => {
  const specText = `Write a report on river ports. ${longText(2, 1_200)}`;

  it("is found where the specification is handed back", () => {
    expect(namesOf(check(specText, { specText }))).toEqual(["copied_from_spec"]);
  });

  it("is found through another layout, case and punctuation", () => {
    const disguised = specText.toUpperCase().replaceAll(" ", "\n* ").replaceAll(".", "!");
    expect(namesOf(check(disguised, { specText }))).toEqual(["copied_from_spec"]);
  });

  it("is found where the criteria are handed back", () => {
    const acceptanceCriteria = `- ${longText(3, 300)}\n- ${longText(4, 300)}`;
    expect(namesOf(check(acceptanceCriteria, { acceptanceCriteria }))).toEqual(["copied_from_spec"]);
  });

  it("is not found in a quotation within an answer", () => {
    const quotation = specText.slice(0, 400);
    expect(check(`As asked: “${quotation}”. ${longText(5, 600)}`, { specText })).toEqual([]);
  });

  it("is not found in a sentence that is the answer", () => {
    expect(check(specText.slice(0, 100), { specText })).toEqual([]);
  });
});

describe("hidden characters", () => {
  it.each([
    ["a zero-width space", "a\u200bb", "⟨U+200B⟩"],
    ["a word joiner", "a\u2060b", "⟨U+2060⟩"],
    ["a byte order mark in the middle", "a\ufeffb", "⟨U+FEFF⟩"],
    ["an override of direction", "a\u202eb", "⟨U+202E⟩"],
    ["an isolate", "a\u2066b", "⟨U+2066⟩"],
    ["a direction mark in Latin text", "a\u200fb", "⟨U+200F⟩"],
    ["tags", "a\u{e0069}\u{e0067}", "⟨U+E0069⟩"],
    ["private use", "a\ue000b", "⟨U+E000⟩"],
    ["private use of plane 15", "a\u{f0000}b", "⟨U+F0000⟩"],
    ["an escape", "a\u001b[2Jb", "⟨U+001B⟩"],
    ["a null character", "a\u0000b", "⟨U+0000⟩"],
    ["a control character of the second set", "a\u009bb", "⟨U+009B⟩"],
    ["half a surrogate pair", "a\ud83db", "⟨U+D83D⟩"],
    ["a joiner between Latin letters", "a\u200db", "⟨U+200D⟩"],
    ["a non-joiner between Latin letters", "a\u200cb", "⟨U+200C⟩"],
    ["selectors in a row", "a\ufe0f\ufe01\ufe02", "⟨U+FE01⟩"],
    ["a selector that varies nothing", "a \ufe0f", "⟨U+FE0F⟩"],
    ["supplementary selectors after a letter", "a\u{e0100}", "⟨U+E0100⟩"],
    ["a filler", "a\u3164b", "⟨U+3164⟩"],
    ["a soft hyphen between no letters", "1\u00ad2", "⟨U+00AD⟩"],
  ])("are found: %s", (_, text, shown) => {
    const [found, ...more] = check(text);
    expect(found).toMatchObject({ name: "hidden_characters", criterion: null });
    expect(found?.finding).toContain(shown);
    expect(more).toEqual([]);
  });

  it.each([
    ["a family of emoji", "👨‍👩‍👧‍👦 and 🏳️‍🌈 and 👩🏽‍🚀 and ❤️‍🔥"],
    ["selectors of emoji and keycaps", "☀️ 1️⃣ #️⃣ ©️ ☎︎"],
    ["flags of regions", "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} won"],
    ["Persian with its non-joiners", "می‌خواهم کتاب‌ها را بخوانم"],
    ["Hindi with joiners", "क्‍ष और श्री"],
    ["Hebrew with direction marks", "שלום\u200f (שלום)"],
    ["ideographs with a selector", "葛\u{e0100}城市"],
    ["soft hyphens within words", "Donau\u00addampf\u00adschiff"],
    ["a byte order mark at the start", `\ufeff${PROSE}`],
    ["tabs and line breaks", "a\tb\r\nc\nd"],
    ["accents that are written apart", "Sao\u0302ne"],
  ])("are not found in %s", (_, text) => {
    expect(check(text)).toEqual([]);
  });

  it("are counted, and the place of the first is told", () => {
    expect(check("Paris\u200b is\u200b nice.")[0]?.finding).toBe(
      "The output carries 2 hidden characters, the first after 5 others: “Paris⟨U+200B⟩ is⟨U+200B⟩ nice.”.",
    );
  });
});

describe("JSON that was asked for", () => {
  it.each([
    "Return JSON.",
    "Respond with valid JSON only.",
    "Name three cities. Output a JSON array of their names.",
    "The output must be valid JSON.",
    "Your answer should be a JSON object with the key city.",
    "Output format: JSON",
    "Please respond in JSON format.",
    "Reply with a single JSON object containing name and river.",
  ])("%s: a text that does not parse is found", (specText) => {
    expect(check(PROSE, { specText })).toMatchObject([{ name: "not_json", criterion: null }]);
  });

  it.each([
    ["a criterion", "- Three cities\n- Valid JSON", "c2"],
    ["a criterion as a sentence", "- Must be a JSON array\n- Three cities", "c1"],
  ])("%s that it was asked for in is named", (_, acceptanceCriteria, criterion) => {
    expect(check(PROSE, { acceptanceCriteria })).toMatchObject([{ name: "not_json", criterion }]);
  });

  it.each([
    ["is an object where an array was asked for", '{"a": 1}', "Return a JSON array."],
    ["is an array where an object was asked for", "[1]", "Return a JSON object."],
    ["is followed by more", '{"a": 1} I hope that helps!', "Return JSON."],
    ["is cut off", '{"a": [1, 2', "Return JSON."],
  ])("what %s is found", (_, output, specText) => {
    expect(namesOf(check(output, { specText }))).toEqual(["not_json"]);
  });

  it.each([
    ["JSON", '{"a": 1}', "Return JSON."],
    ["JSON after a byte order mark", '\ufeff{"a": 1}', "Return JSON."],
    ["JSON in a block of its own", '```json\n{"a": 1}\n```', "Return JSON."],
    ["an array", "[1]", "Return a JSON array of numbers."],
  ])("%s is what was asked for", (_, output, specText) => {
    expect(check(output, { specText })).toEqual([]);
  });

  it.each([
    "Summarise the JSON below.",
    "Explain what valid JSON is.",
    "Do not return JSON.",
    "Return JSON or YAML.",
    "Return JSON lines.",
    "Return a JSON parser.",
    "Return a function that parses JSON.",
    "Convert the CSV to JSON and describe it.",
    "Return JSON if you cannot find a city.",
    "The endpoint must return JSON.",
    "Given a JSON array of cities, write a report.",
  ])("%s: prose is no fault", (specText) => {
    expect(check(PROSE, { specText })).toEqual([]);
  });

  it("a program is not its own answer", () => {
    const specText = "Write a handler.\n- Return JSON.\n- Log each call.";
    expect(check(PROSE, { specText, domain: "code" })).toEqual([]);
    expect(namesOf(check(PROSE, { specText: "The output must be JSON.", domain: "code" }))).toEqual([
      "not_json",
    ]);
  });
});

describe("the language that was asked for", () => {
  it.each([
    "Respond in Japanese.",
    "Write a short report in Russian.",
    "Translate the following text to Greek: The river runs.",
    "Translate from English into Korean.",
    "The output must be written entirely in Arabic.",
    "Language: Hebrew",
  ])("%s: a text in Latin letters is found", (specText) => {
    expect(check(PROSE, { specText })).toMatchObject([{ name: "wrong_language", criterion: null }]);
  });

  it("is named with its criterion", () => {
    const found = check(PROSE, { acceptanceCriteria: "1. Four cities\n2. Written in Thai" });
    expect(found).toMatchObject([{ name: "wrong_language", criterion: "c2" }]);
  });

  it("is found missing in another script than Latin as well", () => {
    const output = "Лион стоит там, где Сона впадает в Рону, а Бордо на Гаронне, недалеко от моря.";
    expect(namesOf(check(output, { specText: "Answer in English." }))).toEqual(["wrong_language"]);
    expect(check(output, { specText: "Answer in Russian." })).toEqual([]);
  });

  it("is found in a text with names and code in other letters", () => {
    const output = `以下は four cities の一覧です。それぞれの町は川のそばにあります: Lyon, Bordeaux, Nantes, Rouen. ${PROSE}`;
    expect(check(output, { specText: "Respond in Japanese." })).toEqual([]);
  });

  it.each([
    "Write a poem about manners in Japanese museums.",
    "Explain how honorifics work in Korean.",
    "Translate this Japanese text.",
    "Do not answer in Japanese.",
    "Write the title in Japanese.",
    "Respond in Japanese and English.",
    "Respond in Japanese. Then respond in Korean.",
    "Write a report on Greek islands.",
    "Translate from Japanese to English.",
    "Answer in Japanese yen.",
    "Respond in Klingon.",
  ])("%s: a text in Latin letters is no fault", (specText) => {
    expect(check(PROSE, { specText })).toEqual([]);
  });

  it("is not judged by a few letters", () => {
    expect(check("OK, 42 km.", { specText: "Respond in Japanese." })).toEqual([]);
  });
});

it("names every fault, in one sentence with a short quotation and no hidden character", () => {
  const specText = "Return JSON. Write the output in Greek.";
  const found = check(`${longText(1, 900)}\u200b`.repeat(3), { specText });
  expect(namesOf(found)).toEqual(["padded", "hidden_characters", "not_json", "wrong_language"]);
  for (const { finding } of found) {
    expect(finding).toMatch(/^[^\p{Cc}\u200b]*\.$/u);
    const quoted = [...finding.matchAll(/“([^”]*)”/g)].map(([, quote]) => quote ?? "");
    expect(quoted.join("").length).toBeLessThanOrEqual(200);
  }
});

const HOSTILE: readonly [string, string][] = [
  ["one character", "a"],
  ["quotation marks", '"'],
  ["blanks", " "],
  ["brackets", "["],
  ["braces", '{"a":'],
  ["zero-width characters", "\u200b"],
  ["joiners", "👨\u200d"],
  ["tags", "\u{e0041}"],
  ["selectors", "\ufe0f"],
  ["soft hyphens", "a\u00ad"],
  ["halves of pairs", "\udc00\ud800"],
  ["an order for JSON", "return json "],
  ["an order for a language", "respond in japanese "],
  ["colons", "format: json: "],
  ["fences", "```\n"],
  ["words that join", "a\u0300"],
];

describe("200,000 hostile characters", () => {
  it.each(HOSTILE)("of %s take time that grows with their number", (_, unit) => {
    const whole = timeOf(filled(unit, 200_000));
    const tenth = timeOf(filled(unit, 20_000));
    // Ten times as much of what takes time squared would take a hundred times as long.
    expect(whole).toBeLessThan(40 * tenth + 100);
  });
});

function timeOf(text: string): number {
  const times = [0, 1, 2].map(() => {
    const start = performance.now();
    check(text, { specText: text, acceptanceCriteria: text });
    return performance.now() - start;
  });
  return Math.min(...times);
}

function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** Words in an order that does not recur; other seeds, other texts. */
function longText(seed: number, length: number): string {
  const words = [
    "river",
    "port",
    "trade",
    "harbour",
    "barge",
    "grain",
    "lock",
    "flood",
    "mill",
    "quay",
    "toll",
    "salt",
    "wine",
  ];
  let state = seed * 7_919 + 1;
  let text = "";
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${words[state % words.length]}${state % 5 === 0 ? "." : ""} `;
  }
  return text.trim();
}

function rows(row: (index: number) => string): string {
  return Array.from({ length: 60 }, (_, index) => row(index + 1)).join("\n");
}
