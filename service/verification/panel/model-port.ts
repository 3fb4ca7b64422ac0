import type { RoleName, RoleRecord } from "./types.ts";

/** Name and JSON Schema of an answer, for servers with structured outputs. */
export type AnswerShape = {
  readonly name: "ballot" | "critique" | "synthesis";
  readonly jsonSchema: Readonly<Record<string, unknown>>;
};

/** One question to a model. The system message is our text only: no text of a client, a provider or a model. */
export type ModelQuestion = {
  role: RoleName;
  model: string;
  system: string;
  user: string;
  shape: AnswerShape;
};

/**
 * Outcome of a question. text: a complete answer, not checked yet. cut: it reached the token limit. refused: the model or its filter
 * refused. too_long: the server says that the question does not fit. unavailable: the server is down, slow or rate limiting, which may
 * pass. rejected: the server refuses our key, model or setting.
 */
export type ModelOutcome =
  | { kind: "text"; text: string }
  | { kind: "cut" | "refused" | "too_long" | "unavailable" | "rejected"; detail: string };

/** The mode is the form in which the schema was requested last. */
export type ModelReply = Pick<RoleRecord, "mode"> & {
  outcome: ModelOutcome;
  /** HTTP requests, retries included. */
  requests: number;
  /** Reported by the server, otherwise estimated; includes aborted requests that the model may have read. */
  promptTokens: number;
  completionTokens: number;
  /** Part of the prompt tokens that the server read from its cache; null if it does not report that. */
  cachedTokens: number | null;
};

/** Asks a model. Details never hold a key, a URL or server text. Rejects only when the signal aborts, with its reason. */
export type ModelPort = { ask: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelReply> };
