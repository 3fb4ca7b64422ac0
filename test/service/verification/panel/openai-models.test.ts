import { afterEach, describe, expect, it, vi } from "vitest";
import { ANSWER_SHAPES } from "../../../../service/verification/panel/answers.ts";
import type { ModelQuestion } from "../../../../service/verification/panel/model-port.ts";
import { readCompletion } from "../../../../service/verification/panel/openai-models.ts";
import { API_KEY, modelsOf } from "./a-panel.ts";
import {
  type Call,
  complete,
  type ModelServer,
  type Respond,
  refuse,
  send,
  startModelServer,
  stayOpen,
} from "./model-server.ts";

const QUESTION: ModelQuestion = {
  role: "critic",
  model: "a-model",
  system: "Role: critic",
  user: "the texts",
  shape: ANSWER_SHAPES.critique,
};

let server: ModelServer;
const started: ModelServer[] = [];
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
});

async function serve(...responses: readonly Respond[]) {
  server = await startModelServer(({ number }: Call) => responses[number - 1] ?? complete("late"));
  started.push(server);
}

const never = () => new AbortController().signal;
const ask = (change = {}) => modelsOf(server.baseUrl, change).ask(QUESTION, never());

describe("a question", () => {
  it("asks for the schema strictly, and sends temperature and seed only where they are set", async () => {
    await serve(complete("one"), complete("two"));
    expect(await ask()).toEqual({
      outcome: { kind: "text", text: "one" },
      ...{ mode: "json_schema", requests: 1, promptTokens: 1_000, completionTokens: 100 },
      cachedTokens: null,
    });
    await ask({ temperature: 0, seed: 7 });
    const plain = {
      model: "a-model",
      messages: [
        { role: "system", content: "Role: critic" },
        { role: "user", content: "the texts" },
      ],
      response_format: {
        type: "json_schema",
        json_schema: { name: "critique", strict: true, schema: ANSWER_SHAPES.critique.jsonSchema },
      },
      max_completion_tokens: 4_096,
    };
    expect(server.calls.map(({ path, body }) => ({ path, body }))).toEqual([
      { path: "/v1/chat/completions", body: plain },
      { path: "/v1/chat/completions", body: { ...plain, temperature: 0, seed: 7 } },
    ]);
  });

  it("carries the key and nothing of the environment", async () => {
    await serve(complete("one"), complete("two"));
    vi.stubEnv("OPENAI_CUSTOM_HEADERS", "x-secret: 1");
    vi.stubEnv("OPENAI_ORG_ID", "org-1");
    await ask();
    await ask({ apiKey: null });
    vi.unstubAllEnvs();
    const [withKey, without] = server.calls.map(({ headers }) => headers);
    expect(withKey?.authorization).toBe(`Bearer ${API_KEY}`);
    expect(without?.authorization).toBeUndefined();
    expect(Object.keys(withKey ?? {}).filter((name) => /secret|openai|stainless/.test(name))).toEqual([]);
  });

  it("estimates tokens where the server does not report them", async () => {
    await serve(send({ choices: [{ finish_reason: "stop", message: { content: "four words of text" } }] }));
    expect(await ask()).toMatchObject({ promptTokens: expect.any(Number), completionTokens: 6 });
  });
});

