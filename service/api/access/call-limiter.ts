import type { CallLimiter } from "./create-access.ts";
import { ownerText } from "./owner.ts";
import { rateLimited, rateLimitHeaders } from "./rate-limit-answer.ts";

/** Buckets of callers, wherever they are kept. */
export type CallBuckets = {
  /** Takes a token where one is there; `tokens` are those left afterwards. */
  take(call: {
    readonly identity: string;
    readonly perMinute: number;
  }): Promise<{ readonly granted: boolean; readonly tokens: number }>;
};

/** Limits callers by their buckets. */
export function createCallLimiter(buckets: CallBuckets): CallLimiter {
  return {
    async take(owner, ratePerMinute) {
      const { granted, tokens } = await buckets.take({
        identity: ownerText(owner),
        perMinute: ratePerMinute,
      });
      const state = { policy: owner.kind, perMinute: ratePerMinute, tokens };
      if (!granted) throw rateLimited(state);
      return rateLimitHeaders(state);
    },
  };
}
