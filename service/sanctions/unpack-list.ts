import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { RefusedList } from "./list-file.ts";

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZIP = Buffer.from("PK");

/**
 * Returns the text of a plain or gzip list, recognised by its first bytes. Throws a RefusedList if the text exceeds
 * `maxBytes`, the gzip is broken or truncated, or the file is a zip archive. Errors of the source pass through.
 */
export async function* unpackList(
  bytes: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]();
  try {
    const start = await firstBytes(source);
    if (start.subarray(0, ZIP.length).equals(ZIP))
      throw new RefusedList("it is a zip archive: unpack it first, or take the file itself");
    const whole = joined(start, source);
    yield* counted(start.subarray(0, GZIP.length).equals(GZIP) ? unzipped(whole) : whole, maxBytes);
  } finally {
    await source.return?.();
  }
}

/** As many chunks as it takes to have two bytes, or all there are. */
async function firstBytes(source: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  while (start.length < GZIP.length) {
    const next = await source.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* joined(start: Buffer, source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield start;
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
}

async function* unzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  // Its failure destroys the decoder, and so reaches the reader.
  const fed = pipeline(Readable.from(bytes), gunzip).catch((error: unknown) => error);
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    const cause = (await fed) ?? error;
    if (isZlibFault(cause)) throw new RefusedList("its gzip is broken or truncated", { cause });
    throw cause;
  } finally {
    gunzip.destroy();
  }
}

function isZlibFault(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith("Z_");
}

async function* counted(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > maxBytes) throw new RefusedList(`it is longer than ${maxBytes} bytes`);
    yield chunk;
  }
}
