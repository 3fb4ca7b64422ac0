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

  it("is not found where it reads none, by at most 20 requests", async () => {
    expect(await findReadToken(counterOf(model.baseUrl), [])).toEqual({ kind: "unread" });
    const count = vi.fn(async (text: string) => pieces(text));
    expect(await findReadToken(count, ["reserved_0"])).toEqual({ kind: "unread" });
    expect(count.mock.calls.length).toBeLessThanOrEqual(20);
  });

  it("is found for a single token that the operator names", async () => {
    const count = async (text: string) => pieces(text.replaceAll("reserved_0", "x"));
    expect(await findReadToken(count, ["reserved_0"])).toEqual({ kind: "read", token: "reserved_0" });
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
        : complete("OK"),
    );
    expect(await findReadToken(counterOf(fake.baseUrl), [])).toEqual({ kind: "unread" });
  });
});
