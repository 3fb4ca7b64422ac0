import fc from "fast-check";
import {
  type Address,
  domainSeparator,
  getAddress,
  type Hex,
  hashTypedData,
  recoverTypedDataAddress,
} from "viem";
import { describe, expect, test } from "vitest";
import {
  decodeSafeAmount,
  decodeView,
  encodeSafeAmount,
  gradeOf,
  modelVersionCode,
  modelVersionName,
  type OracleMessage,
  type OracleScore,
  type OracleTimes,
  packRecord,
  packScore,
  scoreMessage,
  scoreTypedData,
  unpackRecord,
  unpackScore,
} from "../../../service/chain/oracle-codec.ts";
import eip712 from "../../golden/oracle-eip712.json" with { type: "json" };
import packing from "../../golden/oracle-packing.json" with { type: "json" };

const wallet = "0x52908400098527886E0F7030069857D2E4169EE7";
const score: OracleScore = {
  wallet,
  outcome: { kind: "scored", ahsScore: 88, d1Score: 91, d2Score: 87 },
  confidenceBps: 9_000,
  sanctioned: false,
  modelVersion: "AHS-2026.0",
  safeMicroUsd: 1_500_000_000n,
};
const times: OracleTimes = { asOf: 45_000_000n, asOfTime: 1_790_000_000n, validUntil: 1_790_172_800n };
const letters = [null, "A", "B", "C", "D", "E", "F"] as const;

describe("golden vectors", () => {
  test.each(packing.cases)(
    "the word and the record of $name are those that the contract accepts",
    (vector) => {
      const { score, times } = fromVector(vector);
      expect(packScore(score)).toBe(vector.word);
      expect(unpackScore(vector.word as Hex)).toEqual(score);
      expect(packRecord({ ...score, ...times })).toBe(vector.record);
      const { wallet: _, ...fields } = score;
      expect(unpackRecord(vector.record as Hex)).toEqual({
        ...fields,
        ...times,
        grade: letters[vector.grade],
      });
    },
  );

  test("every score has the grade that the contract derives", () => {
    expect(packing.grades.map((code) => letters[code])).toEqual(
      packing.grades.map((_, points) => gradeOf(points)),
    );
  });

  const oracle = { chainId: eip712.chainId, address: eip712.verifyingContract as Address };

  test("the domain separator is the contract's", () => {
    const { domain } = scoreTypedData(oracle, scoreMessage(score, times));
    expect(domainSeparator({ domain })).toBe(eip712.domainSeparator);
  });

  test.each(eip712.cases)(
    "the digest of $name is the contract's and its signature recovers",
    async (vector) => {
      const { score, times } = fromVector(vector);
      const typed = scoreTypedData(oracle, scoreMessage(score, times));
      expect(hashTypedData(typed)).toBe(vector.digest);
      const signature = vector.signature as Hex;
      expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(eip712.signer);
    },
  );
});

describe("safe amounts", () => {
  const anyAmount = fc.bigInt({ min: 0n, max: 50_000_000_000_000_000n });
  const greatest = 2047n << 31n;

  test.each(packing.safeAmounts)(
    "code $code stands for $microUsd as in the contract",
    ({ code, microUsd }) => {
      expect(decodeSafeAmount(code)).toBe(BigInt(microUsd));
      expect(encodeSafeAmount(BigInt(microUsd))).toBe(code);
    },
  );

  test("a code never stands for more than the amount, and for at most 1/1024 less above 10.24 USD", () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        const decoded = decodeSafeAmount(encodeSafeAmount(amount));
        expect(decoded).toBeLessThanOrEqual(amount);
        if (amount >= 10_240_000n && amount <= greatest * 10_000n)
          expect((amount - decoded) * 1024n).toBeLessThan(amount);
        else if (amount < 10_240_000n) expect(amount - decoded).toBeLessThan(10_000n);
      }),
    );
  });

  test("a greater amount never has a lesser code", () => {
    fc.assert(
      fc.property(anyAmount, anyAmount, (one, other) => {
        const [less, more] = one < other ? [one, other] : [other, one];
        expect(encodeSafeAmount(less)).toBeLessThanOrEqual(encodeSafeAmount(more));
      }),
    );
  });

  test("every amount has one code, and every other code is refused", () => {
    for (let code = 0; code <= 0xffff; code += 1) {
      if (code >> 11 > 0 && (code & 0x7ff) < 1024)
        expect(() => decodeSafeAmount(code)).toThrow(/mantissa of 1024 or more/);
      else expect(encodeSafeAmount(decodeSafeAmount(code))).toBe(code);
    }
  });

  test("an amount beyond the greatest is stored as the greatest, a negative one is refused", () => {
    expect(decodeSafeAmount(encodeSafeAmount(1n << 100n))).toBe(greatest * 10_000n);
    expect(() => encodeSafeAmount(-1n)).toThrow(/zero or more, got -1/);
  });

  test("a word of AHS-2026.1, whose low bits are zero, has none", () => {
    const word = BigInt(packScore({ ...score, modelVersion: "AHS-2026.1" })) & ~0xffffffffn;
    expect(unpackScore(`0x${word.toString(16)}`)).toMatchObject({ safeMicroUsd: 0n });
  });
});

