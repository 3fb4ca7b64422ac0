import type { AnswerHeaders } from "./access.ts";
import { Problem } from "./problems.ts";
import { secondsToFull, secondsToNext, WINDOW_SECONDS } from "./token-bucket.ts";

/** What a limit found out about one call. */
export type LimitState = {
  /** Name of the limit in the headers; letters only. */
  readonly policy: "ip" | "key" | "wallet" | "subscription";
  readonly perMinute: number;
  /** Tokens left after the call. */
  readonly tokens: number;
};

/** RateLimit-Policy and RateLimit as draft-ietf-httpapi-ratelimit-headers-11 has them; t is when the whole quota is back. */
export function rateLimitHeaders({ policy, perMinute, tokens }: LimitState): AnswerHeaders {
  return {
    "ratelimit-policy": `"${policy}";q=${perMinute};w=${WINDOW_SECONDS}`,
    ratelimit: `"${policy}";r=${Math.floor(tokens)};t=${secondsToFull(tokens, perMinute)}`,
  };
}

const WHOSE: Readonly<Record<LimitState["policy"], string>> = {
  ip: "this address",
  key: "this API key",
  wallet: "this wallet",
  subscription: "this manage token",
};

/** The 429 of a call beyond a limit, with the seconds after which one more is let through. */
export function rateLimited(state: LimitState): Problem {
  const { policy, perMinute, tokens } = state;
  const seconds = secondsToNext(tokens, perMinute);
  return new Problem(
    "rate-limited",
    `More than ${perMinute} calls a minute came from ${WHOSE[policy]}; the next one is let through in ${seconds} s.`,
    {
      headers: { ...rateLimitHeaders(state), "retry-after": String(seconds) },
      violatedPolicies: [policy],
    },
  );
}
