import { setTimeout as delay } from "node:timers/promises";
import { BaseError } from "viem";
import { type Check, fault, type Verdict } from "../../service/check.ts";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { createScrub } from "../secrets/scrub.ts";

/** A check with what to do about it. */
export type AdvisedCheck = Check & {
  /** Where to look when it throws or is late. */
  readonly advice: string;
  /** Better advice for the error, or null. */
  readonly adviceOn?: (error: unknown) => string | null;
};

/**
 * Runs all checks at once, each with its own deadline, and answers what they found in their order. Never throws and never waits
 * longer than the deadline: a check that is late, or throws, has failed.
 */
export async function runChecks(
  checks: readonly AdvisedCheck[],
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
  check: AdvisedCheck,
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

export type Finding = Verdict & { readonly check: string };

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
