import { describe, expect, it } from "vitest";
import { readCompletion } from "../../../../service/verification/panel/read-completion.ts";

const body = (message: object, usage?: unknown) => ({ choices: [{ finish_reason: "stop", message }], usage });
const USAGE = { prompt_tokens: 10, completion_tokens: 5 };

describe("readCompletion", () => {
  it("takes text and usage as the server tells them", () => {
    expect(readCompletion(body({ content: "yes" }, USAGE))).toEqual({
      outcome: { kind: "text", text: "yes" },
      usage: { promptTokens: 10, completionTokens: 5 },
    });
  });

  it.each([
    ["more than can be kept", { ...USAGE, prompt_tokens: 3e9 }],
    ["less than none", { ...USAGE, completion_tokens: -1 }],
    ["half of one", { ...USAGE, completion_tokens: 0.5 }],
    ["none at all", { ...USAGE, prompt_tokens: undefined }],
    ["a text", "many"],
  ])("loses no answer for a usage of %s", (_, usage) => {
    expect(readCompletion(body({ content: "yes" }, usage))).toEqual({
      outcome: { kind: "text", text: "yes" },
      usage: null,
    });
  });

  it("joins the texts of an answer in parts, without what the model thought", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
      { type: "text", text: '{"a":' },
      { type: "text", text: "1}" },
    ];
    expect(readCompletion(body({ content }))?.outcome).toEqual({ kind: "text", text: '{"a":1}' });
  });

  it.each([
    ["no choice", { choices: [] }],
    ["a number for an answer", body({ content: 7 })],
    ["an error", { error: { message: "no" } }],
  ])("is null with %s", (_, given) => {
    expect(readCompletion(given)).toBeNull();
  });
});
