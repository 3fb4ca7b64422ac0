import { APIError } from "openai";
import { afterEach, describe, expect, it } from "vitest";
import {
  classifyModelError,
  createModelProbe,
} from "../../../../service/verification/panel/openai-client.ts";
import { API_KEY, modelsOf } from "./a-panel.ts";
import { type ModelServer, type Respond, refuse, send, startModelServer, stayOpen } from "./model-server.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

function detailOf(status: number, error: object): string | null {
  const classified = classifyModelError(APIError.generate(status, { error }, undefined, new Headers()), NOW);
  return classified.kind === "outcome" && classified.outcome.kind !== "text"
    ? classified.outcome.detail
    : null;
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

it("a redirect is reported as one", async () => {
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

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function probeOf(respond: () => Respond) {
  const started = await startModelServer(respond);
  server = started;
  return createModelProbe({ baseUrl: started.baseUrl, apiKey: API_KEY });
}

describe("the probe of the model server", () => {
  it.each([
    ["lists its models", send({ object: "list", data: [] }), null],
    ["has no list", refuse(404, "no such path"), null],
    ["answers with something else", send("ready"), null],
    ["fails", refuse(503, "down"), "HTTP status 503"],
    ["limits us", refuse(429, "slow down"), "HTTP status 429"],
    ["does not know our key", refuse(401, `Incorrect API key provided: ${API_KEY}`), "HTTP status 401"],
    ["says nothing", stayOpen, "no answer within 2 s"],
  ])("reports a server that %s", async (_, respond, detail) => {
    const probe = await probeOf(() => respond);
    expect(await probe()).toEqual({ isReachable: detail === null, detail });
    expect(server?.calls[0]?.path).toBe("/v1/models");
  });

  it("reports a server that is not there", async () => {
    const probe = await probeOf(() => stayOpen);
    await server?.close();
    expect(await probe()).toEqual({ isReachable: false, detail: "the connection failed (ECONNREFUSED)" });
  });

  it("caches nothing: a later answer may differ", async () => {
    let respond = send({ data: [] });
    const probe = await probeOf(() => respond);
    expect((await probe()).isReachable).toBe(true);
    respond = refuse(503, "down");
    expect((await probe()).isReachable).toBe(false);
  });
});
