import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { RefusedList } from "../../../service/sanctions/list-file.ts";
import { unpackList } from "../../../service/sanctions/unpack-list.ts";
import { bytesOf } from "./sdn-file.ts";

const TEXT = "<Sanctions/>".repeat(1_000);

async function unpacked(bytes: AsyncIterable<Uint8Array>, maxBytes = 1_000_000): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of unpackList(bytes, maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("a list", () => {
  test.each([
    ["as it is", Buffer.from(TEXT), 1_024],
    ["as gzip", gzipSync(TEXT), 1_024],
    ["as gzip, byte by byte", gzipSync(TEXT), 1],
    [
      "as two gzips, one after the other",
      Buffer.concat([gzipSync(TEXT.slice(0, 500)), gzipSync(TEXT.slice(500))]),
      100,
    ],
  ])("is read %s", async (_name, bytes, size) => {
    expect(await unpacked(bytesOf(bytes, size))).toBe(TEXT);
  });

  test.each([0, 1])("of %s bytes is no mistake of its reader", async (length) => {
    expect(await unpacked(bytesOf("<".repeat(length)))).toBe("<".repeat(length));
  });

  test.each([
    ["a truncated gzip", gzipSync(TEXT).subarray(0, -9), /broken or truncated/],
    ["a gzip with a flipped bit", flipped(gzipSync(TEXT)), /broken or truncated/],
    ["a zip archive", Buffer.from("PK\u0003\u0004rest"), /zip archive/],
    [
      "a gzip that unpacks to more than allowed",
      gzipSync("x".repeat(2_000_000)),
      /longer than 1000000 bytes/,
    ],
    ["a text that is longer than allowed", Buffer.from("x".repeat(1_000_001)), /longer than 1000000 bytes/],
  ])("is refused as %s", async (_name, bytes, reason) => {
    const reading = unpacked(bytesOf(bytes));
    await expect(reading).rejects.toThrow(RefusedList);
    await expect(reading).rejects.toThrow(reason);
  });

  test.each([
    ["as it is", Buffer.from(TEXT)],
    ["as gzip", gzipSync(TEXT)],
  ])("that breaks off %s fails as its source does, and the source is let go", async (_name, bytes) => {
    let released = false;
    async function* broken() {
      try {
        yield bytes.subarray(0, 40);
        throw new Error("connection lost");
      } finally {
        released = true;
      }
    }
    await expect(unpacked(broken())).rejects.toThrow("connection lost");
    expect(released).toBe(true);
  });

  test("that is refused lets its source go", async () => {
    let released = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.from(TEXT);
      } finally {
        released = true;
      }
    }
    await expect(unpacked(endless())).rejects.toThrow("longer than");
    expect(released).toBe(true);
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[20] = (copy[20] ?? 0) ^ 0xff;
  return copy;
}
