import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeDataUri } from "../../../service/net/decode-data-uri.ts";

const MAX_BYTES = 65_536;

function decoded(uri: string): { mediaType: string; text: string } | string {
  const result = decodeDataUri(uri);
  if (result.kind === "failed") return result.reason;
  return { mediaType: result.mediaType, text: Buffer.from(result.body).toString("utf8") };
}

test.each([
  ["data:,agent", { mediaType: "text/plain", text: "agent" }],
  ["DATA:Text/HTML,a", { mediaType: "text/html", text: "a" }],
  ["data:application/json;base64,eyJhIjoxfQ==", { mediaType: "application/json", text: '{"a":1}' }],
  [
    "data:application/json;charset=utf-8;BASE64,eyJhIjoxfQ",
    { mediaType: "application/json", text: '{"a":1}' },
  ],
  ["data:application/json;base64,eyJh IjoxfQ%3D%3D", { mediaType: "application/json", text: '{"a":1}' }],
  ["data:application/json,%7B%22a%22:1%7d", { mediaType: "application/json", text: '{"a":1}' }],
  ['data:application/json;utf8,{"a":"#1, é"}', { mediaType: "application/json", text: '{"a":"#1, é"}' }],
  ["data:,100%,%zz%4", { mediaType: "text/plain", text: "100%,%zz%4" }],
  ["data:;base64,", { mediaType: "text/plain", text: "" }],
])("%s", (uri, expected) => {
  expect(decoded(uri)).toEqual(expected);
});

test.each([
  ["https://example.com/", "not_a_data_uri"],
  ["", "not_a_data_uri"],
  ["data:", "malformed"],
  ["data:text/plain;base64", "malformed"],
  ["data:;base64,a", "malformed"],
  ["data:;base64,ab=c", "malformed"],
  ["data:;base64,<html>", "malformed"],
  [`data:${"x".repeat(1_100)},a`, "malformed"],
])("%s is refused", (uri, reason) => {
  expect(decoded(uri)).toBe(reason);
});

test("64 KiB of content are taken and one byte more is too large, in every encoding", () => {
  const encodings = [
    (bytes: Buffer) => `data:,${bytes.toString("latin1")}`,
    (bytes: Buffer) => `data:,${bytes.toString("hex").replace(/../g, "%$&")}`,
    (bytes: Buffer) => `data:application/octet-stream;base64,${bytes.toString("base64")}`,
  ];
  for (const encode of encodings) {
    expect(decodeDataUri(encode(Buffer.alloc(MAX_BYTES, "a"))).kind).toBe("decoded");
    expect(decoded(encode(Buffer.alloc(MAX_BYTES + 1, "a")))).toBe("too_large");
  }
  expect(decoded(`data:,${"a".repeat(50_000_000)}`)).toBe("too_large");
});

test("any bytes come back from either encoding", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const content = Buffer.from(bytes);
      for (const uri of [
        `data:a/b;base64,${content.toString("base64")}`,
        `data:a/b,${content.toString("hex").replace(/../g, "%$&")}`,
      ]) {
        const result = decodeDataUri(uri);
        expect(result.kind === "decoded" && content.equals(result.body)).toBe(true);
      }
    }),
  );
});
