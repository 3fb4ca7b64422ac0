import fc from "fast-check";
import { type Address, type Hex, numberToHex, parseTransaction } from "viem";
import { describe, expect, it } from "vitest";
import {
  holdingKey,
  type PassingCall,
  planRetries,
  type RetryPlanInput,
} from "../../../../service/reports/recovery/plan-retries.ts";
import type { TokenSpend } from "../../../../service/reports/recovery/read-swap.ts";
import { serializeUnsigned } from "../../../../service/reports/recovery/unsigned-transaction.ts";
import { failedCall, TARGET } from "../../api/routes/fake-recovery.ts";

const TOKEN: Address = "0x00000000000000000000000000000000000000a1";
const FEES = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n };

function passing(place: number, changes: Partial<PassingCall["intent"]> = {}, value = 0n): PassingCall {
  return {
    call: failedCall({ hash: numberToHex(place, { size: 32 }), block: place, value }),
    intent: {
      ...{ kind: "other", keys: [`call:${place}`], method: `method:${place}` },
      ...{ spends: [], parties: [], deadline: null },
      ...changes,
    },
    gas: 80_000n,
    l1Fee: 7n,
  };
}

function plan(changes: Partial<RetryPlanInput>) {
  return planRetries({
    passing: [],
    balance: 10n ** 18n,
    holdings: new Map(),
    fees: FEES,
    chainId: 31337,
    firstNonce: 12,
    blockGasLimit: 30_000_000n,
    revoked: new Set(),
    ...changes,
  });
}

const spends = (amount: bigint, spender: Address | null = null): readonly TokenSpend[] => [
  { token: TOKEN, spender, amount },
];
/** Gas for 80,000 with its margin, at 100 wei, and the L1 fee. */
const COST = 100_000n * 100n + 7n;

describe("the retries that are offered together", () => {
  it("have consecutive nonces in the order of the originals, their values and their calldata", () => {
    const { offers } = plan({ passing: [passing(3, {}, 5n), passing(2), passing(1)] });
    expect(offers.map(({ call, transaction }) => [call.block, transaction.nonce, transaction.value])).toEqual(
      [
        [1, 12, 0n],
        [2, 13, 0n],
        [3, 14, 5n],
      ],
    );
    expect(offers[0]?.transaction).toEqual({
      type: "eip1559",
      chainId: 31337,
      nonce: 12,
      to: TARGET,
      data: failedCall().input,
      value: 0n,
      gas: 100_000n,
      ...FEES,
    });
  });

  it("hold one of those that bring about the same, the newest", () => {
    const twin = { keys: ["same"] };
    const { offers, refused } = plan({ passing: [passing(3, twin), passing(2, twin)] });
    expect(offers.map(({ call }) => call.block)).toEqual([3]);
    expect(refused).toMatchObject([
      { call: { block: 2 }, code: "duplicate", by: numberToHex(3, { size: 32 }) },
    ]);
  });

  it("hold the older of two where the newer cannot be paid for", () => {
    const twin = { keys: ["same"] };
    const { offers, refused } = plan({
      passing: [passing(3, twin, 10n ** 18n), passing(2, twin)],
      balance: COST,
    });
    expect(offers.map(({ call }) => call.block)).toEqual([2]);
    expect(refused).toMatchObject([{ call: { block: 3 }, code: "insufficient_balance" }]);
  });

  it("are paid for by the balance all together", () => {
    const { offers, refused } = plan({
      passing: [passing(3), passing(2), passing(1)],
      balance: 2n * COST,
    });
    expect(offers.map(({ call }) => call.block)).toEqual([2, 3]);
    expect(refused).toMatchObject([{ call: { block: 1 }, code: "insufficient_balance" }]);
  });

  it("share the tokens that the wallet has, and what a spender may take", () => {
    const { offers, refused } = plan({
      holdings: new Map([
        [holdingKey({ token: TOKEN, spender: null }), 10n],
        [holdingKey({ token: TOKEN, spender: TARGET }), 6n],
      ]),
      passing: [
        passing(5, { spends: spends(4n, TARGET) }),
        passing(4, { spends: spends(4n, TARGET) }),
        passing(3, { spends: spends(5n) }),
        passing(2, { spends: spends(5n) }),
      ],
    });
    expect(offers.map(({ call }) => call.block)).toEqual([3, 5]);
    expect(refused.map(({ call, code }) => [call.block, code])).toEqual([
      [4, "insufficient_allowance"],
      [2, "insufficient_tokens"],
    ]);
  });

  it("leave out what uses an approval that is taken back before", () => {
    const { offers, refused } = plan({
      passing: [passing(1, { parties: [TARGET] })],
      revoked: new Set([TARGET]),
    });
    expect(offers).toEqual([]);
    expect(refused).toMatchObject([{ code: "approval_revoked" }]);
  });
});

