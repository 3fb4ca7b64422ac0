import type { RoleName, RoleRecord } from "./types.ts";

/** Name and JSON Schema of an answer, for servers with structured outputs. */
export type AnswerShape = {
  readonly name: "ballot" | "critique" | "synthesis";
  readonly jsonSchema: Readonly<Record<string, unknown>>;
};

/** One question to a model. */
export type ModelQuestion = {
  readonly role: RoleName;
  readonly model: string;
  /** Our text only: no text of a client, a provider or a model. */
  readonly system: string;
  readonly user: string;
  readonly shape: AnswerShape;
};

/**
 * Outcome of a question. text: a complete answer, not checked yet. cut: it reached the token limit. refused: the model or its filter
 * refused. too_long: the server says that the question does not fit. unavailable: the server is down, slow or rate limiting, which may
 * pass. rejected: the server refuses our key, model or setting.
 */
export type ModelOutcome =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "cut" | "refused" | "too_long" | "unavailable" | "rejected"; readonly detail: string };

export type ModelReply = {
  readonly outcome: ModelOutcome;
  /** Form in which the schema was requested last. */
  readonly mode: RoleRecord["mode"];
  /** HTTP requests, retries included. */
  readonly requests: number;
  /** Reported by the server, otherwise estimated; includes aborted requests that the model may have read. */
  readonly promptTokens: number;
  readonly completionTokens: number;
};

/** Asks a model. Details never hold a key, a URL or server text. Rejects only when the signal aborts, with its reason. */
export type ModelPort = {
  readonly ask: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelReply>;
};
