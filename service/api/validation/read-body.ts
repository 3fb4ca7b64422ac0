import type { HonoRequest } from "hono";
import { Problem } from "../../access/problems.ts";

/** Bytes of a request body that the service is willing to hold. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

const IDENTITY = "identity";

/**
 * The body as text. Throws a 415 problem for one that is compressed, a 413 beyond the limit, without reading more than that, a 408
 * where it never ends, and a 400 for bytes that are not UTF-8: replacing them would change what was sent.
 */
export async function readBody(request: HonoRequest): Promise<string> {
  const encoding = request.header("content-encoding")?.trim().toLowerCase() ?? IDENTITY;
  if (encoding !== IDENTITY && encoding !== "") throw encoded(encoding);
  const declared = Number(request.header("content-length"));
  if (declared > BODY_LIMIT_BYTES) throw tooLarge();
  const stream = request.raw.body;
  if (stream === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.byteLength;
      if (bytes > BODY_LIMIT_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    // Whatever else ends a stream early is a client that is gone, or that the server gave up on.
    throw error instanceof Problem
      ? error
      : new Problem("request-timeout", "The body broke off.", { cause: error });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    // FastAPI's words.
    throw new Problem("body-malformed", "There was an error parsing the body", { cause: error });
  }
}

function encoded(encoding: string): Problem {
  return new Problem(
    "encoding-unsupported",
    `Expected a body without Content-Encoding, got "${encoding.slice(0, 64)}".`,
    { headers: { "accept-encoding": IDENTITY } },
  );
}

function tooLarge(): Problem {
  return new Problem("body-too-large", `The body exceeds ${BODY_LIMIT_BYTES} bytes.`);
}
