import type { probe } from "../../db/tables/infrastructure.ts";

/** Result of one visit to an endpoint; status and latency are null without an answer. */
export type ProbeResult = Pick<
  typeof probe.$inferSelect,
  "outcome" | "status" | "latencyMs" | "valid" | "detail"
>;

/** Visits to URLs that callers name. */
export type UrlVisitor = {
  /**
   * Why the guard refuses the URL; null where it does not. A name that does not exist is refused in the words of one that leads
   * inside, so that callers learn nothing of the names in here. refused: whatever name servers say. unresolved: none answers now.
   */
  refusal(
    url: string,
  ): Promise<{ readonly kind: "refused"; readonly error: string } | { readonly kind: "unresolved" } | null>;
  /** Keeps a place for one visit; null while all places are taken. */
  reserve(): ReservedVisit | null;
};

/** A place for one visit, to be released in the end whether or not it was used. */
export type ReservedVisit = {
  /** Visits the URL; throws where the place was used or released before. */
  visit(url: string): Promise<ProbeResult>;
  /** Frees the place, once a visit that has begun is over. */
  release(): void;
};
