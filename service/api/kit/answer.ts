import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type CallerRequest, chargeHeaders } from "../../access/access.ts";
import { Problem } from "../../access/problems.ts";
import type { ApiContext } from "./api-env.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * The response of a request, with the envelope's headers and its own, lower-case. They form a plain record, because a Headers
 * object costs more than a read from the database's cache.
 */
export function answer(
  context: ApiContext,
  {
    status,
    body,
    headers,
  }: { readonly status: number; readonly body: string | Uint8Array | null; readonly headers: Headers },
): Response {
  context.set("body", typeof body === "string" ? body : undefined);
  return new Response(body, {
    status,
    headers: { ...context.get("headers"), ...headers },
  });
}

/** Of answers that no cache may store. */
export const NO_STORE = { headers: { "cache-control": "private, no-store" } } as const;

/** A JSON response. */
export function answerJson(
  context: ApiContext,
  body: unknown,
  { status = 200, headers }: { readonly status?: ContentfulStatusCode; readonly headers?: Headers } = {},
): Response {
  return answer(context, {
    status,
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
}

/** Answers with an entity tag, or with a 304 if the client has that version. */
export function answerTagged(
  context: ApiContext,
  {
    tag,
    body,
    headers,
  }: { readonly tag: string; readonly body: string | Uint8Array; readonly headers: Headers },
): Response {
  const tagged = { ...headers, etag: `"${tag}"` };
  if (!namesVersion(context.req.header("if-none-match"), tag))
    return answer(context, { status: 200, body, headers: tagged });
  const { "content-type": _type, "content-encoding": _encoding, ...ofNoBody }: Headers = tagged;
  return answer(context, { status: 304, body: null, headers: ofNoBody });
}

/** Adds lower-case headers to the answer of a request. */
export function addHeaders(context: ApiContext, headers: Headers): void {
  context.set("headers", { ...context.get("headers"), ...headers });
}

/** A request whose answer reports the balance of its key. Nothing is charged until a charge says so. */
export function callerRequest(context: ApiContext): CallerRequest {
  return {
    header: (name) => context.req.header(name),
    onKey: ({ balanceUnits }) => addHeaders(context, chargeHeaders(0, balanceUnits)),
  };
}

const compress = promisify(gzip);

/** Matches Accept-Encoding headers that allow gzip; a weight of zero refuses it. */
const TAKES_GZIP = /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i;

export function takesGzip(context: ApiContext): boolean {
  return TAKES_GZIP.test(context.req.header("accept-encoding") ?? "");
}

/**
 * Serves a document that never changes. All answers share its bytes, which the first request with gzip compresses. Fonts are
 * compressed already. `headers` may depend on the request.
 */
export function staticDocument(
  body: string | Uint8Array,
  headers: Headers | ((context: ApiContext) => Headers),
): (context: ApiContext) => Promise<Response> {
  const bytes = Buffer.from(body);
  const tag = hash("sha256", bytes, "base64url").slice(0, 22);
  let zipped: Promise<Buffer> | null = null;
  return async (context) => {
    const own = typeof headers === "function" ? headers(context) : headers;
    if (own["content-type"]?.startsWith("font/"))
      return answerTagged(context, { tag, body: bytes, headers: own });
    const varying = { ...own, vary: varyOf(context, own) };
    if (!takesGzip(context)) return answerTagged(context, { tag, body: bytes, headers: varying });
    zipped ??= compress(bytes);
    return answerTagged(context, {
      tag: `${tag}-gzip`,
      body: await zipped,
      headers: { ...varying, "content-encoding": "gzip" },
    });
  };
}

function varyOf(context: ApiContext, own: Headers): string {
  return [context.get("headers").vary, own.vary, "Accept-Encoding"].filter(Boolean).join(", ");
}

type EntityTag = { readonly weak: boolean; readonly opaque: string };

const LIST = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/;

/**
 * The versions that an If-Match header allows (RFC 9110, 13.1.1: weak tags match nothing); null if it allows any or is absent.
 * Throws a 400 for a malformed header, because ignoring it could lose an update.
 */
export function versionsToMatch(header: string | undefined): readonly string[] | null {
  if (header === undefined) return null;
  const condition = parseCondition(header);
  if (condition === null) {
    const given = header.slice(0, 128);
    throw new Problem("header-malformed", `If-Match: expected * or a list of entity tags, got "${given}".`);
  }
  if (condition.kind === "any") return null;
  return condition.tags.filter(({ weak }) => !weak).map(({ opaque }) => opaque);
}

/** Whether an If-None-Match header names this version (RFC 9110, 13.1.2: weak tags count); a malformed one names none. */
export function namesVersion(header: string | undefined, version: string): boolean {
  const condition = header === undefined ? null : parseCondition(header);
  if (condition === null) return false;
  return condition.kind === "any" || condition.tags.some(({ opaque }) => opaque === version);
}

function parseCondition(
  header: string,
): { readonly kind: "any" } | { readonly kind: "tags"; readonly tags: readonly EntityTag[] } | null {
  if (header.trim() === "*") return { kind: "any" };
  const tags: EntityTag[] = [];
  for (let rest = header; rest !== ""; ) {
    const found = LIST.exec(rest);
    if (found === null) return null;
    const [whole, weak, opaque] = found;
    tags.push({ weak: weak !== undefined, opaque: opaque ?? "" });
    rest = rest.slice(whole.length);
  }
  return tags.length === 0 ? null : { kind: "tags", tags };
}
