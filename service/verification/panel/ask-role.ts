import type { Ballot, ParsedAnswer } from "./answers.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type Block, blockOf } from "./fence.ts";
import type { AnswerShape, ModelOutcome, ModelPort, ModelReply } from "./model-port.ts";
import type { Domain, MoneyLimits } from "./policy.ts";
import { type Prompts, systemMessage, userMessage } from "./prompts.ts";
import {
  GENERATOR_ROLES,
  type GeneratorRole,
  type RoleAnswer,
  type RoleName,
  type RoleRecord,
} from "./types.ts";

/** Price of a million tokens in US dollars. */
export type TokenPrices = {
  promptUsd: number;
  answerUsd: number;
  /** Of a prompt token that the server read from its cache. */
  cachedUsd: number;
};

/** Models of the panel and their limits. */
export type PanelRunSettings = {
  readonly models: Readonly<Record<RoleName, string>>;
  /** Tokens that fit into every model, question and answer together. */
  readonly contextTokens: number;
  readonly answerTokens: number;
  /** Null where the prices of a role's model are unknown. */
  readonly prices: Readonly<Record<RoleName, TokenPrices | null>>;
  readonly prompts: Prompts;
  /** Whether the model of SECOND_MODEL_ROLE is of another family than the others. */
  readonly hasSecondModel: boolean;
  readonly limits: MoneyLimits;
  /** Control tokens of the models that do not show by their form. */
  readonly controlTokens: readonly string[];
  /** Whether critic and synthesiser are asked only where their answers can change the verdict. */
  readonly earlyStop: boolean;
};

export type AskDeps = {
  readonly models: ModelPort;
  readonly settings: PanelRunSettings;
  /** 32 random hexadecimal digits in lower case, new for each call. */
  readonly newMarker: () => string;
  readonly monotonicMs: () => number;
};

/** One role's task in a run. */
type RoleTask<Answer> = {
  role: RoleName;
  domain: Domain;
  shape: AnswerShape;
  blocks: readonly Block[];
  parse: (value: unknown) => ParsedAnswer<Answer>;
};

/** A role's answer with its record. The record holds the answer as received, cut to its limits. */
export type RoleResult<Answer> = {
  readonly record: RoleRecord;
  readonly answer: RoleAnswer<Answer>;
  /** The server says that the question does not fit into the model. */
  readonly isTooLong: boolean;
};

/**
 * Asks a role, and once more with the list of faults if its answer does not fit the schema and the run may repair it. A last misfit, a refusal and a server failure
 * become abstentions with a reason. Rejects with the signal's reason when it aborts, and with the error of `begin`.
 */
async function askRole<Answer>(deps: PanelDeps, task: RoleTask<Answer>): Promise<RoleResult<Answer>> {
  const startedMs = deps.monotonicMs();
  const replies: ModelReply[] = [];
  const ask = async (blocks: readonly Block[], faults: readonly string[]) => {
    const question = questionOf(deps, { ...task, blocks }, faults);
    await deps.begin(begunRecord(deps.settings, task.role, promptTokensOf(question.system, blocks)));
    const reply = await deps.models.ask(question, deps.signal);
    replies.push(reply);
    return readOutcome(reply.outcome, task);
  };
  let reading = await ask(task.blocks, []);
  if (reading.kind === "off" && deps.mayRepair?.() !== false) {
    const { bad, faults } = reading;
    const blocks =
      bad === null || estimateTokens(bad) > deps.settings.answerTokens ? [] : [blockOf("answer", bad)];
    reading = await ask([...task.blocks, ...blocks], faults);
  }
  const latencyMs = Math.round(deps.monotonicMs() - startedMs);
  return resultOf(reading, { ...recordOf(deps.settings, task.role, replies), latencyMs });
}

type Reading<Answer> =
  | Exclude<ParsedAnswer<Answer>, { kind: "off" }>
  | { kind: "off"; faults: readonly string[]; bad: string | null }
  | { kind: "abstained"; reason: string; isTooLong: boolean };

/** Start of the reason of a role whose server gave no answer. */
export const UNAVAILABLE = "the model server is not available";

const ABSTENTIONS = {
  refused: "refused",
  too_long: "the texts are too long for the model",
  unavailable: UNAVAILABLE,
  rejected: "the model server does not take the question",
} as const;

/** True if a role abstained because its model or the server's filter refused. */
export function isRefusal(answer: RoleAnswer<unknown>): boolean {
  return answer.kind === "abstained" && answer.reason.startsWith(`${ABSTENTIONS.refused}: `);
}

const TOO_WORDY =
  "the answer was longer than an answer may be: say it in fewer words, with at most five entries in a list of your own";

