import type { KeyAccess } from "./access.ts";
import type { CallLimiter, Limited } from "./create-access.ts";
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
        identity: identityOf(owner),
        perMinute: ratePerMinute,
      });
      const state = { policy: owner.kind, perMinute: ratePerMinute, tokens };
      if (!granted) throw rateLimited(state);
      return rateLimitHeaders(state);
    },
  };
}

function identityOf(limited: Limited): string {
  return limited.kind === "subscription" ? `subscription:${limited.id}` : ownerText(limited);
}

/** Keys whose every identification is a call that counts against their rate, as free endpoints need them; throws a 429. */
export function countedKeys(
  keys: Pick<KeyAccess, "identify">,
  limiter: CallLimiter,
): Pick<KeyAccess, "identify"> {
  return {
    async identify(request) {
      const caller = await keys.identify(request);
      if (caller !== null) await limiter.take({ kind: "key", keyId: caller.keyId }, caller.ratePerMinute);
      return caller;
    },
  };
}
