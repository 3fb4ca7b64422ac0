/** begin: what the file is. table and end: of one table, around its rows as COPY text. whole: the last, which proves that none is missing. */
export type FrameKind = "begin" | "table" | "rows" | "end" | "whole";
export type Frame = { readonly kind: FrameKind; readonly payload: Buffer };

const KINDS: readonly FrameKind[] = ["begin", "table", "rows", "end", "whole"];
const HEAD_BYTES = 5;
/** No writer makes one as long: a longer one is a broken file, not a reason to take memory. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** One byte of kind, four of length, then the payload. */
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(KINDS.indexOf(kind), 0);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** Frames as they come; throws where the bytes are none, or end within one. */
export async function* decodeFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let frame = firstFrame(held); frame !== null; frame = firstFrame(held)) {
      held = held.subarray(HEAD_BYTES + frame.payload.length);
      yield frame;
    }
  }
  if (held.length > 0) throw new Error("the backup ends in the middle: it was cut off");
}

function firstFrame(bytes: Buffer): Frame | null {
  if (bytes.length < HEAD_BYTES) return null;
  const kind = KINDS[bytes.readUInt8(0)];
  const length = bytes.readUInt32BE(1);
  if (kind === undefined || length > MAX_PAYLOAD_BYTES)
    throw new Error("this is no backup of ours, or a broken one");
  if (bytes.length < HEAD_BYTES + length) return null;
  return { kind, payload: bytes.subarray(HEAD_BYTES, HEAD_BYTES + length) };
}
