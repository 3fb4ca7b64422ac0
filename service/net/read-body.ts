import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { type FetchFailure, fetchFailure } from "./exchange.ts";

export type BodyLimits = {
  /** Most bytes received, and most bytes once decompressed. */
  readonly maxBytes: number;
  /** Whether the content encoding is undone; otherwise the bytes are given as they came. */
  readonly decompress: boolean;
};

type Body = { readonly kind: "body"; readonly bytes: Uint8Array };

const DECODERS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
} as const;

/**
 * Reads the body of an answer up to the limits; bytes are counted as they arrive and again as they are decompressed, so
 * that neither an endless body nor a bomb is ever held. Rejects with the stream's error when the connection breaks.
 */
export async function readBody(answer: IncomingMessage, limits: BodyLimits): Promise<Body | FetchFailure> {
  const received = counted(answer, limits.maxBytes);
  const encoding = answer.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (!limits.decompress || encoding === "identity") return toBody(await gather(received));
  if (!isKnown(encoding)) return fetchFailure("malformed_answer");
  const compressed = await gather(received);
  return compressed === null ? fetchFailure("too_large") : decompress(compressed, encoding, limits.maxBytes);
}

async function decompress(
  compressed: Uint8Array,
  encoding: keyof typeof DECODERS,
  maxBytes: number,
): Promise<Body | FetchFailure> {
  // An answer without a body, as to HEAD, has nothing to undo.
  if (compressed.length === 0) return { kind: "body", bytes: compressed };
  const decoder = DECODERS[encoding]();
  decoder.end(compressed);
  try {
    return toBody(await gather(counted(decoder, maxBytes)));
  } catch {
    // Whatever the decoder complains of, the bytes are not what their header says.
    return fetchFailure("malformed_answer");
  }
}

function isKnown(encoding: string): encoding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, encoding);
}

/** ended: the answer was no longer. */
type Start = { readonly bytes: Uint8Array; readonly ended: boolean };

/**
 * The first bytes of an answer, as they come: at most so many, and of an event stream no more than its first event, since
 * such a stream need not end. Rejects with the stream's error when the connection breaks before.
 */
export async function readStart(answer: IncomingMessage, maxBytes: number): Promise<Start> {
  const isEventStream = /^text\/event-stream\b/i.test(answer.headers["content-type"]?.trim() ?? "");
  const endsEvent = eventWatcher();
  const kept: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    kept.push(chunk);
    length += chunk.length;
    if (length >= maxBytes || (isEventStream && endsEvent(chunk))) {
      return { bytes: Buffer.concat(kept).subarray(0, maxBytes), ended: false };
    }
  }
  return { bytes: Buffer.concat(kept), ended: true };
}

/** Says of each chunk whether the first event with data ends in it; looks at every byte once. */
function eventWatcher(): (chunk: Buffer) => boolean {
  let tail = "";
  let hasData = false;
  return (chunk) => {
    let text = tail + chunk.toString("latin1");
    if (!hasData) {
      const at = text.indexOf("data:");
      hasData = at !== -1;
      text = hasData ? text.slice(at) : text;
    }
    tail = text.slice(-4);
    return hasData && /\n\n|\r\r|\r\n\r\n/.test(text);
  };
}

/** Chunks as long as they fit, and null once they do not; leaving the loop destroys the stream. */
async function* counted(stream: Readable, maxBytes: number): AsyncGenerator<Buffer | null> {
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) {
      yield null;
      return;
    }
    yield chunk;
  }
}

async function gather(chunks: AsyncIterable<Buffer | null>): Promise<Uint8Array | null> {
  const kept: Buffer[] = [];
  for await (const chunk of chunks) {
    if (chunk === null) return null;
    kept.push(chunk);
  }
  return Buffer.concat(kept);
}

function toBody(bytes: Uint8Array | null): Body | FetchFailure {
  return bytes === null ? fetchFailure("too_large") : { kind: "body", bytes };
}
