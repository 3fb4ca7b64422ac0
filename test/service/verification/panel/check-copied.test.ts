import { describe, expect, it } from "vitest";
import { check, longText, namesOf } from "./output-samples.ts";

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

  it("is found where all is handed back, data and criteria with it", () => {
    const order = `Find three quiet cafés where one can work for a morning. The list to choose from is below.\n\n${longText(6, 300)}`;
    const acceptanceCriteria =
      "Criteria:\n- Names three cafés of the list\n- Gives the way to each in minutes";
    const output = `${order}\n${acceptanceCriteria}`;
    expect(namesOf(check(output, { specText: order, acceptanceCriteria }))).toEqual(["copied_from_spec"]);
  });

  it("is found where a short order is handed back with its list", () => {
    const order = `Write a report that covers:\n- ${longText(7, 200)}\n- ${longText(8, 200)}`;
    expect(namesOf(check(order, { specText: order }))).toEqual(["copied_from_spec"]);
  });

  it("is found in every criterion with a word of its own", () => {
    const criteria = [9, 10, 11].map((seed) => `Explains ${longText(seed, 90)}`);
    const output = criteria.map((criterion) => `${criterion}: done.`).join("\n");
    const acceptanceCriteria = criteria.map((criterion) => `- ${criterion}`).join("\n");
    expect(namesOf(check(output, { acceptanceCriteria }))).toEqual(["copied_from_spec"]);
  });

  const TEXT = `${longText(12, 700)}.`;
  const FILE = `<?php\n${longText(13, 600).replaceAll(" ", "();\n")}\necho $_GET["name"];`;
  const LINES = [14, 15, 16, 17, 18, 19, 20, 21].map((seed) => longText(seed, 70));
  it.each([
    ["proofread", `Proofread this text.\n\n${TEXT}`, TEXT.replace("river", "River")],
    [
      "proofread, with its order",
      `Proofread this text. ${TEXT}`,
      `Proofread this text. ${TEXT.replace("river", "River")}`,
    ],
    [
      "a file with a fault that is fixed",
      `Fix the XSS and return the file.\n\n${FILE}`,
      FILE.replace("$_GET", "clean($_GET)"),
    ],
    [
      "a file in a block of code",
      `This page has a fault.\n\`\`\`php\n${FILE}\n\`\`\``,
      FILE.replace("$_GET", "clean($_GET)"),
    ],
    [
      "a file with comments",
      `Add comments to the code below.\n${FILE}`,
      FILE.replace("echo", "// Greets\necho"),
    ],
    ["a sorted list", `Sort this list.\n${LINES.join("\n")}`, LINES.toSorted().join("\n")],
    ["a list in its order", `Names in their order:\n${LINES.join("\n")}`, LINES.toSorted().join("\n")],
    ["a template that is filled in", `Fill in the template.\n\n${TEXT}\nName: ____`, `${TEXT}\nName: Ann`],
    [
      "what was to be extracted verbatim",
      `Extract the passage on trade, verbatim. ${TEXT}`,
      TEXT.slice(0, 500),
    ],
    [
      "a licence that was to be handed on",
      `Write a tool of one line. Put this at its head:\n\n${TEXT}`,
      `${TEXT}\n\nmain();`,
    ],
    [
      "a quotation that was to be handed on",
      `Write a note that opens with “${TEXT}” and closes with thanks.`,
      `${TEXT}\n\nThank you.`,
    ],
    [
      "a text in another language that is corrected",
      `Corrige les fautes du texte suivant.\n\n${TEXT}`,
      TEXT.replace("river", "fleuve"),
    ],
  ])("is not found in %s", (_, order, output) => {
    expect(check(output, { specText: order })).toEqual([]);
  });

  it.each([
    ["asks for the text", `- Contains this notice:\n  ${TEXT}\n- Is short`],
    ["quotes the text", `- Opens with “${TEXT}”\n- Is short`],
    ["says what may change", `- Only typos are corrected\n- ${TEXT}`],
  ])("is not found where a criterion %s", (_, acceptanceCriteria) => {
    expect(check(`${TEXT} Thank you.`, { acceptanceCriteria })).toEqual([]);
  });
});
