import { aim, createGuardedFetch, type GuardOptions } from "../net/guarded-fetch.ts";
import { type ProbeResult, probeEndpoint } from "./probe-endpoint.ts";

/** Visits to URLs that callers name. */
export type UrlVisitor = {
  /** Why the guard refuses the URL; null where it does not, and where its name cannot be resolved now. */
  refusal(url: string): Promise<string | null>;
  /** Visits the URL once; null while too many visits are under way. */
  visit(url: string): Promise<ProbeResult | null>;
};

export type UrlVisitorOptions = {
  readonly guard: GuardOptions;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly maxAtOnce: number;
};

/** A caller waits for this before anything is charged. */
const REFUSAL_MS = 4_000;

/** Visits through the guard, so many at once; each URL is resolved and checked anew by the visit itself. */
export function createUrlVisitor({ guard, monotonicMs, maxAtOnce }: UrlVisitorOptions): UrlVisitor {
  const fetch = createGuardedFetch(guard);
  let underWay = 0;
  return {
    async refusal(url) {
      const aimed = await aim(url, { ...guard, signal: AbortSignal.timeout(REFUSAL_MS) });
      if (aimed.kind === "aim") return null;
      return aimed.reason === "invalid_url" || aimed.reason === "refused_target" ? aimed.detail : null;
    },
    async visit(url) {
      if (underWay >= maxAtOnce) return null;
      underWay++;
      try {
        return await probeEndpoint({ endpoint: url, kind: "other" }, { fetch, monotonicMs });
      } finally {
        underWay--;
      }
    },
  };
}
