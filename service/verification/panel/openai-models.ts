import { setTimeout as sleep } from "node:timers/promises";
import type OpenAI from "openai";
import { z } from "zod";
import { estimateTokens } from "./estimate-tokens.ts";
import type { ModelOutcome, ModelPort, ModelQuestion, ModelReply } from "./model-port.ts";
import {
  classifyModelError,
  createOpenaiClient,
  type ModelError,
  type ModelServer,
  unavailable,
} from "./openai-client.ts";

export type OpenaiModelSettings = ModelServer & {
  /** In place of requests to the server. */
  send?: typeof fetch | undefined;
  /** Sent unless null. */
  temperature: number | null;
  seed: number | null;
  /** Deadline of one question with all attempts. */
  callMs: number;
  answerTokens: number;
  /** Attempts for one question; the pause before the second doubles up to the longest. A server that asks for more is not asked again. */
  retry: { tries: number; pauseMs: number; longestPauseMs: number };
  /** From 0 to 1. */
  random: () => number;
  now: () => Date;
};

/** Settings that the server refused, by model; they are not sent again. */
type Refused = Record<"json_schema" | "max_completion_tokens", Set<string>>;

/**
 * Creates models of a server with OpenAI's chat completions. It asks for a strict schema. If the server refuses that, it asks for a JSON
 * object with the schema in the system message, and remembers that for the model. A question takes at most `callMs`. Throws if the base URL
 * or the key is unsafe.
 */
export function createOpenaiModels(settings: OpenaiModelSettings): ModelPort {
  const client = createOpenaiClient(settings, settings);
  const refused: Refused = { json_schema: new Set(), max_completion_tokens: new Set() };
  const ask = async (question: ModelQuestion, signal: AbortSignal): Promise<ModelReply> => {
    signal.throwIfAborted();
    const either = AbortSignal.any([signal, AbortSignal.timeout(settings.callMs)]);
    let requests = 0;
    let read = 0;
    let body = bodyOf(question, refused, settings);
    const once = async () => {
      requests += 1;
      const attempt = await sendRequest(client, { settings, body, signal: either });
      const isRead = attempt.kind === "outcome" && attempt.mayBeRead;
      if (isRead || (attempt.kind === "completed" && attempt.completion.usage === null)) read += 1;
      return attempt;
    };
    const adapt = (without: keyof Refused) => {
      const before = body;
      refused[without].add(question.model);
      body = bodyOf(question, refused, settings);
      return JSON.stringify(body) !== JSON.stringify(before);
    };
    const completion = await askWithRetries(once, { settings, signal: either, adapt });
    // The caller's abort gives no outcome. A deadline gives one.
    signal.throwIfAborted();
    const mode = body.response_format?.type === "json_object" ? "json_object" : "json_schema";
    const { outcome, usage } = completion;
    // An aborted question is charged too.
    // The whole prompt is estimated only for answers without usage.
    const unreported =
      read === 0 ? 0 : read * (estimateTokens(question.system) + estimateTokens(question.user));
    return {
      outcome,
      mode,
      requests,
      promptTokens: unreported + (usage?.promptTokens ?? 0),
      completionTokens: usage?.completionTokens ?? answerTokensOf(outcome, settings),
      cachedTokens: usage?.cachedTokens ?? null,
    };
  };
  return { ask };
}

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;

function bodyOf(question: ModelQuestion, refused: Refused, settings: OpenaiModelSettings): Body {
  const { model, shape } = question;
  const byObject = refused.json_schema.has(model);
  const system = byObject ? `${question.system}\n\n${schemaInWords(shape)}` : question.system;
  const limit = refused.max_completion_tokens.has(model) ? "max_tokens" : "max_completion_tokens";
  return {
    model,
    messages: [
      { role: "system", content: system },
      { role: "user", content: question.user },
    ],
    response_format: byObject
      ? { type: "json_object" }
      : { type: "json_schema", json_schema: { name: shape.name, strict: true, schema: shape.jsonSchema } },
    [limit]: settings.answerTokens,
    ...(settings.temperature === null ? {} : { temperature: settings.temperature }),
    ...(settings.seed === null ? {} : { seed: settings.seed }),
  };
}

function schemaInWords({ name, jsonSchema }: ModelQuestion["shape"]): string {
  return `Answer with one JSON object, the ${name}, and nothing around it. Its JSON Schema:\n${JSON.stringify(jsonSchema)}`;
}

async function sendRequest(
  client: OpenAI,
  { settings, body, signal }: { settings: OpenaiModelSettings; body: Body; signal: AbortSignal },
): Promise<Attempt> {
  try {
    const completion = readCompletion(
      await client.chat.completions.create(body, { signal, timeout: settings.callMs }),
    );
    if (completion !== null) return { kind: "completed", completion };
    return unavailable("an answer that is no chat completion", true);
  } catch (error) {
    if (signal.aborted) return unavailable(`no answer within ${settings.callMs / 1_000} s`, true, false);
    return classifyModelError(error, settings.now());
  }
}

