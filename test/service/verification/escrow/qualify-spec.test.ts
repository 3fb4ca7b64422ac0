import { type Hex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { qualifySpec, specHashesIn } from "../../../../service/verification/escrow/bind-spec.ts";

const CLIENT = "0x00000000000000000000000000000000000000c1";
const PROVIDER = "0x00000000000000000000000000000000000000a9";
const STRANGER = "0x00000000000000000000000000000000000000ee";
const HASH: Hex = `0x${"ab".repeat(32)}`;
const OTHER: Hex = `0x${"cd".repeat(32)}`;

const spec = {
  specHash: HASH,
  clientAddr: CLIENT,
  providerAddr: null,
  clientSignature: null,
  registeredBlock: 10n,
} as const;
const signed = { ...spec, clientSignature: "0x01" } as const;
const job = { client: CLIENT, provider: PROVIDER, description: `Translate. ahs-spec:${HASH}` } as const;
const silent = { ...job, description: "Translate." };
const both = { ...job, description: `ahs-spec:${HASH} ahs-spec:${OTHER}` };

describe("a specification qualifies by the job's description", () => {
  it("that names its hash, whenever it was registered", () => {
    expect(qualifySpec({ ...spec, registeredBlock: 99n }, job, 20n)).toEqual({ kind: "named" });
    expect(qualifySpec({ ...spec, registeredBlock: null }, job, 20n)).toEqual({ kind: "named" });
    expect(qualifySpec({ ...spec, providerAddr: PROVIDER }, job, null)).toEqual({ kind: "named" });
  });

  it.each([
    ["another hash", spec, { ...job, description: `ahs-spec:${OTHER}` }],
    ["another hash, whatever the client signed", signed, { ...job, description: `ahs-spec:${OTHER}` }],
    ["two hashes", spec, both],
    ["two hashes, whatever the client signed", signed, both],
  ])("but not by one that names %s", (_, given, of) => {
    expect(qualifySpec(given, of, null).kind).toBe("refused");
  });
});

describe("a specification qualifies by the client's signature", () => {
  it("where it was registered before the first submission, or nothing was submitted", () => {
    expect(qualifySpec(signed, silent, null)).toEqual({ kind: "by_signature" });
    expect(qualifySpec(signed, silent, 11n)).toEqual({ kind: "by_signature" });
  });

  it.each([
    ["in the block of the submission", signed, 10n],
    ["after the submission", signed, 9n],
    ["at an unknown block", { ...signed, registeredBlock: null }, null],
    ["without a signature", spec, null],
  ])("but not where it was registered %s", (_, given, firstSubmittedBlock) => {
    expect(qualifySpec(given, silent, firstSubmittedBlock).kind).toBe("refused");
  });
});

it.each([
  ["another client", { ...spec, clientAddr: STRANGER }, job],
  ["another provider", { ...spec, providerAddr: STRANGER }, job],
  ["a provider too early", { ...spec, providerAddr: PROVIDER }, { ...job, provider: zeroAddress }],
] as const)("a specification that names %s does not qualify", (_, given, of) => {
  expect(qualifySpec(given, of, null).kind).toBe("refused");
  const bySignature = { ...given, clientSignature: "0x01" } as const;
  expect(qualifySpec(bySignature, { ...of, description: "" }, null).kind).toBe("refused");
});

it.each([
  ["alone", `ahs-spec:${HASH}`, [HASH]],
  ["inside a text", `Translate it. (ahs-spec:${HASH}) Thanks.`, [HASH]],
  ["before a full stop", `ahs-spec:${HASH}.`, [HASH]],
  ["in capitals", `ahs-spec:0x${"AB".repeat(32)}`, [HASH]],
  ["after a doubled 0x", `ahs-spec:0x${HASH}`, [HASH]],
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
])("finds the expected hashes where one is %s", (_, description, hashes) => {
  expect(specHashesIn(description)).toEqual(hashes);
});
