import { aim, createGuardedFetch, type GuardOptions, policyOf } from "../../net/guarded-fetch.ts";
import { readTarget } from "../../net/read-target.ts";
import { type ProbeResult, probeEndpoint } from "./probe-endpoint.ts";

/** Visits to URLs that callers name. */
export type UrlVisitor = {
  /**
   * Why the guard refuses the URL; null where it does not. A name that does not exist is refused in the words of one that leads
   * inside, so that callers learn nothing of the names in here.
   */
  refusal(url: string): Promise<UrlRefusal | null>;
  /** Keeps a place for one visit; null while all places are taken. */
  reserve(): ReservedVisit | null;
};

/** refused: whatever name servers say; unresolved: none answers now. */
type UrlRefusal = { readonly kind: "refused"; readonly error: string } | { readonly kind: "unresolved" };

/** A place for one visit, to be released in the end whether or not it was used. */
export type ReservedVisit = {
  /** Visits the URL; throws where the place was used or released before. */
  visit(url: string): Promise<ProbeResult>;
  /** Frees the place, once a visit that has begun is over. */
  release(): void;
};

export type UrlVisitorOptions = {
  readonly guard: GuardOptions;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly maxAtOnce: number;
};

const NOT_PUBLIC = "The name of the URL's host must resolve, and to public addresses alone.";
/** A caller waits for this before anything is charged. */
const REFUSAL_MS = 4_000;

/** Visits through the guard, so many at once, reserved ones included; each URL is resolved and checked anew by the visit itself. */
export function createUrlVisitor({ guard, monotonicMs, maxAtOnce }: UrlVisitorOptions): UrlVisitor {
  const fetch = createGuardedFetch(guard);
  let taken = 0;
  return {
    async refusal(url) {
      const read = readTarget(url, policyOf(guard));
      if (read.kind === "failed") return { kind: "refused", error: read.detail };
      const aimed = await aim(url, { ...guard, signal: AbortSignal.timeout(REFUSAL_MS) });
      if (aimed.kind === "aim") return null;
      return aimed.reason === "dns_failure" || aimed.reason === "refused_target"
        ? { kind: "refused", error: NOT_PUBLIC }
        : { kind: "unresolved" };
    },
    reserve() {
      if (taken >= maxAtOnce) return null;
      taken++;
      let isFree = true;
      return {
        async visit(url) {
          if (!isFree) throw new Error("a reserved visit was made or released before");
          isFree = false;
          try {
            return await probeEndpoint({ endpoint: url, kind: "other" }, { fetch, monotonicMs });
          } finally {
            taken--;
          }
        },
        release() {
          if (!isFree) return;
          isFree = false;
          taken--;
        },
      };
    },
  };
}
