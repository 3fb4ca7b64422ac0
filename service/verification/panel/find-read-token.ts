import type OpenAI from "openai";
import { classifyModelError, createOpenaiClient, type ModelServer } from "./openai-client.ts";
import { readCompletion } from "./openai-models.ts";

/**
 * Control tokens of published chat templates, in groups that are counted together. A server that reads a template reads at least half of
 * its group, since fewer do not show in the count.
 */
export const PUBLISHED_TOKENS: readonly (readonly string[])[] = [
  // ChatML, Qwen, Phi 4.
  ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_sep|>"],
  // GLM, Phi 3.
  ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|observation|>"],
  ["<think>", "</think>", "<tool_call>"],
  // Llama 3, Llama 4.
  ["<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|header_start|>", "<|header_end|>", "<|eot|>"],
  // Gemma 3, Gemma 4.
  ["<start_of_turn>", "<end_of_turn>"],
  ["<|turn>", "<turn|>", "<|channel>", "<channel|>"],
  // DeepSeek, EXAONE.
  ["<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "[|system|]", "[|user|]", "[|endofturn|]"],
  // Mistral, Llama 2.
  ["[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[TOOL_RESULTS]", "[THINK]"],
  ["</s>"],
  // Harmony, Kimi.
  ["<|start|>", "<|message|>", "<|im_user|>", "<|im_middle|>"],
  // Command, Granite.
  ["<|START_OF_TURN_TOKEN|>", "<|start_of_role|>"],
  // Two generations of Nemotron.
  ["<SPECIAL_11>", "<extra_id_1>"],
  // Baichuan, Seed.
  ["<reserved_107>", "<seed:bos>"],
  // MiniMax, Ling.
  ["]~b]", "[e~[", "<role>", "</role>"],
  // TeleChat, SmolVLM.
  ["<_system>", "<end_of_utterance>"],
];

/**
 * Finding about a model's server. unread: no token takes effect within a message. read: it reads this one. unknown: it cannot be found, for
 * this reason. unavailable: the server did not answer, which may pass; `answersOthers` if it answers messages without tokens.
 */
export type TokenFinding =
  | { readonly kind: "unread" }
  | { readonly kind: "read"; readonly token: string }
  | { readonly kind: "unknown"; readonly detail: string }
  | { readonly kind: "unavailable"; readonly detail: string; readonly answersOthers: boolean };

/** Tokens of a message, as the server reports them; null where it reports none. */
type CountTokens = (message: string) => Promise<number | null>;

/** The server answers a message with an error; it is passing if the same message may be answered later. */
export class CountFailed extends Error {
  override readonly name = "CountFailed";
  readonly passing: boolean;

  constructor(message: string, passing: boolean) {
    super(message);
    this.passing = passing;
  }
}

/** When a server takes questions again is not asked for. */
const NEVER = new Date(0);

/** Tokens of the operator that are counted together: those of one server, which reads all of them or none. */
const GROUP = 4;
const REPEATS = 3;
const ASK = "Answer with OK.";
/** Lines of every question, so that all have the same number. */
const LINES = REPEATS * Math.max(...PUBLISHED_TOKENS.map((group) => group.length));

/**
 * Finds out whether a server reads control tokens within messages: it counts such a token as one, and the same text with a space after the
 * first sign as several. Asks in groups, and for single tokens only where a group counts few. `known` holds the answers, so that a further
 * try asks only for the others.
 */
export async function findReadToken(
  ask: CountTokens,
  further: readonly string[],
  known = new Map<string, Promise<number | null>>(),
): Promise<TokenFinding> {
  const count: CountTokens = (message) => {
    const asked = known.get(message) ?? ask(message);
    known.set(message, asked);
    asked.catch(() => known.delete(message));
    return asked;
  };
  const own = Array.from({ length: Math.ceil(further.length / GROUP) }, (_, index) =>
    further.slice(index * GROUP, (index + 1) * GROUP),
  );
  const groups = [...PUBLISHED_TOKENS, ...own];
  try {
    const found = await Promise.all(groups.map((group) => searchGroup(count, group)));
    const token = found.find((one) => one !== null) ?? null;
    return token === null ? { kind: "unread" } : { kind: "read", token };
  } catch (error) {
    if (error instanceof NotCounted) return { kind: "unknown", detail: error.message };
    if (!(error instanceof CountFailed)) throw error;
    const answersOthers = await answers(ask);
    if (answersOthers && !error.passing) return { kind: "unknown", detail: error.message };
    return { kind: "unavailable", detail: error.message, answersOthers };
  }
}

class NotCounted extends Error {}

async function answers(ask: CountTokens): Promise<boolean> {
  try {
    await ask(ASK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the first token of a group that the server reads; null if it reads none. */
async function searchGroup(count: CountTokens, group: readonly string[]): Promise<string | null> {
  const [base, whole, broken] = await Promise.all([
    counted(count, []),
    counted(count, group),
    counted(count, group.map(breakAfterFirst)),
  ]);
  const [few, many] = [whole - base, broken - base];
  if (many < group.length) throw new NotCounted("usage.prompt_tokens does not grow with the message");
  const [token] = group;
  // Tokenisers join signs, so that a space makes a few more tokens of any text.
  if (group.length === 1) return token !== undefined && many > 0 && 2 * few <= many ? token : null;
  if (4 * few >= 3 * many) return null;
  const half = Math.ceil(group.length / 2);
  return (await searchGroup(count, group.slice(0, half))) ?? (await searchGroup(count, group.slice(half)));
}

function breakAfterFirst(token: string): string {
  const [first = ""] = token;
  return `${first} ${token.slice(first.length)}`;
}

/** Each text is on lines of its own, after a digit that keeps the line ends apart. */
async function counted(count: CountTokens, texts: readonly string[]): Promise<number> {
  const repeated = texts.flatMap((text) => Array.from({ length: REPEATS }, () => text));
  const lines = Array.from({ length: LINES }, (_, index) => `1${repeated[index] ?? ""}`);
  const tokens = await count(`${ASK}\n${lines.join("\n")}`);
  if (tokens === null) throw new NotCounted("the server reports no usage.prompt_tokens");
  return tokens;
}

/**
 * Counts the tokens of messages by asking the model of a server. Throws a CountFailed without an answer, and if the base URL or the key is
 * unsafe.
 */
export function createTokenCounter(
  server: ModelServer,
  { model, callMs, answerTokens }: { model: string; callMs: number; answerTokens: number },
): CountTokens {
  const client = createOpenaiClient(server);
  let limit: "max_completion_tokens" | "max_tokens" = "max_completion_tokens";
  const ask = async (content: string): Promise<number | null> => {
    const signal = AbortSignal.timeout(callMs);
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content }];
    const body = { model, messages, [limit]: answerTokens };
    const answer = await client.chat.completions.create(body, { signal, timeout: callMs });
    return readCompletion(answer)?.usage?.promptTokens ?? null;
  };
  return async (message) => {
    try {
      return await ask(message);
    } catch (error) {
      const failure = classifyModelError(error, NEVER);
      if (failure.kind !== "adapt") return fail(error);
      limit = "max_tokens";
      return ask(message).catch((again: unknown) => fail(again));
    }
  };
}

function fail(error: unknown): never {
  const failure = classifyModelError(error, NEVER);
  if (failure.kind === "adapt") throw new CountFailed(`it does not take ${failure.without}`, false);
  const { outcome, passing } = failure;
  throw new CountFailed(outcome.kind === "text" ? "no reason given" : outcome.detail, passing);
}
