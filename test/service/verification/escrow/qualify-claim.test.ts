import { type Hex, zeroAddress } from "viem";
import { describe, expect, it } from "vitest";
import { qualifyClaim, specHashesIn } from "../../../../service/verification/escrow/bind-spec.ts";

const CLIENT = "0x00000000000000000000000000000000000000c1";
const PROVIDER = "0x00000000000000000000000000000000000000a9";
const STRANGER = "0x00000000000000000000000000000000000000ee";
const HASH: Hex = `0x${"ab".repeat(32)}`;
const OTHER: Hex = `0x${"cd".repeat(32)}`;

const claim = {
  specHash: HASH,
  clientAddr: CLIENT,
  providerAddr: null,
  clientSignature: null,
  registeredBlock: 10n,
} as const;
const signed = { ...claim, clientSignature: "0x01" } as const;
const job = { client: CLIENT, provider: PROVIDER, description: `Translate. ahs-spec:${HASH}` } as const;
const silent = { ...job, description: "Translate." };

describe("a specification qualifies by the job's description", () => {
  it("that names its hash, whenever it was registered", () => {
    expect(qualifyClaim({ ...claim, registeredBlock: 99n }, job, 20n)).toEqual({ kind: "named" });
    expect(qualifyClaim({ ...claim, registeredBlock: null }, job, 20n)).toEqual({ kind: "named" });
    expect(qualifyClaim({ ...claim, providerAddr: PROVIDER }, job, null)).toEqual({ kind: "named" });
  });

  it.each([
    ["another hash", claim, { ...job, description: `ahs-spec:${OTHER}` }],
    ["another hash, whatever the client signed", signed, { ...job, description: `ahs-spec:${OTHER}` }],
    ["two hashes", claim, { ...job, description: `ahs-spec:${HASH} ahs-spec:${OTHER}` }],
    [
      "two hashes, whatever the client signed",
      signed,
      { ...job, description: `ahs-spec:${HASH} ahs-spec:${OTHER}` },
    ],
  ])("but not by one that names %s", (_, given, of) => {
    expect(qualifyClaim(given, of, null).kind).toBe("refused");
  });
});

describe("a specification qualifies by the client's signature", () => {
  it("where it was registered before the first submission, or nothing was submitted", () => {
    expect(qualifyClaim(signed, silent, null)).toEqual({ kind: "by_signature" });
    expect(qualifyClaim(signed, silent, 11n)).toEqual({ kind: "by_signature" });
  });

  it.each([
    ["in the block of the submission", signed, 10n],
    ["after the submission", signed, 9n],
    ["at an unknown block", { ...signed, registeredBlock: null }, null],
    ["without a signature", claim, null],
  ])("but not where it was registered %s", (_, given, firstSubmittedBlock) => {
    expect(qualifyClaim(given, silent, firstSubmittedBlock).kind).toBe("refused");
  });
});

it.each([
  ["another client", { ...claim, clientAddr: STRANGER }, job],
  ["another provider", { ...claim, providerAddr: STRANGER }, job],
  [
    "a provider where the job has none yet",
    { ...claim, providerAddr: PROVIDER },
    { ...job, provider: zeroAddress },
  ],
] as const)("a specification that names %s does not qualify", (_, given, of) => {
  expect(qualifyClaim(given, of, null).kind).toBe("refused");
  expect(qualifyClaim({ ...given, clientSignature: "0x01" }, { ...of, description: "" }, null).kind).toBe(
    "refused",
  );
});

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
