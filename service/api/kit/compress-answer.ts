import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { takesGzip } from "./answer.ts";
import type { ApiContext } from "./api-env.ts";

const compress = promisify(gzip);

/** Below this a compressed answer is hardly smaller. */
const LEAST_CHARACTERS = 4_096;
/** Above this an answer costs too much of a thread. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Answers that a process compresses at once, half of Node's threads; further ones are sent as they are. */
const AT_ONCE = 2;
/** Of 9: nearly the best ratio in a third of its time. */
const LEVEL = 4;

const TEXTS = /^(?:application\/(?:[\w.+-]+\+)?json|text\/|image\/svg)/;

/** Compresses large text answers by gzip, a bounded number at once. Private pages stay as they are (BREACH). */
export function createCompression() {
  let running = 0;
  return async (context: ApiContext): Promise<void> => {
    const body = context.get("body");
    if (body === undefined || body.length < LEAST_CHARACTERS || body.length > MOST_CHARACTERS) return;
    const { status, headers } = context.res;
    if (!isCompressible(headers)) return;
    const varying = new Headers(headers);
    varying.append("vary", "Accept-Encoding");
    if (!takesGzip(context) || running >= AT_ONCE) {
      context.res = new Response(body, { status, headers: varying });
      return;
    }
    running += 1;
    try {
      const zipped = await compress(body, { level: LEVEL });
      varying.set("content-encoding", "gzip");
      const tag = headers.get("etag");
      if (tag !== null && !tag.startsWith("W/")) varying.set("etag", `W/${tag}`);
      context.res = new Response(zipped, { status, headers: varying });
    } finally {
      running -= 1;
    }
  };
}

function isCompressible(headers: Headers): boolean {
  const type = headers.get("content-type") ?? "";
  if (!TEXTS.test(type) || headers.has("content-encoding") || headers.has("content-digest")) return false;
  if (!type.startsWith("text/html")) return !headers.has("etag");
  return !(headers.get("cache-control") ?? "").includes("private");
}
