import { stdSerializers } from "pino";

/** Members of errors of PostgreSQL and its clients that hold rows, values and statements: texts of specifications and outputs among them. */
const HIDDEN: ReadonlySet<string> = new Set([
  "detail",
  "where",
  "internalQuery",
  "query",
  "params",
  "parameters",
  "values",
]);
const REDACTED = "[Redacted]";
/** Class of "data exception": alone of PostgreSQL's messages, these repeat values. */
const DATA_EXCEPTION = /^22/;
const MAX_CAUSES = 20;

/**
 * An error as a log line may hold it: without what the database says of rows and values, in itself, its causes, and the errors that it
 * holds. Its code, constraint, table and column stay. What is no error stays as it is.
 */
export function loggedError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return hide(stdSerializers.err(error), quotingMessages(error));
}

/** Messages of the error and its causes that repeat values. */
function quotingMessages(error: unknown): readonly string[] {
  const messages: string[] = [];
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth += 1) {
    if (isDatabaseError(cause) && DATA_EXCEPTION.test(String(cause.code))) messages.push(cause.message);
    cause = cause.cause;
  }
  return messages;
}

/** PostgreSQL gives every error of its own a severity, and nothing else does. */
function isDatabaseError(error: Error): error is Error & { readonly code: unknown } {
  return "severity" in error && "code" in error;
}

function hide(shown: object, quoting: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, hideMember(key, value, quoting)]),
  );
}

function hideMember(key: string, value: unknown, quoting: readonly string[]): unknown {
  if (HIDDEN.has(key) && value !== undefined) return REDACTED;
  if (key === "message" || key === "stack") return withoutQuotes(String(value), quoting);
  if (Array.isArray(value)) return value.map((each) => hideMember("", each, quoting));
  const isError = typeof value === "object" && value !== null && "stack" in value;
  return isError ? hide(value, [...quoting, ...quotingMessages(rawOf(value))]) : value;
}

/** pino keeps the error that it described beside its description. */
function rawOf(shown: object): unknown {
  return "raw" in shown ? shown.raw : null;
}

function withoutQuotes(text: string, quoting: readonly string[]): string {
  return quoting.reduce(
    (so, message) => so.replaceAll(message, () => message.replace(/".*/s, `"${REDACTED}"`)),
    text,
  );
}
