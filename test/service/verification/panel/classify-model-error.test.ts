import { APIError } from "openai";
import { describe, expect, it } from "vitest";
import { classifyModelError } from "../../../../service/verification/panel/classify-model-error.ts";
import { modelsOf } from "./a-panel.ts";
import { send, startModelServer } from "./model-server.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

function detailOf(status: number, error: object): string | null {
  const told = classifyModelError(APIError.generate(status, { error }, undefined, new Headers()), NOW);
  return told.kind === "outcome" && told.outcome.kind !== "text" ? told.outcome.detail : null;
}

describe("a refused setting", () => {
  it.each([
    [{ code: "unsupported_value", param: "temperature" }, "HTTP status 400 (temperature, unsupported_value)"],
    [{ code: null, param: "seed" }, "HTTP status 400 (seed)"],
    [{ code: "invalid_value", param: "messages.0.sk-123" }, "HTTP status 400 (invalid_value)"],
    [{ code: "SK-123", param: null }, "HTTP status 400"],
  ])("%j is named where it is one of ours, and no word of the server's but a code", (error, detail) => {
    expect(detailOf(400, { message: "Only the default is supported: sk-123", ...error })).toBe(detail);
  });
});

it("a redirect is told as one", async () => {
  const server = await startModelServer(() => send("", 302, { location: "https://example.org/" }));
  const question = { role: "critic", model: "a-model", system: "Role: critic", user: "" } as const;
  const shape = { name: "critique", jsonSchema: {} } as const;
  const { outcome } = await modelsOf(server.baseUrl).ask(
    { ...question, shape },
    new AbortController().signal,
  );
  await server.close();
  expect(outcome).toEqual({
    kind: "unavailable",
    detail: "the connection failed (a redirect, which is not followed)",
  });
});
