import type { RoutingDecision } from "./api-types.ts";
import { RefusedError, UnavailableError, ValidationError } from "./errors.ts";
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
  /** Nothing is asked beyond the budget, or the service refuses the seller: by 402 without balance, by 429, by 401. */
  | {
      readonly kind: "withheld";
      readonly reason: "too_many_lookups" | "lookup_refused";
      readonly error: string | null;
    }
  | {
      readonly kind: "unavailable";
      readonly reason: "deadline_exceeded" | "service_unavailable";
      /** Class and status of the failure; null without one. */
      readonly error: string | null;
    };

/** A wallet, or one payment of it. */
export type Question = {
  readonly wallet: string;
  /** Null for the wallet alone. */
  readonly payment: {
    /** Names the payment: its verification and its settlement are one question. */
    readonly id: string;
    readonly amountUsd: number | string;
  } | null;
};

export type LookupLimits = {
  /** Entries of the cache, and calls under way. */
  readonly maxEntries: number;
  readonly seconds: number;
  /**
   * Wallets that are asked about in a minute, and calls about one wallet. Calls that the service refuses do not count. Calls without an
   * answer may be charged as well: they are counted apart, up to `perMinute`.
   */
  readonly perMinute: number;
  readonly perWallet: number;
};

const ACTIONS: ReadonlySet<string> = new Set([
  "instant_settle",
  "escrow",
  "reject",
] satisfies RoutingDecision["action"][]);

/**
 * Asks for decisions and caches them, those that do not settle at once by wallet and amount. Equal questions at one time share a call.
 * Every question is answered within its deadline, and none rejects; a later answer is cached for the next question.
 */
export function createTrustLookup(route: AskRoute, limits: LookupLimits) {
  const { maxEntries, seconds } = limits;
  const cache = new Map<string, { readonly answer: Lookup; readonly expiresAtMs: number }>();
  const running = new Map<string, Promise<Lookup>>();
  const budget = createBudget(limits);

  const store = (key: string, answer: Extract<Lookup, { kind: "decided" }>): void => {
    if (seconds === 0) return;
    cache.delete(key);
    cache.set(key, { answer: { ...answer, cached: true }, expiresAtMs: performance.now() + seconds * 1_000 });
    const [oldest] = cache.keys();
    if (cache.size > maxEntries && oldest !== undefined) cache.delete(oldest);
  };

  const find = (keys: readonly string[]): Lookup | null => {
    const found = keys.flatMap((key) => cache.get(key) ?? []);
    return found.find(({ expiresAtMs }) => performance.now() < expiresAtMs)?.answer ?? null;
  };

  const start = (question: Question, giveBack: GiveBack): Promise<Lookup> => {
    const { key, refusalKey } = keysOf(question);
    const asking = ask(route, question).then((answer) => {
      running.delete(key);
      if (answer.kind !== "decided") giveBack({ isUnanswered: answer.kind === "unavailable" });
      else store(answer.decision.action === "instant_settle" ? key : refusalKey, answer);
      return answer;
    });
    running.set(key, asking);
    return asking;
  };

  return async (question: Question, deadlineMs: number): Promise<Lookup> => {
    const { key, refusalKey } = keysOf(question);
    const cached = find([key, refusalKey]);
    if (cached !== null) return cached;
    const asked = running.get(key);
    if (asked !== undefined) return within(deadlineMs, asked);
    const taken = running.size < maxEntries ? budget.take(question) : "spent";
    if (taken === "spent") return { kind: "withheld", reason: "too_many_lookups", error: null };
    if (taken === "unanswered") return { kind: "unavailable", reason: "service_unavailable", error: null };
    return within(deadlineMs, start(question, taken));
  };
}

/** Keys of a question, and of an answer that does not settle at once: it holds for every payment of the amount. */
function keysOf({ wallet, payment }: Question): { readonly key: string; readonly refusalKey: string } {
  if (payment === null) return { key: wallet, refusalKey: wallet };
  return { key: `${wallet} ${payment.id}`, refusalKey: `${wallet} ${payment.amountUsd} USD` };
}

/** Gives back a call that was not decided. */
type GiveBack = (outcome: { readonly isUnanswered: boolean }) => void;

/** Calls of the present minute. A known wallet's payments take nothing from the share of unknown wallets. */
function createBudget({ perMinute, perWallet }: LookupLimits) {
  let minute = 0;
  let wallets = 0;
  let unanswered = 0;
  const calls = new Map<string, number>();
  return {
    /** Takes a call, and returns the function that gives it back, or why none may be made. */
    take({ wallet, payment }: Question): GiveBack | "spent" | "unanswered" {
      const now = Math.floor(performance.now() / 60_000);
      if (now !== minute) {
        [minute, wallets, unanswered] = [now, 0, 0];
        calls.clear();
      }
      const share = payment === null ? 1 : 0;
      const before = calls.get(wallet) ?? 0;
      if (before >= perWallet || wallets + share > perMinute) return "spent";
      if (unanswered >= perMinute) return "unanswered";
      wallets += share;
      calls.set(wallet, before + 1);
      return ({ isUnanswered }) => {
        if (minute !== now) return;
        if (isUnanswered) unanswered += 1;
        wallets -= share;
        calls.set(wallet, (calls.get(wallet) ?? 1) - 1);
      };
    },
  };
}

async function ask(route: AskRoute, { wallet, payment }: Question): Promise<Lookup> {
  try {
    const query = payment === null ? {} : { amount_usd: payment.amountUsd };
    const { action, reason, grade } = await route(wallet, query);
    // A proxy may answer 200 with any JSON.
    if (!ACTIONS.has(action))
      return { kind: "unavailable", reason: "service_unavailable", error: "no decision" };
    return { kind: "decided", decision: { action, reason, grade }, cached: false };
  } catch (error) {
    const name = nameOf(error);
    if (error instanceof ValidationError) return { kind: "invalid", error: name };
    if (error instanceof RefusedError && !(error instanceof UnavailableError))
      return { kind: "withheld", reason: "lookup_refused", error: name };
    return { kind: "unavailable", reason: "service_unavailable", error: name };
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
