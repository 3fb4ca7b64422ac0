import { expect, it } from "vitest";
import { specHashesIn } from "../../../../service/verification/escrow/spec-hashes.ts";

const HASH = `0x${"ab".repeat(32)}`;
const OTHER = `0x${"cd".repeat(32)}`;

it.each([
  ["alone", `ahs-spec:${HASH}`, [HASH]],
  ["inside a text", `Translate it. (ahs-spec:${HASH}) Thanks.`, [HASH]],
  ["before a full stop", `ahs-spec:${HASH}.`, [HASH]],
  ["in capitals", `ahs-spec:0x${"AB".repeat(32)}`, [HASH]],
  ["twice in different cases", `ahs-spec:${HASH} ahs-spec:0x${"AB".repeat(32)}`, [HASH]],
  ["as one of two", `ahs-spec:${HASH}\nahs-spec:${OTHER}`, [HASH, OTHER]],
  ["longer than a hash", `ahs-spec:${HASH}a`, []],
  ["followed by a letter", `ahs-spec:${HASH}z`, []],
  ["shorter than a hash", `ahs-spec:${HASH.slice(0, -1)}`, []],
  ["without 0x", `ahs-spec:${HASH.slice(2)}`, []],
  ["after other letters", `nahs-spec:${HASH}`, []],
  ["after a hyphen", `no-ahs-spec:${HASH}`, []],
  ["with a space", `ahs-spec: ${HASH}`, []],
  ["nowhere", "Translate it.", []],
])("a hash that stands %s is read as it should be", (_, description, hashes) => {
  expect(specHashesIn(description)).toEqual(hashes);
});
