import fc from "fast-check";
import { type Address, domainSeparator, type Hex, keccak256, recoverTypedDataAddress } from "viem";
import { describe, expect, test } from "vitest";
import {
  type VerdictMessage,
  verdictDigest,
  verdictLifeSeconds,
  verdictMessage,
  verdictTypedData,
} from "../../../service/chain/verdict-codec.ts";
import vectors from "../../golden/verdict-eip712.json" with { type: "json" };

const evaluator = { chainId: vectors.chainId, address: vectors.verifyingContract as Address };
const verdict: VerdictMessage = {
  escrow: "0x52908400098527886E0F7030069857D2E4169EE7",
  jobId: 7n,
  deliverable: keccak256("0x01"),
  specHash: keccak256("0x02"),
  decision: 1,
  score: 84,
  confidenceBps: 8_600,
  evidenceHash: keccak256("0x03"),
  issuedAt: 1_790_000_000n,
  deadline: 1_790_086_400n,
};

describe("golden vectors", () => {
  test("the domain separator is the contract's", () => {
    const { domain } = verdictTypedData(evaluator, verdict);
    expect(domainSeparator({ domain })).toBe(vectors.domainSeparator);
  });

  test.each(vectors.cases)(
    "the digest of $name is the contract's and its signature recovers",
    async (vector) => {
      const message = verdictMessage(fromVector(vector));
      expect(verdictDigest(evaluator, message)).toBe(vector.digest);
      const signature = vector.signature as Hex;
      const typed = verdictTypedData(evaluator, message);
      expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(vectors.signer);
    },
  );
});

test("an address in lower case is the same verdict", () => {
  const lower = { ...verdict, escrow: verdict.escrow.toLowerCase() as Address };
  expect(verdictMessage(lower)).toEqual(verdict);
});

test.each<[string, Partial<VerdictMessage>]>([
  ["decision: expected 1 to 3, got 0", { decision: 0 }],
  ["decision: expected 1 to 3, got 4", { decision: 4 }],
  ["score: expected 0 to 100, got 101", { score: 101 }],
  ["confidenceBps: expected 0 to 10000, got 10001", { confidenceBps: 10_001 }],
  ["jobId: expected 0 to ", { jobId: -1n }],
  ["jobId: expected 0 to ", { jobId: 2n ** 256n }],
  ["issuedAt: expected 1 to ", { issuedAt: 0n }],
  ["deadline: expected 1790000000 to 1790086400, got 1790086401", { deadline: 1_790_086_401n }],
  ["deadline: expected 1790000000 to 1790086400, got 1789999999", { deadline: 1_789_999_999n }],
  ["specHash: expected 32 bytes of hex, got 0x01", { specHash: "0x01" }],
  ["deliverable: expected 32 bytes of hex, got 0x", { deliverable: "0x" }],
  ["evidenceHash: expected 32 bytes of hex", { evidenceHash: "work" as Hex }],
])("refuses what no evaluator would take: %s", (message, change) => {
  expect(() => verdictMessage({ ...verdict, ...change })).toThrow(message);
});

test("two verdicts that differ in anything, or in what they are signed for, have different digests", () => {
  const changed: Partial<VerdictMessage>[] = [
    { escrow: evaluator.address },
    { jobId: 8n },
    { deliverable: verdict.specHash },
    { specHash: verdict.deliverable },
    { decision: 2 },
    { score: 85 },
    { confidenceBps: 8_601 },
    { evidenceHash: verdict.specHash },
    { issuedAt: verdict.issuedAt + 1n },
    { deadline: verdict.deadline - 1n },
  ];
  const digests = [
    ...changed.map((change) => verdictDigest(evaluator, { ...verdict, ...change })),
    verdictDigest(evaluator, verdict),
    verdictDigest({ ...evaluator, chainId: 8453 }, verdict),
    verdictDigest({ ...evaluator, address: verdict.escrow }, verdict),
  ];
  expect(new Set(digests).size).toBe(13);
});

test("every deadline within the life of a verdict is accepted", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, verdictLifeSeconds), fc.bigInt(1n, 2n ** 40n), (life, issuedAt) => {
      const message = { ...verdict, issuedAt, deadline: issuedAt + life };
      expect(verdictMessage(message)).toEqual(message);
    }),
  );
});

function fromVector(vector: (typeof vectors.cases)[number]): VerdictMessage {
  return {
    escrow: vector.escrow as Address,
    jobId: BigInt(vector.jobId),
    deliverable: vector.deliverable as Hex,
    specHash: vector.specHash as Hex,
    decision: vector.decision,
    score: vector.score,
    confidenceBps: vector.confidenceBps,
    evidenceHash: vector.evidenceHash as Hex,
    issuedAt: BigInt(vector.issuedAt),
    deadline: BigInt(vector.deadline),
  };
}
