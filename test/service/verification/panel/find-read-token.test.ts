import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type ScriptedModel,
  startScriptedModel,
} from "../../../../devnet/scripted-model/start-scripted-model.ts";
import {
  CountFailed,
  createTokenCounter,
  findReadToken,
} from "../../../../service/verification/panel/find-read-token.ts";
import { CHAT_TEMPLATES } from "../../../support/chat-templates.ts";
import { startTurnServer } from "../../../support/scripted-turn-server.ts";
import { complete, type ModelServer, refuse, startModelServer } from "./model-server.ts";

let model: ScriptedModel;
let server: Awaited<ReturnType<typeof startTurnServer>> | null = null;
let fake: ModelServer | null = null;
beforeAll(async () => {
  model = await startScriptedModel({ chainId: 31_337 });
});
afterAll(() => model.stop());
afterEach(async () => {
  await server?.stop();
  await fake?.close();
  [server, fake] = [null, null];
});

const asking = { model: "scripted", callMs: 5_000, answerTokens: 16 };
const counterOf = (baseUrl: string) => createTokenCounter({ baseUrl, apiKey: null }, asking);
const usageOf = (body: object) => ({ prompt_tokens: pieces(JSON.stringify(body)), completion_tokens: 1 });
/** Control tokens of published tokenisers beside those of the templates. */
const FURTHER: readonly (readonly [string, ...(readonly string[])])[] = [
  ["gpt-oss", "<|start|>", "<|message|>", "<|channel|>", "<|end|>", "<|return|>", "<|endoftext|>"],
  ["Llama 2", "<s>", "</s>", "<unk>"],
  ["Mistral 7B, version 3", "<s>", "</s>", "[INST]", "[/INST]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"],
  ["Yi", "<|im_start|>", "<|im_end|>"],
  ["Falcon 3", "<|system|>", "<|user|>", "<|assistant|>"],
  ["Command", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"],
  ["Granite", "<|start_of_role|>", "<|end_of_role|>"],
  ["Nemotron H", "<SPECIAL_10>", "<SPECIAL_11>", "<SPECIAL_12>"],
  ["Nemotron 4", "<extra_id_0>", "<extra_id_1>"],
  ["Baichuan", "<reserved_106>", "<reserved_107>"],
  ["Seed", "<seed:bos>", "<seed:eos>"],
  ["MiniMax", "]~b]", "]~!b[", "[e~["],
  ["Ling", "<role>", "</role>"],
  ["TeleChat", "<_system>", "<_user>", "<_bot>"],
  ["SmolVLM", "<end_of_utterance>"],
];

/** Words, numbers and runs of signs, as common tokenisers split a text. */
const pieces = (text: string) => text.match(/ ?\p{L}+| ?\d| ?[^\s\p{L}\d]{1,3}|\s/gu)?.length ?? 0;

describe("a server's reading of control tokens", () => {
  it.each(CHAT_TEMPLATES)("is found where it reads turns by the template of $name", async (template) => {
    server = await startTurnServer({ template, baseUrl: model.baseUrl });
    const finding = await findReadToken(counterOf(server.baseUrl), []);
    expect(finding).toEqual({ kind: "read", token: expect.any(String) });
    const { token = "" } = finding as { token?: string };
    expect(template.tokens.map((one) => one.trim())).toContain(token);
  });

  it.each(FURTHER)("is found where it reads the tokens of %s alone", async (_, ...tokens) => {
    const count = async (text: string) =>
      pieces(tokens.reduce((rest, token) => rest.replaceAll(token, "x"), text));
    const finding = await findReadToken(count, []);
    expect(finding).toEqual({ kind: "read", token: expect.any(String) });
    expect(tokens).toContain((finding as { token?: string }).token);
  });

  it("is not found where it reads none, by at most 35 requests", async () => {
    expect(await findReadToken(counterOf(model.baseUrl), [])).toEqual({ kind: "unread" });
    const count = vi.fn(async (text: string) => pieces(text));
    expect(await findReadToken(count, ["reserved_0"])).toEqual({ kind: "unread" });
    expect(count.mock.calls.length).toBeLessThanOrEqual(35);
    const many = Array.from({ length: 200 }, (_, index) => `reserved_${index}`);
    count.mockClear();
    expect(await findReadToken(count, many)).toEqual({ kind: "unread" });
    expect(count.mock.calls.length).toBeLessThanOrEqual(135);
  });

  it("is found for a single token that the operator names", async () => {
    const count = async (text: string) => pieces(text.replaceAll("reserved_0", "x"));
    expect(await findReadToken(count, ["reserved_0"])).toEqual({ kind: "read", token: "reserved_0" });
    const further = ["|||URL|||", "|||EMAIL|||", "|||PHONE|||", "reserved_0", "reserved_1"];
    expect(await findReadToken(count, further)).toEqual({ kind: "read", token: "reserved_0" });
  });

  it("is not known without usage, and where messages with tokens alone are refused", async () => {
    fake = await startModelServer(() => complete("OK", {}, {}, {}));
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual({
      kind: "unknown",
      detail: "the server reports no usage.prompt_tokens",
    });
    await fake.close();
    fake = await startModelServer(({ body }) =>
      JSON.stringify(body).includes("<|im_start|>")
        ? refuse(400, "disallowed special token")
        : complete("OK"),
    );
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual({
      kind: "unknown",
      detail: expect.stringContaining("HTTP status 400"),
    });
  });

  it("is not known where the reported usage does not grow with the message", async () => {
    fake = await startModelServer(() => complete("OK"));
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual({
      kind: "unknown",
      detail: "usage.prompt_tokens does not grow with the message",
    });
  });

  it("is found by a server that answers few questions a minute, since a further try asks only for the others", async () => {
    let left = 0;
    const count = async (text: string) => {
      left -= 1;
      if (left < 0) throw new CountFailed("HTTP status 429", true);
      return pieces(text);
    };
    const known = new Map<string, Promise<number | null>>();
    const findings: string[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      left = 10;
      findings.push((await findReadToken(count, [], known)).kind);
    }
    expect(findings).toEqual([...Array.from({ length: 3 }, () => "unavailable"), "unread", "unread"]);
  });

  it("is no finding while the server fails", async () => {
    fake = await startModelServer(() => refuse(503, "overloaded"));
    const failed = { kind: "unavailable", detail: "HTTP status 503", answersOthers: false };
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual(failed);
    expect(await findReadToken(counterOf("http://127.0.0.1:1/v1"), [])).toMatchObject({
      kind: "unavailable",
    });
    const moody = async (text: string) => {
      if (text.includes("<|")) throw new CountFailed("HTTP status 500", true);
      return pieces(text);
    };
    expect(await findReadToken(moody, [])).toMatchObject({ kind: "unavailable", answersOthers: true });
  });

  it("is asked again with max_tokens where max_completion_tokens is refused", async () => {
    fake = await startModelServer(({ body }) =>
      "max_completion_tokens" in body
        ? refuse(400, "max_completion_tokens is not supported")
        : complete("OK", {}, {}, usageOf(body)),
    );
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual({ kind: "unread" });
  });
});
