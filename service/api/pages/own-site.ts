import { Problem } from "../../access/problems.ts";
import type { ApiContext } from "../api-env.ts";

/**
 * Throws the 403 of a form that another site sent. A browser says where a form comes from in Sec-Fetch-Site, over http in Origin
 * alone; both are believed only when they name this site, and a request with neither is refused, whatever its content type.
 * `origin` is that of the service as it is known, which behind a proxy is not the one of the request.
 */
export function requireOwnSite(context: ApiContext, origin: string): void {
  const site = context.req.header("sec-fetch-site");
  const from = context.req.header("origin");
  const isOwn = from === undefined || from === new URL(origin).origin || from === originAsked(context);
  const isKnown = site === "same-origin" || (site === undefined && from !== undefined);
  if (isOwn && isKnown) return;
  throw new Problem("cross-site", "Forms are taken from the pages of this service alone.");
}

/** What the browser calls the service. */
function originAsked(context: ApiContext): string {
  return new URL(context.req.url).origin;
}