const anyCall = fc.record({
  value: fc.bigInt(0n, 10n ** 18n),
  gas: fc.bigInt(21_000n, 60_000_000n),
  l1Fee: fc.bigInt(0n, 10n ** 15n),
  key: fc.integer({ min: 0, max: 6 }),
  amount: fc.option(fc.bigInt(0n, 100n), { nil: null }),
  spender: fc.constantFrom<Address | null>(null, TARGET),
});

const anyInput = fc
  .record({
    calls: fc.array(anyCall, { maxLength: 12 }),
    balance: fc.bigInt(0n, 5n * 10n ** 18n),
    held: fc.bigInt(0n, 200n),
    allowed: fc.option(fc.bigInt(0n, 200n), { nil: null }),
    firstNonce: fc.nat(1_000_000),
    maxFeePerGas: fc.bigInt(1n, 500_000_000_000n),
  })
  .map(({ calls, balance, held, allowed, firstNonce, maxFeePerGas }): RetryPlanInput => {
    const holdings = new Map<string, bigint>([[TOKEN, held]]);
    if (allowed !== null) holdings.set(`${TOKEN}:${TARGET}`, allowed);
    return {
      passing: calls.map(({ value, gas, l1Fee, key, amount, spender }, place) => ({
        ...passing(
          calls.length - place,
          {
            keys: [`key ${key}`],
            spends: amount === null ? [] : [{ token: TOKEN, spender, amount }],
          },
          value,
        ),
        gas,
        l1Fee,
      })),
      balance,
      holdings,
      fees: { maxFeePerGas, maxPriorityFeePerGas: 1n },
      chainId: 8453,
      firstNonce,
      blockGasLimit: 30_000_000n,
      revoked: new Set(),
    };
  });

describe("whatever fails and passes", () => {
  it("no value is above the original's, nonces are consecutive, and every call is offered or refused once", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { offers, refused } = planRetries(input);
        const originals = new Map(input.passing.map(({ call }) => [call.hash, call]));
        for (const [place, { call, transaction }] of offers.entries()) {
          expect(transaction.value).toBe(originals.get(call.hash)?.value);
          expect(transaction.nonce).toBe(input.firstNonce + place);
          expect(transaction.gas).toBeLessThanOrEqual(input.blockGasLimit);
        }
        const all = [...offers, ...refused].map(({ call }) => call.hash).toSorted();
        expect(all).toEqual([...originals.keys()].toSorted());
      }),
    );
  });

  it("all offers together cost no more than the balance, and take no more tokens than there are or are allowed", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { offers } = planRetries(input);
        const cost = offers.reduce(
          (sum, { transaction, l1Fee }) =>
            sum + transaction.value + transaction.gas * transaction.maxFeePerGas + l1Fee,
          0n,
        );
        expect(cost).toBeLessThanOrEqual(input.balance);
        expect(cost).toBe(offers.reduce((sum, { maxCost }) => sum + maxCost, 0n));
        const taken = offers.flatMap(({ intent }) => intent.spends);
        for (const [key, held] of input.holdings) {
          const spent = taken.filter((one) => key === TOKEN || holdingKey(one) === key);
          expect(spent.reduce((sum, { amount }) => sum + amount, 0n)).toBeLessThanOrEqual(held);
        }
      }),
    );
  });

  it("no two offers bring about the same", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const keys = planRetries(input).offers.flatMap(({ intent }) => intent.keys);
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it("the serialized form holds what the members say, and no signature", () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        for (const { transaction } of planRetries(input).offers) {
          const parsed = parseTransaction(serializeUnsigned(transaction) as Hex);
          expect(parsed).toMatchObject({
            type: "eip1559",
            chainId: transaction.chainId,
            gas: transaction.gas,
            maxFeePerGas: transaction.maxFeePerGas,
          });
          expect([parsed.nonce ?? 0, parsed.value ?? 0n]).toEqual([transaction.nonce, transaction.value]);
          expect("r" in parsed).toBe(false);
        }
      }),
    );
  });
});
