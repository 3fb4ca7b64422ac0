import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { answerTagged } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";

type Headers = Readonly<Record<string, string>>;

const compress = promisify(gzip);

/** gzip among the codings that a client takes; a weight of zero refuses it. */
const TAKES_GZIP = /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/i;

/**
 * Answers with one document that never changes: its bytes are made once and shared by all answers, and compressed at the first
 * request that takes gzip. Fonts are compressed already. `headers` may depend on the request.
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
    if (!TAKES_GZIP.test(context.req.header("accept-encoding") ?? ""))
      return answerTagged(context, { tag, body: bytes, headers: varying });
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
