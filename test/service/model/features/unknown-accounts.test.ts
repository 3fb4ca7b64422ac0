import { expect, test } from "vitest";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { account, asOfLast, callsOf, DAY, fact, HOUR, rowsOf, START } from "./histories.ts";

const EXECUTOR = account(0x77);
const POOLS = Array.from({ length: 8 }, (_, i) => account(0x100 + i));
const GRADES = ["A", "B", "C", "D", "E", "F"];

/** Arbitrage at 92 % through an executor contract that another key of the owner deployed. */
function gradeWith(facts: "known" | "unknown"): number {
  const steps = Array.from({ length: 1_000 }, (_, i) => {
    const ok = i % 25 !== 7 && i % 25 !== 18;
    return {
      at: START + Math.floor(i / 8) * DAY + (i % 8) * 2 * HOUR + ((i * 997) % HOUR),
      to: EXECUTOR,
      selector: "0x09c5eabe",
      ok,
      emitters: ok ? [POOLS[i % 8] ?? EXECUTOR, POOLS[(i + 3) % 8] ?? EXECUTOR] : [],
    } as const;
  });
  const calls = callsOf(steps);
  const isKnown = facts === "known";
  const unreported = isKnown ? {} : { existedAt: START, fundedFromOutside: null };
  const counterparties = [
    // Its deployer has the first funder of the wallet.
    fact(EXECUTOR, {
      ...{ outsideUsers: 0, firstContactAt: START, existedAt: START },
      ...{ ownerLink: isKnown ? "first_funder" : null, fundedFromOutside: isKnown ? false : null },
    }),
    ...POOLS.map((pool) => fact(pool, { outsideUsers: 12, firstContactAt: START, ...unreported })),
  ];
  const { outcome } = scoreWallet({
    rows: rowsOf(calls, { counterparties }),
    asOf: asOfLast(calls),
    policy: AHS_2026_2,
  });
  if (outcome.kind !== "scored") throw new Error("expected a score");
  return GRADES.indexOf(outcome.grade);
}

test("an executor contract that another key deployed costs at most a grade where no source knows it", () => {
  const [known, unknown] = [gradeWith("known"), gradeWith("unknown")];
  expect(known).toBeLessThanOrEqual(GRADES.indexOf("B"));
  expect(unknown - known).toBeLessThanOrEqual(1);
});
