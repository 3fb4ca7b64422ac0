import type { EndpointKind } from "../../db/tables/infrastructure.ts";

/** As long as a URL may be that is fetched, and as fits an index of PostgreSQL. */
const MAX_CHARACTERS = 2_048;

/**
 * The one spelling of a declared endpoint: an http(s) URL as the WHATWG parser writes it, without its fragment, anything
 * else as declared. Null for what is empty, too long or holds control characters.
 */
export function endpointText(declared: string): string | null {
  const trimmed = declared.trim();
  if (trimmed === "" || trimmed.length > MAX_CHARACTERS) return null;
  if (!/^https?:/i.test(trimmed) || !URL.canParse(trimmed)) {
    return /\p{Cc}/u.test(trimmed) ? null : trimmed.toWellFormed();
  }
  const url = new URL(trimmed);
  url.hash = "";
  return url.href.length > MAX_CHARACTERS ? null : url.href;
}

/** Whether an endpoint, as spelled by `endpointText`, is asked for by HTTP. */
export function isHttpEndpoint(endpoint: string): boolean {
  return /^https?:/i.test(endpoint) && URL.canParse(endpoint);
}

/** Returns the kind by which endpoints of a service of that name are visited; syncSchedule computes the same in SQL. */
export function endpointKind(serviceName: string): EndpointKind {
  const name = serviceName.toLowerCase();
  return name === "a2a" || name === "mcp" || name === "x402" ? name : "other";
}

/**
 * Whether a URL equals a declared endpoint or lies under it: same scheme, host and port, and a path that is the endpoint's
 * or continues it by whole segments. Both as spelled by `endpointText`; an endpoint with a query has nothing under it.
 */
export function liesUnder(url: string, endpoint: string): boolean {
  if (url === endpoint) return true;
  if (!isHttpEndpoint(url) || !isHttpEndpoint(endpoint)) return false;
  const [asked, declared] = [new URL(url), new URL(endpoint)];
  if (asked.origin !== declared.origin || declared.search !== "") return false;
  if (asked.username !== declared.username || asked.password !== declared.password) return false;
  const folder = declared.pathname.endsWith("/") ? declared.pathname : `${declared.pathname}/`;
  return asked.pathname === declared.pathname || asked.pathname.startsWith(folder);
}