describe("a server without json_schema", () => {
  const refusal = refuse(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported");

  it("is asked for a JSON object with the schema in the system message, from then on at once", async () => {
    await serve(refusal, complete("one"), complete("two"));
    const models = modelsOf(server.baseUrl);
    expect(await models.ask(QUESTION, never())).toMatchObject({ mode: "json_object", requests: 2 });
    expect(await models.ask(QUESTION, never())).toMatchObject({ mode: "json_object", requests: 1 });
    const { response_format: format, messages } = server.calls[2]?.body ?? {};
    expect(format).toEqual({ type: "json_object" });
    expect(messages?.[0]?.content).toContain(JSON.stringify(ANSWER_SHAPES.critique.jsonSchema));
    expect(messages?.[1]).toEqual({ role: "user", content: "the texts" });
  });

  it("is remembered for the model that it does not have it for", async () => {
    await serve(refusal, complete("one"), complete("two"));
    const models = modelsOf(server.baseUrl);
    await models.ask(QUESTION, never());
    const reply = await models.ask({ ...QUESTION, model: "another" }, never());
    expect(reply.mode).toBe("json_schema");
  });

  it("does not fail those that ask at the same time", async () => {
    await serve(refusal, refusal, refusal, complete("one"), complete("two"), complete("three"));
    const models = modelsOf(server.baseUrl);
    const replies = await Promise.all([1, 2, 3].map(() => models.ask(QUESTION, never())));
    expect(replies.map(({ outcome }) => outcome.kind)).toEqual(["text", "text", "text"]);
  });

  it("that takes no JSON object either rejects the question", async () => {
    await serve(refusal, refusal);
    expect(await ask()).toMatchObject({ outcome: { kind: "rejected" }, requests: 2 });
  });
});

it("sends max_tokens to a server that does not know max_completion_tokens", async () => {
  await serve(refuse(400, "Unrecognized request argument supplied: max_completion_tokens"), complete("one"));
  expect((await ask()).outcome.kind).toBe("text");
  expect(server.calls[1]?.body).toMatchObject({ max_tokens: 4_096 });
  expect(server.calls[1]?.body).not.toHaveProperty("max_completion_tokens");
});

describe("a failure that may pass", () => {
  it.each([
    ["429", refuse(429, "Slow down")],
    ["500", refuse(500, "Oops")],
    ["503", refuse(503, "Busy")],
    ["a connection that ends", ((response) => response.destroy()) satisfies Respond],
    ["an answer that is no JSON", send("<html>", 200)],
    ["an answer that is no completion", send({ error: "later" })],
  ])("%s is tried again", async (_, failure) => {
    await serve(failure, failure, complete("one"));
    expect(await ask()).toMatchObject({ outcome: { kind: "text", text: "one" }, requests: 3 });
  });

  it("is tried again when the server says, and not before", async () => {
    await serve(refuse(429, "Slow down", { "retry-after": "1" }), complete("one"));
    const startedMs = performance.now();
    expect((await ask()).outcome.kind).toBe("text");
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(990);
  });

  const declined = refuse(503, "Busy");
  const patient = refuse(429, "Slow down", { "retry-after": "3600" });
  const unpaid = send({ error: { code: "insufficient_quota", message: "Quota" } }, 429);
  it.each([
    ["told once all tries are used up", [declined, declined, declined], "HTTP status 503", 3],
    ["not waited for where the server asks for longer than we may wait", [patient], "HTTP status 429", 1],
    ["not waited for where money is missing", [unpaid], "HTTP status 429 (insufficient_quota)", 1],
  ])("is %s", async (_, failures, detail, requests) => {
    await serve(...failures, complete("one"));
    expect(await ask()).toMatchObject({
      outcome: { kind: "unavailable", detail },
      ...{ requests, promptTokens: 0 },
    });
  });

  it("names the system's code where no server listens, and counts no tokens", async () => {
    await serve();
    await server.close();
    expect(await ask()).toMatchObject({
      outcome: { kind: "unavailable", detail: "the connection failed (ECONNREFUSED)" },
      ...{ requests: 3, promptTokens: 0 },
    });
  });

  it("is over at the deadline, which all tries share", async () => {
    await serve(stayOpen);
    expect(await ask({ callMs: 300 })).toMatchObject({
      outcome: { kind: "unavailable", detail: "no answer within 0.3 s" },
      // The system message and the texts, since the model may have read them.
      ...{ requests: 1, promptTokens: 8, completionTokens: 0 },
    });
  });
});

describe("tokens of a request that was broken off", () => {
  const endsMidway: Respond = (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write("{");
    setTimeout(() => response.destroy(), 10);
  };
  /** Five tokens of system message and three of texts. */
  const ESTIMATE = 8;

  it.each([
    ["a connection that ends before the answer", ((response) => response.destroy()) satisfies Respond, 1],
    ["a connection that ends midway", endsMidway, 1],
    ["an answer that is no JSON", send("<html>", 200), 1],
    ["an answer that is no completion", send({ error: "later" }), 1],
    ["a gateway that gives up on the model", refuse(504, "Timeout"), 1],
    ["a server that declines", refuse(503, "Busy"), 0],
    ["a server that limits us", refuse(429, "Slow down"), 0],
  ])("are estimated and counted: %s", async (_, failure, times) => {
    await serve(failure, complete("one"));
    const { promptTokens } = await ask();
    expect(promptTokens).toBe(1_000 + times * ESTIMATE);
  });

  it("are estimated of refusals and cut answers as well", async () => {
    const usage = { usage: undefined };
    const cut = { choices: [{ finish_reason: "length", message: { content: "x" } }], ...usage };
    const refusal = { choices: [{ message: { content: null, refusal: "No." } }], ...usage };
    await serve(send(cut), send(refusal));
    expect(await ask()).toMatchObject({ promptTokens: ESTIMATE, completionTokens: 4_096 });
    expect(await ask()).toMatchObject({ promptTokens: ESTIMATE, completionTokens: 0 });
  });
});

describe("a failure that does not pass", () => {
  const filtered = { error: { code: "content_filter", message: "The prompt was filtered" } };
  const tooLong = { error: { code: "context_length_exceeded", message: "maximum context length is 8192" } };

  it.each([
    ["a key that is not known", refuse(401, `Incorrect API key provided: ${API_KEY}`), "rejected"],
    ["a model that is not there", refuse(404, "The model does not exist"), "rejected"],
    ["a question too long for the model", send(tooLong, 400), "too_long"],
    ["a body too large for the server", refuse(413, "Too large"), "too_long"],
    ["a question that a filter stops", send(filtered, 400), "refused"],
    ["an answer that a filter stops", complete("half an an", { finish_reason: "content_filter" }), "refused"],
    ["a refusal", complete("", {}, { content: null, refusal: "I can not help with that." }), "refused"],
    ["an answer that is cut", complete('{"score": 1', { finish_reason: "length" }), "cut"],
    ["a redirect", send("", 302, { location: "https://example.org/" }), "unavailable"],
  ])("%s is reported as what it is", async (_, failure, kind) => {
    await serve(failure, failure, failure);
    const { outcome } = await ask();
    expect(outcome.kind).toBe(kind);
    expect(JSON.stringify(outcome)).not.toMatch(
      new RegExp(`${API_KEY}|127\\.0\\.0\\.1|can not help|Incorrect`),
    );
  });
});

it("rejects with the reason of its abort, and ends the request", async () => {
  await serve(stayOpen);
  const stopping = new AbortController();
  const asked = modelsOf(server.baseUrl).ask(QUESTION, stopping.signal);
  await expect.poll(() => server.calls.length).toBe(1);
  stopping.abort(new Error("stopping"));
  await expect(asked).rejects.toThrow("stopping");
});

describe("createOpenaiModels", () => {
  it.each(["http://models.example/v1", "ftp://127.0.0.1", "https://me:secret@models.example/v1", "nonsense"])(
    "sends no key to %s",
    (baseUrl) => expect(() => modelsOf(baseUrl)).toThrow("neither https nor http on this machine"),
  );

  it.each(["https://models.example/v1", "http://localhost:1/v1", "http://127.0.0.1:1", "http://[::1]:1"])(
    "takes %s",
    (baseUrl) => expect(() => modelsOf(baseUrl)).not.toThrow(),
  );

  it("refuses a key that no header takes without repeating it", () => {
    expect(() => modelsOf("https://models.example/v1", { apiKey: "sk-über" })).toThrow(
      /^(?!.*sk-).*no header takes/,
    );
  });
});

const body = (message: object, usage?: unknown) => ({ choices: [{ finish_reason: "stop", message }], usage });
const USAGE = { prompt_tokens: 10, completion_tokens: 5 };

describe("readCompletion", () => {
  it("takes text and usage as the server reports them", () => {
    expect(readCompletion(body({ content: "yes" }, USAGE))).toEqual({
      outcome: { kind: "text", text: "yes" },
      usage: { promptTokens: 10, completionTokens: 5, cachedTokens: null },
    });
  });

  it.each([
    ["a part", { cached_tokens: 4 }, 4],
    ["none", { cached_tokens: 0 }, 0],
    ["more than the prompt has", { cached_tokens: 11 }, 10],
    ["something impossible", { cached_tokens: -1 }, null],
    ["nothing", {}, null],
  ])("takes %s from the cache", (_, details, cachedTokens) => {
    const usage = { ...USAGE, prompt_tokens_details: details };
    expect(readCompletion(body({ content: "yes" }, usage))?.usage).toEqual({
      ...{ promptTokens: 10, completionTokens: 5, cachedTokens },
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