test("a word holds the fields where the layout puts them", () => {
  expect(packScore(score)).toBe(
    `0x${wallet.slice(2).toLowerCase()}${"58"}${"5b"}${"57"}${"2328"}${"00"}${"4f24"}${"3c93"}${"0000"}`,
  );
});

test("a word is read back as it was packed", () => {
  fc.assert(
    fc.property(anyScore, (some) => {
      expect(unpackScore(packScore(some))).toEqual(some);
    }),
  );
});

test("a record is read back as it was packed", () => {
  fc.assert(
    fc.property(anyScore, anyTimes, ({ wallet: _, ...fields }, times) => {
      const record = unpackRecord(packRecord({ ...fields, ...times }));
      const grade = fields.outcome.kind === "scored" ? gradeOf(fields.outcome.ahsScore) : null;
      expect(record).toEqual({ ...fields, ...times, grade });
    }),
  );
});

test("an empty or invalidated slot holds no record", () => {
  expect(unpackRecord(`0x${"0".repeat(64)}`)).toBeNull();
  expect(unpackRecord(`0x${"0".repeat(28)}000002aea540${"0".repeat(24)}`)).toBeNull();
});

test.each([
  [
    "a score above 100",
    { outcome: { kind: "scored", ahsScore: 101, d1Score: 0, d2Score: 0 } },
    /ahsScore.*101/,
  ],
  ["a fraction", { outcome: { kind: "scored", ahsScore: 1, d1Score: 0.5, d2Score: 0 } }, /d1Score.*0\.5/],
  ["a negative score", { outcome: { kind: "scored", ahsScore: 1, d1Score: 1, d2Score: -1 } }, /d2Score.*-1/],
  ["a confidence above 10,000", { confidenceBps: 10_001 }, /confidenceBps.*10001/],
  ["a safe amount of a sanctioned wallet", { sanctioned: true }, /sanctioned wallet: expected 0, got 15/],
  ["a negative safe amount", { safeMicroUsd: -1n }, /got -1/],
  ["the zero address", { wallet: "0x0000000000000000000000000000000000000000" }, /zero address/],
  ["a wrong checksum", { wallet: "0x52908400098527886E0F7030069857D2E4169Ee7" }, /expected an address/],
  ["an unknown model version", { modelVersion: "AHS-26.0" }, /AHS-26\.0/],
  [
    "a sanctioned wallet without a score",
    { sanctioned: true, safeMicroUsd: 0n, outcome: { kind: "insufficient" } },
    /never insuff/,
  ],
] as const)("%s is refused", (_, change, message) => {
  expect(() => packScore({ ...score, ...(change as Partial<OracleScore>) })).toThrow(message);
});

test.each([
  ["reserved bits", 0n, /last 16 bits/],
  ["a safe amount with another code", (1n << 27n) | (1_023n << 16n), /mantissa.*got 1023/],
  ["a safe amount of a sanctioned wallet", (1n << 48n) | (1n << 16n), /expected 0, got 1/],
  ["unknown flags", 4n << 48n, /flags 4/],
  ["a score above 100", 101n << 88n, /ahsScore.*101/],
  ["an insufficient record that carries a score", (2n << 48n) | (1n << 72n), /must not carry/],
])("a word with %s is refused", (_, bits, message) => {
  const base = BigInt(wallet) << 96n;
  const word = base | bits | (20_260n << 32n) | (bits === 0n ? 1n : 0n);
  expect(() => unpackScore(`0x${word.toString(16).padStart(64, "0")}`)).toThrow(message);
});

