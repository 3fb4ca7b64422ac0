import type { RoleName, RoleRecord } from "./types.ts";

/** What an answer has to look like: the name and JSON Schema that a server with structured outputs is given. */
export type AnswerShape = {
  readonly name: "ballot" | "critique" | "synthesis";
  readonly jsonSchema: Readonly<Record<string, unknown>>;
};

/** One question to a model. */
export type ModelQuestion = {
  readonly role: RoleName;
  readonly model: string;
  /** Ours alone: no text of a client, a provider or a model stands in it. */
  readonly system: string;
  readonly user: string;
  readonly shape: AnswerShape;
};

/**
 * What came of a question. text: a whole answer, not looked at yet. cut: it reached the most tokens that it may have. refused: the
 * model or its filter would not answer. too_long: the question does not fit into the model, as the server says. unavailable: the
 * server is down, slow or limits us, which may pass. rejected: the server will not have the question from us: key, model or setting.
 */
export type ModelOutcome =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "cut" | "refused" | "too_long" | "unavailable" | "rejected"; readonly detail: string };

export type ModelReply = {
  readonly outcome: ModelOutcome;
  /** How the schema was asked for in the end. */
  readonly mode: RoleRecord["mode"];
  /** HTTP requests, retries included. */
  readonly requests: number;
  /** As the server tells them; estimated where it does not, also of requests that were broken off once the model may have read them. */
  readonly promptTokens: number;
  readonly completionTokens: number;
};

/** Asks a model. Details hold no key, URL or words of a server. Rejects with the signal's reason once that is aborted, never else. */
export type ModelPort = {
  readonly ask: (question: ModelQuestion, signal: AbortSignal) => Promise<ModelReply>;
};
