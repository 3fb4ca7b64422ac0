import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type ScriptedModel,
  startScriptedModel,
} from "../../../devnet/scripted-model/start-scripted-model.ts";
import { createBatchFetch } from "../../../eval/panel/batch-fetch.ts";

let scripted: ScriptedModel;
const written: string[] = [];
beforeAll(async () => {
  scripted = await startScriptedModel({ chainId: 31_337 });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(String(text)) > 0);
});
afterAll(() => scripted.stop());

function ask(send: typeof fetch, model: string, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Who are you?" }] });
  return send(`${scripted.baseUrl}/chat/completions`, { method: "POST", body, signal: signal ?? null });
}

test("each question gets the server's answer to it, and each model has a batch of its own", async () => {
  const send = createBatchFetch({ baseUrl: scripted.baseUrl, apiKey: null });
  const answers = await Promise.all(["scripted", "other", "scripted"].map((model) => ask(send, model)));
  expect(answers.map(({ status }) => status)).toEqual([400, 404, 400]);
  const [first, second] = await Promise.all(answers.map((answer) => answer.json()));
  expect(first).toMatchObject({ error: { message: expect.stringContaining("Expected a system message") } });
  expect(second).toMatchObject({ error: { code: "model_not_found" } });
  expect(written.splice(0).map((line) => line.replace(/^batch \S+: /, ""))).toEqual([
    "2 questions\n",
    "1 questions\n",
  ]);
});

test("a server without batches answers every question with its status", async () => {
  const send = createBatchFetch({ baseUrl: `${scripted.origin}/none`, apiKey: null });
  const answers = await Promise.all([ask(send, "scripted"), ask(send, "scripted")]);
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  expect(await answers[0]?.json()).toMatchObject({ error: { code: "not_found" } });
});

test("a server that is gone answers with 424, which is not asked again", async () => {
  const send = createBatchFetch({ baseUrl: "http://127.0.0.1:1/v1", apiKey: null });
  expect((await ask(send, "scripted")).status).toBe(424);
});

test("an abort ends the wait", async () => {
  const send = createBatchFetch({ baseUrl: scripted.baseUrl, apiKey: null });
  await expect(ask(send, "scripted", AbortSignal.abort(new Error("over")))).rejects.toThrow("over");
});
