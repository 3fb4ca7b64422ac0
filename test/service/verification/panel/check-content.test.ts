import { expect, it } from "vitest";
import { check, namesOf, PROSE } from "./output-samples.ts";

const REPORT = { specText: "Report on the freight rates of the northern route in 300 words." };

it.each([
  ["a colon", ":"],
  ["dots", " . . . "],
  ["an empty list", "- \n- \n* "],
  ["an empty table", "| | |\n|---|---|\n| | |"],
  ["an empty code block", "```\n```"],
  ["a thought that never comes", "Thought process:"],
  ["a bare label", "**Solution**"],
  ["a label in Chinese", "解："],
  ["a label in German", "Lösung:"],
  ["an introduction", "Sure, here is the report you asked for:"],
  ["an introduction with a full stop", "Certainly! Here is the report as you requested."],
  ["an introduction in French", "Bien sûr, voici le rapport demandé :"],
  ["a way to think", "Let's solve this problem step by step."],
  ["a promise", "I'll now write the report to your specification. Let me know if you need changes."],
  ["an agreement", "Of course!"],
  ["a reference to nothing", "Please find the report attached."],
  ["one heading", "# Freight rates of the northern route"],
  ["headings", "# Freight\n\n## Rates\n\n---\n\n## Outlook\n"],
  ["labels", "Introduction:\n\nRates:\n\nConclusion:"],
  [
    "an introduction and headings",
    "Here is the report:\n\n# Freight rates\n## Outlook\n\nI hope this helps!",
  ],
  ["a placeholder", "[insert the report here]"],
  ["a promise of later", "TODO"],
])("finds %s without content", (_, text) => {
  const [found] = check(text, REPORT);
  expect(found).toMatchObject({ name: "no_content", criterion: null });
});

it.each<[what: string, text: string, specText: string]>([
  ["a number", "7", "How many ships sail?"],
  ["a sign of a language", "是", "Is it?"],
  ["a yes", "Yes.", "Is the port open?"],
  ["nothing found", "[]", "List all errors as JSON."],
  ["nothing found, in words", "None.", "List all errors."],
  ["not available", "N/A", "Name the second author."],
  ["an asked sign", "?", "Which punctuation mark ends a question?"],
  ["a quoted sign", "-", "Answer with “-” where there is no error."],
  ["code in Morse", "... --- ...", "Write SOS in Morse."],
  ["an asked label", "Solution", "Is this text a problem or a solution?"],
  ["a title", "# Freight and fog", "Find a title for the report."],
  ["an outline", "# One\n## Two\n## Three", "Make an outline of the report."],
  ["a form", "Name:\nAddress:", "Draft the form for new members."],
  ["a translation", "Here is the report you asked for.", "Translate: Hier ist der bestellte Bericht."],
  ["a letter", "Please find the report attached.", "Write a one-line email to go with the report."],
  ["a short answer after an introduction", "Here is the answer: 42", "How many?"],
  ["an answer below an introduction", "Here you go:\n\nParis", "Name the capital of France."],
  ["a heading with a sentence", `# Rivers\n${PROSE}`, "Describe four rivers."],
  ["a list of items", "Ports:\n- Rouen\n- Nantes", "List ports."],
  [
    "an order for a tool",
    "Let me think about it, said the ferryman, and rowed on.",
    "Write a line of prose.",
  ],
  ["a line that ends in a colon among others", "Note:\nIt rains.", "How is the weather?"],
])("finds nothing in %s", (_, text, specText) => {
  expect(namesOf(check(text, { specText }))).toEqual([]);
});

it("reads comments and labels of source code as code", () => {
  const code = { specText: "Write an empty module.", domain: "code" };
  expect(check("# Nothing to see\n# in this module", code)).toEqual([]);
  expect(namesOf(check("Sure, here is the code you asked for.", code))).toEqual(["no_content"]);
});

it("quotes the output in one line", () => {
  expect(check("## Freight\n\n## Rates", REPORT)).toEqual([
    {
      name: "no_content",
      finding: "The output has no content: it is headings or labels alone, “## Freight ## Rates”.",
      criterion: null,
    },
  ]);
});
