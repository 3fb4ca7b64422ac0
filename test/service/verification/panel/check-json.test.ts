import { describe, expect, it } from "vitest";
import { check, namesOf, PROSE } from "./output-samples.ts";

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
    ["is introduced against the order", 'Sure!\n```json\n{"a": 1}\n```', "Respond with valid JSON only."],
    ["is introduced where nothing else was to be", "Sure!\n```json\n[1]\n```", "Return JSON. Nothing else."],
    ["is introduced and cut off", 'Sure!\n```json\n{"a": \n```', "Return JSON."],
    ["is introduced, and no object", "Sure!\n```json\n[1]\n```", "Return a JSON object."],
    ["is in rows that nobody asked for", '{"a": 1}\n{"a": 2}', "Return JSON."],
    ["is followed by more", '{"a": 1} I hope that helps!', "Return JSON."],
    ["is cut off", '{"a": [1, 2', "Return JSON."],
  ])("is reported if it %s", (_, output, specText) => {
    expect(namesOf(check(output, { specText }))).toEqual(["not_json"]);
  });

  it.each([
    ["JSON", '{"a": 1}', "Return JSON."],
    ["JSON after a byte order mark", '\ufeff{"a": 1}', "Return JSON."],
    ["JSON in a block of its own", '```json\n{"a": 1}\n```', "Return JSON."],
    ["an array", "[1]", "Return a JSON array of numbers."],
    ["JSON in rows", '{"a": 1}\n{"a": 2}\n', "Output as JSON.\nOne record per line."],
    ["JSON in an introduced block", 'Here it is:\n\n```json\n{"a": 1}\n```\nIs that all?', "Return JSON."],
    ["JSON in a block on one line", 'Here is the result: ```json{"a": 1}```', "Return JSON."],
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

  it.each([
    ["an endpoint", "Build an endpoint. The response must be JSON.", null, "code"],
    ["a page", "Show the weather with Express.\nThe response must be JSON.", null, "code"],
    ["an endpoint of no domain", "Build a weather endpoint with Express.", "- Response is JSON", "default"],
    ["a service of an unknown domain", "Create a small weather service.", "- Output is JSON", "default"],
  ])(
    "a program is what was asked for with %s that gives JSON back",
    (_, specText, acceptanceCriteria, domain) => {
      const program = 'app.get("/weather", (request, response) => response.json({ degrees: 7 }));';
      expect(check(program, { specText, acceptanceCriteria, domain })).toEqual([]);
    },
  );
});
