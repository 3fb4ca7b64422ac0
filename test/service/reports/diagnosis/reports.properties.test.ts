import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { findSavings, optimizeGas } from "../../../../service/reports/diagnosis/optimize.ts";
import { gatherReportFacts, sumMoney } from "../../../../service/reports/diagnosis/report-facts.ts";
import type { ReceivedToken } from "../../../../service/reports/profit-and-loss/wallet-transfers.ts";
import { washWallet } from "../../../../service/reports/wash/wash.ts";
import { anyRows } from "../../model/features/arbitrary-histories.ts";
import { account, START } from "../../model/features/histories.ts";
import { factsOf } from "./reports.ts";

const NOTHING_DRAWN = { drawnTokens: new Set<never>() };
const NO_TRANSFERS = {
  exchanges: { sent: [], returned: [], truncated: false },
  received: { tokens: [], truncated: false },
  ...NOTHING_DRAWN,
  rating: { sanctioned: false, grade: "B" },
} satisfies Parameters<typeof washWallet>[1];

function reportsOf(rows: WalletRows, facts = factsOf(rows)) {
  return {
    health: diagnoseHealth(facts, NOTHING_DRAWN),
    optimization: optimizeGas(facts),
    wash: washWallet(facts, NO_TRANSFERS),
  };
}

function check<Value>(arbitrary: fc.Arbitrary<Value>, property: (value: Value) => void): void {
  fc.assert(fc.property(arbitrary, property), { numRuns: 150 });
}

describe("reports on any history", () => {
  test("parts of a health report add up to its totals", () => {
    check(anyRows, (rows) => {
      const { health } = reportsOf(rows);
      const { causes, failureGroups, weeks } = health;
      expect(causes.out_of_gas.calls + causes.reverted.calls).toBe(health.failures);
      expect(sumMoney([causes.out_of_gas.spent, causes.reverted.spent])).toEqual(health.wasted);
      expect(sumMoney(failureGroups.map(({ wasted }) => wasted))).toEqual(health.wasted);
      expect(sumMoney(weeks.map(({ spent }) => spent))).toEqual(health.spent);
      expect(weeks.reduce((sum, week) => sum + week.calls, 0)).toBe(health.calls);
      expect(health.wasted.wei).toBeLessThanOrEqual(health.spent.wei);
    });
  });

  test("bills of methods add up to the totals, exactly in wei", () => {
    check(anyRows, (rows) => {
      const { methods, totals } = optimizeGas(factsOf(rows));
      for (const member of ["spent", "wasted", "saved", "monthly"] as const) {
        expect(sumMoney(methods.map((method) => method[member]))).toEqual(totals[member]);
      }
      expect(totals.calls).toBe(methods.reduce((sum, { calls }) => sum + calls, 0));
      for (const { savings, saved, monthly } of methods) {
        expect(sumMoney(savings.map(({ window }) => window))).toEqual(saved);
        expect(sumMoney(savings.map((saving) => saving.monthly))).toEqual(monthly);
      }
      expect(totals.wasted).toEqual(diagnoseHealth(factsOf(rows), NOTHING_DRAWN).wasted);
    });
  });

  test("never advise to save more than was spent, of any method and in any month", () => {
    check(anyRows, (rows) => {
      const { methods, totals } = optimizeGas(factsOf(rows));
      for (const { spent, saved, monthly } of [...methods, totals]) {
        expect(saved.wei).toBeLessThanOrEqual(spent.wei);
        expect(monthly.wei).toBeLessThanOrEqual(saved.wei);
        if (saved.microUsd === null || spent.microUsd === null) throw new Error("the coin has a price");
        expect(saved.microUsd).toBeLessThanOrEqual(spent.microUsd);
      }
    });
  });

  test("a wallet without failures wastes nothing on failures", () => {
    check(anyRows, (rows) => {
      const calls = rows.calls.map((call) => ({ ...call, ok: true }));
      const { health, optimization } = reportsOf({ ...rows, calls });
      expect(health.wasted).toEqual({ wei: 0n, microUsd: 0 });
      expect(health.failureGroups).toEqual([]);
      expect(optimization.totals.wasted.wei).toBe(0n);
      const kinds = findSavings(factsOf({ ...rows, calls }).paid, AHS_2026_2).map(({ kind }) => kind);
      expect(new Set(kinds)).not.toContain("simulate_first");
      expect(new Set(kinds)).not.toContain("set_gas_limit");
    });
  });

  test("the order of rows does not matter", () => {
    const shuffled = anyRows.chain((rows) =>
      fc.record({
        rows: fc.constant(rows),
        calls: shuffle(rows.calls),
        counterparties: shuffle(rows.counterparties),
        approvals: rows.approvals === null ? fc.constant(null) : shuffle(rows.approvals),
      }),
    );
    check(shuffled, ({ rows, ...lists }) => {
      const { asOf } = factsOf(rows);
      const mixed = gatherReportFacts({ rows: { ...rows, ...lists }, asOf }, AHS_2026_2);
      expect(reportsOf(rows, mixed)).toEqual(reportsOf(rows));
    });
  });

  test("deductions add up to what is missing to 100, and what is unknown gives a range and no number", () => {
    check(anyRows, (rows) => {
      const { score, range, reason, deductions } = reportsOf(rows).wash.cleanliness;
      const taken = deductions.reduce((sum, { points }) => sum + (points ?? 0), 0);
      const open = deductions.filter(({ points }) => points === null);
      const lowest = 100 - taken - open.reduce((sum, { maxPoints }) => sum + maxPoints, 0);
      expect(range).toEqual(reason === "little_activity" ? null : { lowest, highest: 100 - taken });
      expect(score).toBe(reason === null ? 100 - taken : null);
      expect(reason === null && open.length > 0).toBe(false);
      expect(deductions.reduce((sum, { maxPoints }) => sum + maxPoints, 0)).toBe(100);
    });
  });

  test("whatever strangers send, the cleanliness is the same", () => {
    check(fc.record({ rows: anyRows, tokens: fc.array(received, { maxLength: 20 }) }), ({ rows, tokens }) => {
      const spammed = washWallet(factsOf(rows), { ...NO_TRANSFERS, received: { tokens, truncated: true } });
      const { wash } = reportsOf(rows);
      expect(spammed.cleanliness).toEqual(wash.cleanliness);
      const grave = ({ severity }: { severity: string }) => severity !== "info";
      expect(spammed.issues.filter(grave)).toEqual(wash.issues.filter(grave));
    });
  });
});

const received: fc.Arbitrary<ReceivedToken> = fc.record({
  token: fc.integer({ min: 1, max: 5_000 }).map(account),
  standard: fc.constantFrom("native", "erc20", "erc721", "erc1155"),
  transfers: fc.integer({ min: 1, max: 1_000 }),
  senders: fc.integer({ min: 1, max: 1_000 }),
  amount: fc.option(fc.bigInt({ min: 0n, max: 2n ** 255n })),
  lastAt: fc.constant(START),
});

function shuffle<Item>(items: readonly Item[]): fc.Arbitrary<Item[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
