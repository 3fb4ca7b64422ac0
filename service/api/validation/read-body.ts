import type { HonoRequest } from "hono";
import { Problem } from "../problems.ts";

/** Bytes of a request body that the service is willing to hold. */
export const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

/** The body as text; throws a 413 problem beyond the limit, without reading more than that, and a 408 where it never ends. */
export async function readBody(request: HonoRequest): Promise<string> {
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
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function tooLarge(): Problem {
  return new Problem("body-too-large", `The body exceeds ${BODY_LIMIT_BYTES} bytes.`);
}
