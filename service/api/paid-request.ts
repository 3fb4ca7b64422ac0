import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { PaidRequest } from "../access/access.ts";
import type { ApiContext } from "./api-env.ts";

/** What a priced endpoint knows of a request once its input is read. */
export type PricedInput = {
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly paidBy: PaidRequest["paidBy"];
  readonly units: number;
  readonly input: unknown;
  /** What else makes it the same request or another; undefined where the input is all. */
  readonly distinction?: unknown;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
};

/** A request as access sees it. */
export function describePaidRequest(context: ApiContext, priced: PricedInput): PaidRequest {
  const { req } = context;
  const endpoint = `${priced.method.toUpperCase()} ${priced.path}`;
  const { pathname, search } = new URL(req.url);
  const { input, distinction } = priced;
  const also = distinction === undefined ? {} : { distinction };
  return {
    header: (name) => req.header(name),
    endpoint,
    resource: `${pathname}${search}`,
    units: priced.units,
    summary: priced.summary,
    paidBy: priced.paidBy,
    fingerprint: () => hash("sha256", canonicalize({ endpoint, input, ...also }) ?? "", "hex"),
    get signal() {
      // Made for those who ask only: most requests never do, and it costs as much as a read.
      return AbortSignal.any([req.raw.signal, priced.stopping]);
    },
  };
}
