import type { RoutingDecision } from "./api-types.ts";
import { RefusedError, ValidationError } from "./errors.ts";
import type { AskRoute } from "./guard.ts";

/** The answer to a question. */
export type Lookup =
  | {
      readonly kind: "decided";
      readonly decision: Pick<RoutingDecision, "action" | "reason" | "grade">;
      readonly cached: boolean;
    }
  /** The service refused the question itself: its amount does not fit. */
  | { readonly kind: "invalid"; readonly error: string }
  | {
      readonly kind: "unavailable";
      readonly reason: "deadline_exceeded" | "too_many_lookups" | "service_unavailable";
      /** Class and status of the failure; null without one. */
      readonly error: string | null;
    };

type Question = {
  /** Equal questions have equal keys: they share one call and its answer. */
  readonly key: string;
  readonly wallet: string;
  readonly amountUsd: number | string | null;
};

const ACTIONS: ReadonlySet<string> = new Set([
  "instant_settle",
  "escrow",
  "reject",
] satisfies RoutingDecision["action"][]);

/**
 * Asks for decisions and keeps them, at most `maxEntries` for `seconds`. Equal questions at one time share a call, of which at most
 * `maxEntries` run. Every question is answered within `deadlineMs`, and none rejects; a later answer is kept for the next question.
 */
export function createTrustLookup(
  route: AskRoute,
  {
    deadlineMs,
    maxEntries,
    seconds,
  }: { readonly deadlineMs: number; readonly maxEntries: number; readonly seconds: number },
) {
  const kept = new Map<string, { readonly answer: Lookup; readonly expiresAtMs: number }>();
  const running = new Map<string, Promise<Lookup>>();

  const keep = (key: string, answer: Lookup): void => {
    if (answer.kind !== "decided" || seconds === 0) return;
    kept.delete(key);
    kept.set(key, { answer: { ...answer, cached: true }, expiresAtMs: performance.now() + seconds * 1_000 });
    const [oldest] = kept.keys();
    if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
  };

  const start = (question: Question): Promise<Lookup> => {
    const asking = ask(route, question).then((answer) => {
      running.delete(question.key);
      keep(question.key, answer);
      return answer;
    });
    running.set(question.key, asking);
    return asking;
  };

  return async (question: Question): Promise<Lookup> => {
    const found = kept.get(question.key);
    if (found !== undefined && performance.now() < found.expiresAtMs) return found.answer;
    const asked = running.get(question.key);
    if (asked === undefined && running.size >= maxEntries) {
      return { kind: "unavailable", reason: "too_many_lookups", error: null };
    }
    return within(deadlineMs, asked ?? start(question));
  };
}

async function ask(route: AskRoute, { wallet, amountUsd }: Question): Promise<Lookup> {
  try {
    const { action, reason, grade } = await route(
      wallet,
      amountUsd === null ? {} : { amount_usd: amountUsd },
    );
    // A proxy may answer 200 with any JSON.
    if (!ACTIONS.has(action))
      return { kind: "unavailable", reason: "service_unavailable", error: "no decision" };
    return { kind: "decided", decision: { action, reason, grade }, cached: false };
  } catch (error) {
    if (error instanceof ValidationError) return { kind: "invalid", error: nameOf(error) };
    return { kind: "unavailable", reason: "service_unavailable", error: nameOf(error) };
  }
}

/** Never the message, which may quote a request. */
function nameOf(error: unknown): string {
  if (error instanceof RefusedError) return `${error.name} ${error.status}`;
  return error instanceof Error ? error.name : typeof error;
}

function within(deadlineMs: number, asking: Promise<Lookup>): Promise<Lookup> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<Lookup>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, {
      kind: "unavailable",
      reason: "deadline_exceeded",
      error: null,
    });
  });
  return Promise.race([asking, late]).finally(() => clearTimeout(timer));
}
