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
} from "./openai-client.ts";

export type OpenaiModelSettings = ModelServer & {
  /** Sent unless null. */
  readonly temperature: number | null;
  readonly seed: number | null;
  /** Deadline of one question with all attempts. */
  readonly callMs: number;
  /** Maximum tokens of an answer. */
  readonly answerTokens: number;
  readonly retry: RetryPolicy;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly now: () => Date;
};

/** Settings that the server refused, by model; they are not sent again. */
type Refused = Record<"json_schema" | "max_completion_tokens", Set<string>>;

/**
 * Creates models of a server with OpenAI's chat completions. It asks for a strict schema. If the server refuses that, it asks for a JSON
 * object with the schema in the system message, and remembers that for the model. A question takes at most `callMs`. Throws if the base URL
 * or the key is unsafe.
 */
export function createOpenaiModels(settings: OpenaiModelSettings): ModelPort {
  const client = createOpenaiClient(settings);
  const refused: Refused = { json_schema: new Set(), max_completion_tokens: new Set() };
  const ask = async (question: ModelQuestion, signal: AbortSignal): Promise<ModelReply> => {
    signal.throwIfAborted();
    const either = AbortSignal.any([signal, AbortSignal.timeout(settings.callMs)]);
    let requests = 0;
    let read = 0;
    let body = bodyOf(question, refused, settings);
    const once = async () => {
      requests += 1;
      const attempt = await sendRequest({ client, settings, body }, either);
      if (attempt.kind === "completed" ? attempt.completion.usage === null : isRead(attempt)) read += 1;
      return attempt;
    };
    const { random, retry: policy } = settings;
    const adapt = (without: keyof Refused) => {
      const before = body;
      refused[without].add(question.model);
      body = bodyOf(question, refused, settings);
      return JSON.stringify(body) !== JSON.stringify(before);
    };
    const completion = await askWithRetries(once, { policy, random, signal: either, adapt });
    // The caller's abort gives no outcome. A deadline gives one.
    signal.throwIfAborted();
    const mode = body.response_format?.type === "json_object" ? "json_object" : "json_schema";
    return {
      outcome: completion.outcome,
      mode,
      requests,
      ...usageOf(completion, { question, read, settings }),
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

type RequestParts = { readonly client: OpenAI; readonly settings: OpenaiModelSettings; readonly body: Body };

async function sendRequest({ client, settings, body }: RequestParts, signal: AbortSignal): Promise<Attempt> {
  try {
    const completion = readCompletion(
      await client.chat.completions.create(body, { signal, timeout: settings.callMs }),
    );
    if (completion !== null) return { kind: "completed", completion };
    return brokenOff("an answer that is no chat completion", true);
  } catch (error) {
    if (signal.aborted) return brokenOff(`no answer within ${settings.callMs / 1_000} s`, false);
    return classifyModelError(error, settings.now());
  }
}

function brokenOff(detail: string, passing: boolean): Attempt {
  const outcome = { kind: "unavailable", detail } as const;
  return { kind: "outcome", outcome, passing, retryAfterMs: null, mayBeRead: true };
}

function isRead(attempt: Exclude<Attempt, { kind: "completed" }>): boolean {
  return attempt.kind === "outcome" && attempt.mayBeRead;
}

type Asked = {
  readonly question: ModelQuestion;
  /** Requests that the model may have read without reporting usage. */
  readonly read: number;
  readonly settings: OpenaiModelSettings;
};

/** Usage as reported by the server, otherwise a high estimate, since an aborted question is charged too. */
function usageOf({ outcome, usage }: Completion, { question: { system, user }, read, settings }: Asked) {
  const unreported = read === 0 ? 0 : read * (estimateTokens(system) + estimateTokens(user));
  return {
    promptTokens: unreported + (usage === null ? 0 : usage.promptTokens),
    completionTokens: usage === null ? answerTokensOf(outcome, settings) : usage.completionTokens,
  };
}

function answerTokensOf(outcome: ModelOutcome, { answerTokens }: OpenaiModelSettings): number {
  if (outcome.kind === "text") return estimateTokens(outcome.text);
  return outcome.kind === "cut" ? answerTokens : 0;
}

type RetryPolicy = {
  /** Attempts for one question, including the first. */
  readonly tries: number;
  /** Pause before the second attempt; it doubles for each further one. */
  readonly pauseMs: number;
  /** Longest pause. A server that asks for more is not asked again. */
  readonly longestPauseMs: number;
};

/** Three attempts within seconds cover a short failure. The verdict's own retries cover a longer outage. */
export const MODEL_RETRIES: RetryPolicy = { tries: 3, pauseMs: 500, longestPauseMs: 30_000 };

/** Result of one request. */
type Attempt = { readonly kind: "completed"; readonly completion: Completion } | ModelError;

type Retrying = {
  readonly policy: RetryPolicy;
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Changes the form of the question. Returns false if it was changed this way before. */
  readonly adapt: (without: Extract<ModelError, { kind: "adapt" }>["without"]) => boolean;
};

/** Asks until there is an answer, a permanent failure, no attempt left, or the signal aborts. */
async function askWithRetries(once: () => Promise<Attempt>, retrying: Retrying): Promise<Completion> {
  const { policy, signal } = retrying;
  let tried = 0;
  for (;;) {
    const attempt = await once();
    if (attempt.kind === "completed") return attempt.completion;
    if (attempt.kind === "adapt") {
      if (retrying.adapt(attempt.without)) continue;
      return withoutUsage({
        kind: "rejected",
        detail: `${attempt.without} and its replacement were refused`,
      });
    }
    tried += 1;
    const pauseMs = pauseAfter(tried, attempt.retryAfterMs, retrying);
    if (!attempt.passing || tried >= policy.tries || pauseMs > policy.longestPauseMs || signal.aborted)
      return withoutUsage(attempt.outcome);
    // Aborted during the pause: return the last outcome.
    const waited = await sleep(pauseMs, true, { signal }).catch(() => false);
    if (!waited) return withoutUsage(attempt.outcome);
  }
}

/** Adds up to 50 % jitter, so that failed clients do not return together. Never shorter than the server's Retry-After. */
function pauseAfter(tried: number, retryAfterMs: number | null, { policy, random }: Retrying): number {
  const doubled = Math.min(policy.pauseMs * 2 ** (tried - 1), policy.longestPauseMs / 2);
  return Math.max(doubled * (1 + random() / 2), retryAfterMs === null ? 0 : retryAfterMs);
}

function withoutUsage(outcome: ModelOutcome): Completion {
  return { outcome, usage: null };
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
  usage: z.object({ prompt_tokens: tokenCount, completion_tokens: tokenCount }).nullish().catch(null),
});

type Completion = {
  readonly outcome: ModelOutcome;
  /** Null if the server reports nothing or something impossible. */
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | null;
};

/** Reads a server's answer; null if it is not a chat completion. */
export function readCompletion(body: unknown): Completion | null {
  const parsed = completionWire.safeParse(body);
  const choice = parsed.data?.choices[0];
  if (choice === undefined) return null;
  const usage = parsed.data?.usage ?? null;
  return {
    outcome: outcomeOf(choice),
    usage: usage && { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens },
  };
}

type Choice = z.infer<typeof completionWire>["choices"][number];

/** A refusal is reported by its kind, since its words may repeat a third party's text. */
function outcomeOf({ finish_reason: reason, message }: Choice): ModelOutcome {
  if (reason === "content_filter")
    return { kind: "refused", detail: "stopped by the server's content filter" };
  if (message.refusal !== null && message.refusal !== undefined && message.refusal !== "")
    return { kind: "refused", detail: "the model declined" };
  if (reason === "length") return { kind: "cut", detail: "longer than an answer may be" };
  return { kind: "text", text: message.content ?? "" };
}
