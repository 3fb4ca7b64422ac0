import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { gatewayUrl, isContentOf, readIpfsUri } from "../../../../service/registries/documents/ipfs-uri.ts";

const DIGEST = createHash("sha256").update("{}").digest();
const V0 = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
const V1 = "bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
const RAW_HEX = `f01551220${DIGEST.toString("hex")}`;
const GRAPH_HEX = `f01701220${DIGEST.toString("hex")}`;

test.each([
  [`ipfs://${V0}`, `https://g.example/ipfs/${V0}`],
  [`IPFS://${V1}`, `https://g.example/ipfs/${V1}`],
  [`ipfs://${V1}/`, `https://g.example/ipfs/${V1}`],
  [`ipfs://${V1}/agent.json`, `https://g.example/ipfs/${V1}/agent.json`],
  [`ipfs://${V0}/my%20agents/%C3%A4.json`, `https://g.example/ipfs/${V0}/my%20agents/%C3%A4.json`],
  [`ipfs://${GRAPH_HEX}`, `https://g.example/ipfs/${GRAPH_HEX}`],
  [`ipfs://${RAW_HEX}`, `https://g.example/ipfs/${RAW_HEX}`],
])("%s is asked for at %s", (uri, url) => {
  const file = readIpfsUri(uri);
  expect(file === null ? null : gatewayUrl("https://g.example/", file)).toBe(url);
});

test.each([
  ["no CID", "ipfs://"],
  ["a CID that is none", "ipfs://bafy/agent.json"],
  ["a CID of another length", `ipfs://${V0}x`],
  ["a character that base58 has not", `ipfs://${V0.slice(0, -1)}0`],
  ["base32 in capitals", `ipfs://${V1.toUpperCase()}`],
  ["base58 of version 1", "ipfs://zdj7WWeQ43G6JJvLWQWZpyHuAMq6uYWRjkBXFad11vE2LHhQ7"],
  ["a digest that is too short", `ipfs://${RAW_HEX.slice(0, -2)}`],
  ["a digest that is too long", `ipfs://${RAW_HEX}00`],
  ["half a byte", `ipfs://${RAW_HEX}0`],
  ["another version", `ipfs://f02551220${DIGEST.toString("hex")}`],
  ["a varint without an end", `ipfs://f01ffffffffff20${DIGEST.toString("hex")}`],
  ["the legacy folder", `ipfs://ipfs/${V0}`],
  ["a host", `ipfs://${V0}@evil.example/`],
  ["a port", `ipfs://${V0}:80/a`],
  ["a query", `ipfs://${V1}/a?format=car`],
  ["a fragment", `ipfs://${V1}/a#b`],
  ["the folder above", `ipfs://${V1}/../${V0}`],
  ["the folder above, escaped", `ipfs://${V1}/%2e%2e/secret`],
  ["the folder itself", `ipfs://${V1}/./a`],
  ["an escaped slash", `ipfs://${V1}/..%2fsecret`],
  ["an escaped query", `ipfs://${V1}/a%3Fb`],
  ["something escaped twice", `ipfs://${V1}/%252e%252e/a`],
  ["a backslash", `ipfs://${V1}/a\\b`],
  ["a control character", `ipfs://${V1}/a%0d%0ab`],
  ["an empty segment", `ipfs://${V1}//a`],
  ["a percent sign that escapes nothing", `ipfs://${V1}/a%`],
  ["a folder too deep", `ipfs://${V1}${"/a".repeat(17)}`],
  ["another scheme", `https://${V1}/a`],
])("%s is refused", (_, uri) => {
  expect(readIpfsUri(uri)).toBeNull();
});

test("the bytes of a single block are held against its CID, and no others", () => {
  const isContent = (uri: string, text: string) => {
    const file = readIpfsUri(uri);
    return file !== null && isContentOf(file, Buffer.from(text));
  };
  expect([isContent(`ipfs://${RAW_HEX}`, "{}"), isContent(`ipfs://${RAW_HEX}`, "{ }")]).toEqual([
    true,
    false,
  ]);
  expect([isContent(`ipfs://${GRAPH_HEX}`, "x"), isContent(`ipfs://${V0}`, "x")]).toEqual([true, true]);
});