/** A high estimate of what the server does not report. */
function answerTokensOf(outcome: ModelOutcome, { answerTokens }: OpenaiModelSettings): number {
  if (outcome.kind === "text") return estimateTokens(outcome.text);
  return outcome.kind === "cut" ? answerTokens : 0;
}

/** Three attempts within seconds cover a short failure. The verdict's own retries cover a longer outage. */
export const MODEL_RETRIES: OpenaiModelSettings["retry"] = { tries: 3, pauseMs: 500, longestPauseMs: 30_000 };

type Attempt = { kind: "completed"; completion: Completion } | ModelError;

/** Asks until there is an answer, a permanent failure, no attempt left, or the signal aborts. */
async function askWithRetries(
  once: () => Promise<Attempt>,
  {
    settings,
    signal,
    adapt,
  }: {
    settings: OpenaiModelSettings;
    signal: AbortSignal;
    /** Changes the form of the question. Returns false if it was changed this way before. */
    adapt: (without: keyof Refused) => boolean;
  },
): Promise<Completion> {
  const { tries, longestPauseMs } = settings.retry;
  let tried = 0;
  for (;;) {
    const attempt = await once();
    if (attempt.kind === "completed") return attempt.completion;
    if (attempt.kind === "adapt") {
      if (adapt(attempt.without)) continue;
      const detail = `${attempt.without} and its replacement were refused`;
      return { outcome: { kind: "rejected", detail }, usage: null };
    }
    tried += 1;
    const pauseMs = pauseAfter(tried, attempt.retryAfterMs, settings);
    const isLast = !attempt.passing || tried >= tries || pauseMs > longestPauseMs || signal.aborted;
    // Aborted during the pause: return the last outcome.
    const goesOn = !isLast && (await sleep(pauseMs, true, { signal }).catch(() => false));
    if (!goesOn) return { outcome: attempt.outcome, usage: null };
  }
}

/** Adds up to 50 % jitter, so that failed clients do not return together. Never shorter than the server's Retry-After. */
function pauseAfter(
  tried: number,
  retryAfterMs: number | null,
  { retry, random }: OpenaiModelSettings,
): number {
  const doubled = Math.min(retry.pauseMs * 2 ** (tried - 1), retry.longestPauseMs / 2);
  return Math.max(doubled * (1 + random() / 2), retryAfterMs ?? 0);
}

/** Above any model's context; a larger report is wrong. */
const MOST_TOKENS = 100_000_000;
const tokenCount = z.int().min(0).max(MOST_TOKENS);

/** Parts other than text, such as a model's thoughts, are dropped. */
const textParts = z
  .array(z.object({ type: z.string(), text: z.string().nullish() }))
  .transform((all) => all.map(({ type, text }) => (type === "text" ? (text ?? "") : "")).join(""));

/** Members of a chat completion that we use. Servers differ in the rest. */
const completionWire = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.union([z.string(), textParts]).nullish(),
          refusal: z.string().nullish(),
        }),
      }),
    )
    .min(1),
  // An impossible count must not lose the answer.
  usage: z
    .object({
      prompt_tokens: tokenCount,
      completion_tokens: tokenCount,
      prompt_tokens_details: z.object({ cached_tokens: tokenCount.nullish() }).nullish().catch(null),
    })
    .nullish()
    .catch(null),
});

/** The usage is null if the server reports nothing or something impossible. */
type Completion = {
  outcome: ModelOutcome;
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number | null } | null;
};

export function readCompletion(body: unknown): Completion | null {
  const parsed = completionWire.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) return null;
  const usage = parsed.data?.usage ?? null;
  return {
    outcome: outcomeOf(choice),
    usage: usage && {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      cachedTokens: cachedTokensOf(usage),
    },
  };
}

/** Never more than the prompt has. */
function cachedTokensOf(usage: NonNullable<z.infer<typeof completionWire>["usage"]>): number | null {
  const cached = usage.prompt_tokens_details?.cached_tokens ?? null;
  return cached === null ? null : Math.min(cached, usage.prompt_tokens);
}

/** A refusal is reported by its kind, since its words may repeat a third party's text. */
function outcomeOf({
  finish_reason: reason,
  message,
}: z.infer<typeof completionWire>["choices"][number]): ModelOutcome {
  if (reason === "content_filter")
    return { kind: "refused", detail: "stopped by the server's content filter" };
  if ((message.refusal ?? "") !== "") return { kind: "refused", detail: "the model declined" };
  if (reason === "length") return { kind: "cut", detail: "longer than an answer may be" };
  return { kind: "text", text: message.content ?? "" };
}
