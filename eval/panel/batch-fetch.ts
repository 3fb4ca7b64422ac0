import { setTimeout as sleep } from "node:timers/promises";
import { APIError, type OpenAI, toFile } from "openai";
import { z } from "zod";
import { createOpenaiClient, type ModelServer } from "../../service/verification/panel/openai-client.ts";

/** Deadline of a question: servers end a batch after 24 hours. */
export const BATCH_MS = 26 * 3_600_000;

/** A batch is sent once no question came for this time. */
const QUIET_MS = 500;
/** Below the bounds of OpenAI's batches, 50,000 lines and 200 MB. */
const [MOST_LINES, MOST_CHARACTERS] = [10_000, 64_000_000];
const MOST_ANSWER_BYTES = 256 * 1024 * 1024;
/** The pause between two looks at a batch doubles up to the longest. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 60_000];
/** Looks in a row that may fail. */
const MOST_FAILURES = 20;

type Question = { readonly body: unknown; readonly answer: (response: Response) => void };

/** Questions of one model that wait to be sent: a batch has one model. */
type Pool = { questions: Question[]; characters: number; timer: NodeJS.Timeout | undefined };

/**
 * A fetch for chat completions that sends them by OpenAI's batch interface, in few batches, and resolves each with its own answer. A batch
 * that fails as a whole answers each question with its status, or with 424, which is not asked again. Files are deleted afterwards.
 */
export function createBatchFetch(server: ModelServer): typeof fetch {
  const client = createOpenaiClient(server, { maxBytes: MOST_ANSWER_BYTES });
  const pools = new Map<string, Pool>();
  const send = (model: string, { questions, timer }: Pool) => {
    clearTimeout(timer);
    pools.delete(model);
    void answerAll(client, questions);
  };
  return async (_input, init) => {
    const text = String(init?.body);
    const { model } = modelWire.parse(JSON.parse(text));
    const pool: Pool = pools.get(model) ?? { questions: [], characters: 0, timer: undefined };
    pools.set(model, pool);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    if (init?.signal?.aborted === true) reject(init.signal.reason);
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason), { once: true });
    pool.questions.push({ body: JSON.parse(text), answer: resolve });
    pool.characters += text.length;
    clearTimeout(pool.timer);
    if (pool.questions.length >= MOST_LINES || pool.characters >= MOST_CHARACTERS) send(model, pool);
    else pool.timer = setTimeout(() => send(model, pool), QUIET_MS);
    return promise;
  };
}

const modelWire = z.object({ model: z.string() });

async function answerAll(client: OpenAI, questions: readonly Question[]): Promise<void> {
  const answers = await runBatch(client, questions).catch(failureOf);
  for (const [index, { answer }] of questions.entries()) {
    const { status, body } = answers instanceof Map ? (answers.get(String(index)) ?? UNANSWERED) : answers;
    answer(Response.json(body, { status }));
  }
}

type Answer = { readonly status: number; readonly body: unknown };

const UNANSWERED: Answer = lost("the batch ended without an answer to this question");

function lost(message: string): Answer {
  return { status: 424, body: { error: { message, code: "batch_failed" } } };
}

function failureOf(error: unknown): Answer {
  if (error instanceof APIError && error.status !== undefined) {
    return { status: error.status, body: { error: error.error ?? { message: error.message } } };
  }
  return lost(error instanceof Error ? error.message : String(error));
}

/** Answers by the index of their questions. */
async function runBatch(client: OpenAI, questions: readonly Question[]): Promise<Map<string, Answer>> {
  const lines = questions.map(({ body }, index) =>
    JSON.stringify({ custom_id: String(index), method: "POST", url: "/v1/chat/completions", body }),
  );
  const file = await toFile(Buffer.from(`${lines.join("\n")}\n`), "questions.jsonl");
  const input = await client.files.create({ file, purpose: "batch" });
  const { id } = await client.batches.create({
    input_file_id: input.id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
  });
  process.stderr.write(`batch ${id}: ${lines.length} questions\n`);
  const { output_file_id: output, error_file_id: errors } = await untilEnded(client, id);
  const answers = new Map<string, Answer>();
  for (const answered of [errors, output]) {
    if (typeof answered !== "string") continue;
    for (const [key, answer] of readAnswers(await (await client.files.content(answered)).text()))
      answers.set(key, answer);
  }
  for (const name of [input.id, output, errors])
    if (typeof name === "string") await client.files.delete(name).catch(() => undefined);
  return answers;
}

const ENDED = new Set(["completed", "failed", "expired", "cancelled"]);

async function untilEnded(client: OpenAI, id: string) {
  let failures = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    await sleep(pauseMs);
    try {
      const batch = await client.batches.retrieve(id);
      if (ENDED.has(batch.status)) return batch;
      failures = 0;
    } catch {
      failures += 1;
      if (failures === MOST_FAILURES) throw new Error(`the server no longer says how batch ${id} is`);
    }
  }
}

const answerWire = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.int().min(200).max(599), body: z.unknown() }).nullish(),
});

function* readAnswers(text: string): Generator<readonly [string, Answer]> {
  for (const line of text.split("\n")) {
    const parsed = answerWire.safeParse(jsonOf(line));
    const response = parsed.data?.response;
    if (parsed.success && response != null)
      yield [parsed.data.custom_id, { status: response.status_code, body: response.body }];
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
