import { setTimeout as delay } from "node:timers/promises";
import { BaseError } from "viem";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { createScrub } from "../secrets/scrub.ts";

/** Looks at one thing, and says what it found in one verdict or several. */
export type Check = {
  readonly name: string;
  /** Where to look when it throws or is late. */
  readonly advice: string;
  /** Better advice for the error, or null. */
  readonly adviceOn?: (error: unknown) => string | null;
  readonly run: () => Promise<Verdict | readonly Verdict[]>;
};

/**
 * Runs all checks at once, each with its own deadline, and answers what they found in their order. Never throws and never waits
 * longer than the deadline: a check that is late, or throws, has failed.
 */
export async function runChecks(
  checks: readonly Check[],
  options: {
    deadlineMs: number;
    /** Why a check threw, without anything secret. */
    reasonOf: (error: unknown) => string;
  },
): Promise<readonly Finding[]> {
  const found = await Promise.all(checks.map((check) => runOne(check, options)));
  return found.flat();
}

async function runOne(
  check: Check,
  { deadlineMs, reasonOf }: Parameters<typeof runChecks>[1],
): Promise<Finding[]> {
  const { name, advice, adviceOn, run } = check;
  const over = new AbortController();
  const late = delay(deadlineMs, fault(`no answer within ${deadlineMs / 1_000} s`, advice), {
    signal: over.signal,
  }).catch(() => fault("not waited for", advice));
  try {
    const verdicts = await Promise.race([run(), late]);
    return [verdicts].flat().map((verdict) => ({ check: name, ...verdict }));
  } catch (error) {
    return [{ check: name, ...fault(reasonOf(error), adviceOn?.(error) ?? advice) }];
  } finally {
    over.abort();
  }
}

/** Result of a check, with advice unless all is well. */
export type Verdict = {
  readonly level: "ok" | "skip" | "warn" | "fail";
  readonly detail: string;
  readonly advice: string | null;
};

export type Finding = Verdict & { readonly check: string };

/** All is well. */
export function fine(detail: string): Verdict {
  return { level: "ok", detail, advice: null };
}

/** Not set in this environment, which is allowed. */
export function notConfigured(what?: string): Verdict {
  const detail = "not configured in this environment";
  return { level: "skip", detail: what === undefined ? detail : `${what}: ${detail}`, advice: null };
}

/** Unknown, for a reason that another finding reports. */
export function unseen(detail: string): Verdict {
  return { level: "warn", detail: `not checked: ${detail}`, advice: null };
}

/** Works, and wants looking at. */
export function concern(detail: string, advice: string): Verdict {
  return { level: "warn", detail, advice };
}

/** Does not work, or will not for long. */
export function fault(detail: string, advice: string): Verdict {
  return { level: "fail", detail, advice };
}

const URLS = /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"']+/gi;
const LONGEST = 200;

/** Returns the reason of a failure in one line, without URLs and without secrets of the environment. */
export function safeReason(env: Readonly<Record<string, string | undefined>>): (error: unknown) => string {
  const scrub = createScrub(knownSecrets(env));
  return (error) =>
    scrub(messageOf(error)).replace(URLS, "(URL)").replace(/\s+/g, " ").trim().slice(0, LONGEST);
}

/** viem's first line is enough; errors of fetch carry the reason in their causes. */
function messageOf(error: unknown): string {
  if (error instanceof BaseError) return `${error.shortMessage} ${error.details}`;
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const inner = cause instanceof Error ? ` (${"code" in cause ? String(cause.code) : cause.message})` : "";
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message === "" ? "the connection failed" : error.message}${code}${inner}`;
}