function readOutcome<Answer>(outcome: ModelOutcome, task: RoleTask<Answer>): Reading<Answer> {
  switch (outcome.kind) {
    case "text": {
      const parsed = task.parse(parseJson(outcome.text));
      return parsed.kind === "off" ? { ...parsed, bad: outcome.text } : parsed;
    }
    case "cut":
      return { kind: "off", faults: [TOO_WORDY], bad: null };
    case "refused":
    case "too_long":
    case "unavailable":
    case "rejected": {
      const reason = `${ABSTENTIONS[outcome.kind]}: ${outcome.detail}`;
      return { kind: "abstained", reason, isTooLong: outcome.kind === "too_long" };
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No schema accepts undefined.
    return undefined;
  }
}

function questionOf<Answer>(
  { settings, newMarker }: AskDeps,
  task: RoleTask<Answer>,
  faults: readonly string[],
) {
  const marker = newMarker();
  return {
    role: task.role,
    model: settings.models[task.role],
    system: systemMessage({ ...task, faults }, { prompts: settings.prompts, marker }),
    user: userMessage(task, marker, settings.controlTokens),
    shape: task.shape,
  };
}

/** Reason of a role whose question was sent and not answered. */
export const NO_ANSWER_YET = "broken off before it answered";

/** Record of an aborted request. Its token usage is unknown. */
function begunRecord({ models, prices }: PanelRunSettings, role: RoleName, promptTokens: number): RoleRecord {
  const tokens = { promptTokens, completionTokens: 0, cachedTokens: null };
  return {
    role,
    model: models[role],
    mode: "json_schema",
    requests: 1,
    latencyMs: 0,
    ...tokens,
    costUsd: costOf(tokens, prices[role]),
    answer: { kind: "abstained", reason: NO_ANSWER_YET },
  };
}

/** Tokens of the lines of a fence. Tokenisers split the marker into digits. */
const FENCE_TOKENS = 100;

function promptTokensOf(system: string, blocks: readonly Block[]): number {
  return blocks.reduce((sum, { tokens }) => sum + tokens + FENCE_TOKENS, estimateTokens(system));
}

function recordOf({ models, prices }: PanelRunSettings, role: RoleName, replies: readonly ModelReply[]) {
  const total = (count: (reply: ModelReply) => number) =>
    replies.reduce((sum, reply) => sum + count(reply), 0);
  const tokens = {
    promptTokens: total(({ promptTokens }) => promptTokens),
    completionTokens: total(({ completionTokens }) => completionTokens),
    cachedTokens: replies.every((reply) => reply.cachedTokens === null)
      ? null
      : total(({ cachedTokens }) => cachedTokens ?? 0),
  };
  return {
    role,
    model: models[role],
    mode: replies.at(-1)?.mode ?? "json_schema",
    requests: total(({ requests }) => requests),
    ...tokens,
    costUsd: costOf(tokens, prices[role]),
  };
}

/** US dollars; null without prices. */
export function costOf(
  {
    promptTokens,
    completionTokens,
    cachedTokens,
  }: Pick<ModelReply, "promptTokens" | "completionTokens" | "cachedTokens">,
  prices: TokenPrices | null,
): number | null {
  if (prices === null) return null;
  const { promptUsd, answerUsd, cachedUsd } = prices;
  const cached = cachedTokens ?? 0;
  return (
    ((promptTokens - cached) * promptUsd + cached * cachedUsd + completionTokens * answerUsd) / 1_000_000
  );
}

function resultOf<Answer>(reading: Reading<Answer>, usage: Omit<RoleRecord, "answer">): RoleResult<Answer> {
  if (reading.kind === "answer") {
    const { wire, answer } = reading;
    const record: RoleRecord = { ...usage, answer: { kind: "answer", answer: wire } };
    return { record, answer: { kind: "answer", answer }, isTooLong: false };
  }
  const isOff = reading.kind === "off";
  const reason = isOff
    ? `off the schema${usage.requests > 1 ? " twice" : ""}: ${reading.faults.join("; ")}`
    : reading.reason;
  const answer = { kind: "abstained", reason } as const;
  return { record: { ...usage, answer }, answer, isTooLong: !isOff && reading.isTooLong };
}

export type PanelDeps = AskDeps & {
  /** Stored answers of an interrupted run of the same case. Their roles are not asked again, unless they abstained. */
  known: readonly RoleRecord[];
  /** Counts the minimum usage of a question before it is sent. If it rejects, the run ends. */
  begin: (record: RoleRecord) => Promise<void>;
  /** Stores each new answer or abstention with its usage at once. If it rejects, the run ends. */
  keep: (record: RoleRecord) => Promise<void>;
  /** Whether one more role may be asked again for an answer that fits the schema. Absent: each role once. */
  mayRepair?: () => boolean;
  signal: AbortSignal;
};

/** Returns the stored answer if it fits the schema and comes from the configured model. Otherwise asks the role and stores its answer. */
export async function askOrReuse<Answer>(
  deps: PanelDeps,
  task: RoleTask<Answer>,
): Promise<RoleResult<Answer>> {
  const known = knownResult(deps, task);
  if (known !== null) return known;
  const result = await askRole(deps, task);
  await deps.keep(result.record);
  return result;
}

export type Generators = Readonly<Record<GeneratorRole, RoleResult<Ballot>>>;

/** Asks the four generators at once. If one rejects, the others are aborted, and its error is thrown once they have ended. */
export async function askGenerators(
  deps: PanelDeps,
  taskOf: (role: GeneratorRole) => RoleTask<Ballot>,
): Promise<Generators> {
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, ending.signal]);
  const asked = GENERATOR_ROLES.map(async (role) => {
    try {
      return [role, await askOrReuse({ ...deps, signal }, taskOf(role))] as const;
    } catch (error) {
      // A signal keeps the reason of its first abort.
      ending.abort(error);
      throw error;
    }
  });
  await Promise.allSettled(asked);
  if (ending.signal.aborted) throw deps.signal.aborted ? deps.signal.reason : ending.signal.reason;
  const entries = await Promise.all(asked);
  // One entry for each role.
  return Object.fromEntries(entries) as Record<GeneratorRole, RoleResult<Ballot>>;
}

function knownResult<Answer>(
  { known, settings }: PanelDeps,
  task: RoleTask<Answer>,
): RoleResult<Answer> | null {
  const record = known.find(({ role, model }) => role === task.role && model === settings.models[task.role]);
  if (record === undefined || record.answer.kind === "abstained") return null;
  const parsed = task.parse(record.answer.answer);
  if (parsed.kind === "off") return null;
  return { record, answer: { kind: "answer", answer: parsed.answer }, isTooLong: false };
}
