import OpenAI from "openai";
import { type Attempt, askWithRetries, type RetryPolicy } from "./ask-with-retries.ts";
import { createBoundedFetch, isHeaderText, isSafeBaseUrl } from "./bounded-fetch.ts";
import { classifyModelError } from "./classify-model-error.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { ModelOutcome, ModelPort, ModelQuestion, ModelReply } from "./model-port.ts";
import { type Completion, readCompletion } from "./read-completion.ts";

export type OpenaiModelSettings = {
  /** https, or http on this machine. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** Sent where they are set. */
  readonly temperature: number | null;
  readonly seed: number | null;
  /** For one question with all its tries. */
  readonly callMs: number;
  /** The most that an answer may take. */
  readonly answerTokens: number;
  readonly retry: RetryPolicy;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly now: () => Date;
};

/** What the server refused of a model and is not sent again. */
type Refused = Record<"json_schema" | "max_completion_tokens", Set<string>>;

/**
 * Models of a server that speaks OpenAI's chat completions. A schema is asked for strictly, and where the server refuses that, as a
 * JSON object with the schema in the system message, which is remembered for the model as long as this object lives. A question takes
 * `callMs` at most. Throws where the base URL or the key cannot be used safely.
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
      const attempt = await request({ client, settings, body }, either);
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
    // Whoever aborts wants no outcome; a deadline is one.
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

/** The library's client with nothing of the environment in it; throws where the base URL or the key cannot be used safely. */
export function createOpenaiClient({
  baseUrl,
  apiKey,
}: Pick<OpenaiModelSettings, "baseUrl" | "apiKey">): OpenAI {
  if (!isSafeBaseUrl(baseUrl))
    throw new Error("The panel's base URL is neither https nor http on this machine");
  if (apiKey !== null && !isHeaderText(apiKey))
    throw new Error("The panel's key has characters that no header takes");
  return new OpenAI({
    baseURL: baseUrl,
    // The fetch sends the key, or none; the library insists on one.
    apiKey: "sent-by-fetch",
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
    fetch: createBoundedFetch(apiKey),
    maxRetries: 0,
    logLevel: "off",
  });
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

type Request = { readonly client: OpenAI; readonly settings: OpenaiModelSettings; readonly body: Body };

async function request({ client, settings, body }: Request, signal: AbortSignal): Promise<Attempt> {
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
  /** Requests that the model may have read without telling what they took. */
  readonly read: number;
  readonly settings: OpenaiModelSettings;
};

/** What the server told, and where it told nothing, an estimate on the high side: a question that was broken off is charged too. */
function usageOf({ outcome, usage }: Completion, { question: { system, user }, read, settings }: Asked) {
  const untold = read === 0 ? 0 : read * (estimateTokens(system) + estimateTokens(user));
  return {
    promptTokens: untold + (usage === null ? 0 : usage.promptTokens),
    completionTokens: usage === null ? answerTokensOf(outcome, settings) : usage.completionTokens,
  };
}

function answerTokensOf(outcome: ModelOutcome, { answerTokens }: OpenaiModelSettings): number {
  if (outcome.kind === "text") return estimateTokens(outcome.text);
  return outcome.kind === "cut" ? answerTokens : 0;
}
