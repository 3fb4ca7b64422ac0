import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeFrames, encodeFrame, type Frame, type FrameKind } from "../../../service/db/table-file.ts";

const kind = fc.constantFrom<FrameKind>("begin", "table", "rows", "end", "whole");
const frames = fc.array(fc.record({ kind, payload: fc.uint8Array({ maxLength: 40 }) }), { maxLength: 8 });

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

test("reads frames as they were written, from chunks of any size", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.integer({ min: 1, max: 60 }), async (written, size) => {
      const expected = written.map(({ kind, payload }) => ({ kind, payload: Buffer.from(payload) }));
      const bytes = Buffer.concat(expected.map(({ kind, payload }) => encodeFrame(kind, payload)));
      const read: Frame[] = [];
      for await (const frame of decodeFrames(pieces(bytes, size))) read.push(frame);
      expect(read).toEqual(expected);
    }),
  );
});
