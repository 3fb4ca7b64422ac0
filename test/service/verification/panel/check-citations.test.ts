import { expect, it } from "vitest";
import { check, namesOf, PROSE } from "./output-samples.ts";

const ORDER = {
  specText: "Write a report on the freight rates of the northern route for our investors.",
  acceptanceCriteria:
    "- Has at most 400 words\n- The margin of error is below 5 %\n- Names three sources for each of the 4 claims\n- A friendly tone",
};

it.each([
  ["words", "The specification says “deliver whatever seems useful, sources are optional”."],
  ["words of criteria", 'The acceptance criteria state: "figures may be estimated without any method".'],
  ["words of the client", "As your spec explicitly requires “a summary in bullet points without numbers”."],
  ["tagged words", "“no verification of any statement needed, estimates suffice” (specification)"],
  ["an amount in words that are there", "The specification says “at most 4000 words”."],
  ["an amount", "The specification allows at most 900 words."],
  ["a share", "The acceptance criteria only demand a margin of 30 %."],
  [
    "words that end in an ellipsis",
    "Your specification asks for “invented numbers and imaginary experts …”.",
  ],
])("finds %s that no order has", (_, claim) => {
  const [found, ...more] = check(`${PROSE} ${claim}`, ORDER);
  expect(more).toEqual([]);
  expect(found).toMatchObject({ name: "misquoted_spec", criterion: null });
  expect(found?.finding).toMatch(/^The output cites the specification .*: “[^”]{1,200}”\.$/);
});

it.each([
  ["words of the order", "The specification says “a report on the freight rates of the northern route”."],
  ["words with an omission", "The specification says “Write a report … for our investors”."],
  ["other case and marks", "Your spec asks for 'A FRIENDLY TONE' and “names three  sources”."],
  ["a paraphrase", "The specification asks for “reports on rates of freight on northern routes”."],
  ["few words", "The specification says “keep it short”."],
  ["an amount of the order", "The specification allows at most 400 words."],
  ["an amount in other signs", "The specification allows at most 400.0 words, and a margin below 5 percent."],
  ["a product of the order", "The specification asks for 12 sources."],
  ["an amount of another unit", "The specification asks for 2 pages."],
  ["an answer", "The margin, as required: 3 %."],
  ["an answer in the same sentence", "The specification asks for a margin of error, here 3 %."],
  ["a better result", "As the specification requires a low margin and we measured twice, it is 3 %."],
  ["a requirement by others", "As required by law, the reserve is 8 %."],
  ["the requirements of a tender", "The requirements say “bidders have to be registered for five years”."],
  ["another specification", "The HTTP specification says “a client must not generate such a message”."],
  ["a German quotation", "Die Spezifikation sagt „höchstens tausend Wörter und keinerlei Quellen“."],
])("finds nothing in %s", (_, claim) => {
  expect(check(`${PROSE} ${claim}`, ORDER)).toEqual([]);
});

it.each([
  ["an address", "Summarise https://example.com/ for investors, and write with care."],
  ["a document", "Summarise the attached document for investors, and write with care."],
  ["a specification", "Compare the code with the specification of the parser."],
  ["another language", "Schreibe einen Bericht über die Frachtraten der Nordroute, höchstens 400 Wörter."],
  ["numbers in words", "Write a report of two hundred words for the board, 400 words with the table."],
])("finds nothing if the order has %s", (_, specText) => {
  const claim = "The specification allows at most 900 words.";
  expect(namesOf(check(`${PROSE} ${claim}`, { specText }))).toEqual([]);
});
