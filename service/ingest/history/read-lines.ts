import { setTimeout as sleep } from "node:timers/promises";
import { type HistoryFailure, historyFailure } from "./history.ts";

export type LineLimits = {
  /** Longest pause between two pieces of the body. */
  readonly idleMs: number;
  /** The lines after so much time or so many bytes are left out. */
  readonly longestMs: number;
  readonly maxBytes: number;
  /** A longer line is a failure. */
  readonly maxLine: number;
};

/**
 * The lines of a streamed answer, without empty ones. A failure comes last: where the body breaks off, where it stops within a line
 * that is not whole, where it is not UTF-8. The body is cancelled at the end.
 */
export async function* readLines(
  { body }: Pick<Response, "body">,
  limits: LineLimits,
  signal: AbortSignal,
): AsyncGenerator<string | HistoryFailure> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const end = performance.now() + limits.longestMs;
  const parts: string[] = [];
  let [bytes, length] = [0, 0];
  try {
    for (;;) {
      const piece = await inTime(reader.read(), limits.idleMs, signal);
      if (piece === "late")
        yield historyFailure("timeout", `no more of the answer within ${limits.idleMs} ms`);
      if (piece === "late") return;
      bytes += piece.value?.length ?? 0;
      const [first = "", ...more] = decoder.decode(piece.value, { stream: !piece.done }).split("\n");
      parts.push(first);
      length += first.length;
      for (const line of more) {
        if (length > 0) yield parts.join("");
        parts.splice(0, parts.length, line);
        length = line.length;
      }
      if (length > limits.maxLine) {
        yield historyFailure("malformed", `a line is longer than ${limits.maxLine} characters`);
        return;
      }
      if (piece.done) break;
      if (bytes > limits.maxBytes || performance.now() > end) return;
    }
    const rest = parts.join("");
    if (rest.length > 0)
      yield isJson(rest) ? rest : historyFailure("unavailable", "the answer ends within a line");
  } catch (error) {
    if (error instanceof TypeError && "code" in error && error.code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      yield historyFailure("malformed", "the answer is not UTF-8");
    else yield historyFailure("unavailable", "the answer breaks off");
  } finally {
    // Not by a signal of the request: to abort a compressed body can end the process.
    await reader.cancel().catch(() => undefined);
  }
}

async function inTime<Value>(
  pending: Promise<Value>,
  ms: number,
  signal: AbortSignal,
): Promise<Value | "late"> {
  const over = new AbortController();
  const late = sleep(ms, "late" as const, { signal: AbortSignal.any([signal, over.signal]) }).catch(
    () => "late" as const,
  );
  try {
    return await Promise.race([pending, late]);
  } finally {
    over.abort();
    // The loser of the race must not become an unhandled rejection.
    pending.catch(() => undefined);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
