import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ApiContext } from "./api-env.ts";
import { namesVersion } from "./entity-tags.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * The response of a request: the envelope's headers and its own, lower-case. One plain record, because a Headers
 * object costs the server more than a read from the database's cache.
 */
export function answer(
  context: ApiContext,
  {
    status,
    body,
    headers,
  }: { readonly status: number; readonly body: string | Uint8Array | null; readonly headers: Headers },
): Response {
  return new Response(body, {
    status,
    headers: { ...context.get("headers"), ...headers },
  });
}

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

/** A version of something by its entity tag, or a 304 to a client that has it. */
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

/** Adds headers, lower-case, to whatever a request is answered with. */
export function addHeaders(context: ApiContext, headers: Headers): void {
  context.set("headers", { ...context.get("headers"), ...headers });
}