test("a record whose grade is not that of its score is refused", () => {
  const word = BigInt(packRecord({ ...score, ...times })) ^ (1n << 168n);
  expect(() => unpackRecord(`0x${word.toString(16)}`)).toThrow(/grade/);
});

test("a word of another length is refused", () => {
  expect(() => unpackScore("0x00")).toThrow(/32 bytes/);
});

test("a score may be signed for at most 48 hours", () => {
  expect(() => scoreMessage(score, { ...times, validUntil: times.validUntil + 1n })).toThrow(/48 hours/);
  expect(scoreMessage(score, times).validUntil).toBe(times.validUntil);
});

test("a time that does not fit the slot is refused", () => {
  expect(() => packRecord({ ...score, ...times, asOf: 1n << 48n })).toThrow(/asOf/);
  expect(() => packRecord({ ...score, ...times, asOfTime: 0n })).toThrow(/asOfTime/);
});

test("the struct of scoreOf is read as a record, or as none", () => {
  const message = scoreMessage(score, times);
  const safeAmount = score.safeMicroUsd;
  const view = {
    ...message,
    safeAmount,
    exists: true,
    grade: 2,
    sanctioned: false,
    insufficient: false,
    age: 5n,
  };
  const { wallet: _, ...fields } = score;
  expect(decodeView(view)).toEqual({ ...fields, ...times, grade: "B" });
  expect(decodeView({ ...view, exists: false })).toBeNull();
});

test("model versions and their codes name each other", () => {
  for (const [version, code] of [
    ["AHS-2026.0", 20_260],
    ["AHS-2026.1", 20_261],
    ["AHS-2026.2", 20_262],
  ] as const) {
    expect(modelVersionCode(version)).toBe(code);
    expect(modelVersionName(code)).toBe(version);
  }
  expect(() => modelVersionCode("AHS-9999.9")).toThrow(/99999/);
});

const points = fc.integer({ min: 0, max: 100 });
const anyOutcome = fc.oneof(
  fc.record({ kind: fc.constant("scored" as const), ahsScore: points, d1Score: points, d2Score: points }),
  fc.constant({ kind: "insufficient" as const }),
);
const anyScore: fc.Arbitrary<OracleScore> = fc
  .record({
    wallet: fc
      .bigInt({ min: 1n, max: (1n << 160n) - 1n })
      .map((bits) => getAddress(`0x${bits.toString(16).padStart(40, "0")}`)),
    outcome: anyOutcome,
    confidenceBps: fc.integer({ min: 0, max: 10_000 }),
    sanctioned: fc.boolean(),
    modelVersion: fc.integer({ min: 0, max: 65_535 }).map(modelVersionName),
    safeMicroUsd: fc
      .bigInt({ min: 0n, max: 1n << 60n })
      .map((amount) => decodeSafeAmount(encodeSafeAmount(amount))),
  })
  .map((some) => {
    const sanctioned = some.sanctioned && some.outcome.kind === "scored";
    return { ...some, sanctioned, safeMicroUsd: sanctioned ? 0n : some.safeMicroUsd };
  });
const any48 = fc.bigInt({ min: 1n, max: (1n << 48n) - 1n });
const anyTimes: fc.Arbitrary<OracleTimes> = fc.record({ asOf: any48, asOfTime: any48, validUntil: any48 });

type Vector = { readonly [Key in keyof OracleMessage]: Key extends "wallet" ? string : number };

function fromVector(vector: Vector): { score: OracleScore; times: OracleTimes } {
  const { score: ahsScore, d1: d1Score, d2: d2Score, flags } = vector;
  return {
    score: {
      wallet: vector.wallet as Address,
      outcome: flags === 2 ? { kind: "insufficient" } : { kind: "scored", ahsScore, d1Score, d2Score },
      confidenceBps: vector.confidence,
      sanctioned: flags === 1,
      modelVersion: modelVersionName(vector.modelVersion),
      safeMicroUsd: decodeSafeAmount(vector.safe),
    },
    times: {
      asOf: BigInt(vector.asOf),
      asOfTime: BigInt(vector.asOfTime),
      validUntil: BigInt(vector.validUntil),
    },
  };
}
