import { describe, expect, test } from "vitest";
import type { ConfidenceLevel, Grade } from "../../../../service/model/score/record.ts";
import {
  DEFAULT_ROUTING,
  type RoutingFacts,
  type RoutingPolicy,
  routeWallet,
} from "../../../../service/model/score/route.ts";

const WALLET = "0x00000000000000000000000000000000000000a1";

describe("the default table", () => {
  test.each([
    [scored("A"), "instant_settle", "grade"],
    [scored("B"), "instant_settle", "grade"],
    [scored("C"), "escrow", "grade"],
    [scored("D"), "reject", "grade"],
    [scored("E"), "reject", "grade"],
    [scored("F"), "reject", "grade"],
    [{ kind: "insufficient" }, "escrow", "insufficient_history"],
    [{ kind: "not_scored" }, "escrow", "not_scored"],
  ] as const)("%o: %s by %s", (score, action, reason) => {
    expect(routeWallet(DEFAULT_ROUTING, facts({ score }))).toEqual({ action, reason });
  });
});

describe("an integrator's policy", () => {
  const allowlist = [WALLET] as const;
  const others = ["0x00000000000000000000000000000000000000b2"] as const;
  const confidenceOverrides = { A: { LOW: "escrow" }, F: { HIGH: "instant_settle" } } as const;
  const escrowDisabled = true;
  // The grade with its confidence, HIGH unless named; the action with its reason.
  const cases: readonly [string, Partial<RoutingPolicy>, string, string][] = [
    ["sanctions come before the allowlist", { allowlist }, "sanctioned", "reject sanctioned"],
    ["sanctions reject unscored wallets", {}, "sanctioned not_scored", "reject sanctioned"],
    ["the allowlist settles a failing wallet", { allowlist }, "F", "instant_settle allowlist"],
    ["the allowlist settles an unscored wallet", { allowlist }, "not_scored", "instant_settle allowlist"],
    ["the allowlist needs no escrow", { allowlist, escrowDisabled }, "C", "instant_settle allowlist"],
    [
      "the allowlist comes before overrides",
      { allowlist, confidenceOverrides: { A: { HIGH: "reject" } } },
      "A",
      "instant_settle allowlist",
    ],
    ["another's place on the allowlist settles nothing", { allowlist: others }, "F", "reject grade"],
    [
      "no override moves insufficient history",
      { confidenceOverrides: { A: { INSUFFICIENT: "instant_settle" } } },
      "insufficient",
      "escrow insufficient_history",
    ],
    [
      "an override may reject what the grade settles",
      { confidenceOverrides: { B: { MEDIUM: "reject" } } },
      "B MEDIUM",
      "reject confidence_override",
    ],
    [
      "insufficient history has its own action",
      { insufficientAction: "reject" },
      "insufficient",
      "reject insufficient_history",
    ],
    [
      "so has a wallet never scored",
      { insufficientAction: "instant_settle" },
      "not_scored",
      "instant_settle not_scored",
    ],
    [
      "an override acts at its grade and level",
      { confidenceOverrides },
      "A LOW",
      "escrow confidence_override",
    ],
    ["an override may lift a grade", { confidenceOverrides }, "F", "instant_settle confidence_override"],
    ["an override leaves other levels alone", { confidenceOverrides }, "A", "instant_settle grade"],
    [
      "grades may move between the sets",
      { instantGrades: ["A"], escrowGrades: ["B", "C", "D"] },
      "D",
      "escrow grade",
    ],
    ["a grade in no set is rejected", { instantGrades: [], escrowGrades: ["C"] }, "A", "reject grade"],
    ["without escrow a C is rejected", { escrowDisabled }, "C", "reject escrow_disabled"],
    [
      "without escrow too little history is rejected",
      { escrowDisabled },
      "insufficient",
      "reject escrow_disabled",
    ],
    [
      "without escrow an unscored wallet is rejected",
      { escrowDisabled },
      "not_scored",
      "reject escrow_disabled",
    ],
    [
      "without escrow an override to it is rejected",
      { escrowDisabled, confidenceOverrides },
      "A LOW",
      "reject escrow_disabled",
    ],
    ["without escrow all else stays", { escrowDisabled }, "B", "instant_settle grade"],
  ];
  test.each(cases)("%s", (_, policy, given, expected) => {
    const score = given.replace(/^sanctioned ?/, "") || "A";
    const [grade, level = "HIGH"] = score.split(" ");
    const decision = routeWallet(
      { ...DEFAULT_ROUTING, ...policy },
      facts({
        sanctioned: given.startsWith("sanctioned"),
        score:
          score === "insufficient" || score === "not_scored"
            ? { kind: score }
            : scored(grade as Grade, level as ConfidenceLevel),
      }),
    );
    expect(`${decision.action} ${decision.reason}`).toBe(expected);
  });
});

describe("limits of settling at once", () => {
  const allowlist = [WALLET] as const;
  const usd = (decimal: string) => BigInt(Math.round(Number(decimal) * 1_000_000));
  // The score with its confidence, HIGH unless named; the amount and what is available in US dollars, "-" if unknown.
  const cases: readonly [string, Partial<RoutingPolicy>, string, string, string][] = [
    ["all that is available settles", {}, "A", "10 of 10", "instant_settle grade"],
    ["a millionth more waits", {}, "A", "10.000001 of 10", "escrow above_safe_amount"],
    ["a millionth of nothing waits", {}, "A", "0.000001 of 0", "escrow above_safe_amount"],
    ["an unknown backing settles no amount", {}, "A", "0.01 of -", "escrow backing_unknown"],
    ["an escrow keeps its reason", {}, "C", "10 of 0", "escrow grade"],
    ["a rejection keeps its reason", {}, "D", "10 of 0", "reject grade"],
    ["sanctions come first", { allowlist }, "sanctioned", "1 of 10", "reject sanctioned"],
    ["the allowlist settles any amount", { allowlist }, "F", "1000000000 of 0", "instant_settle allowlist"],
    ["the allowlist needs no backing", { allowlist }, "A", "5 of -", "instant_settle allowlist"],
    [
      "without escrow too much is rejected",
      { escrowDisabled: true },
      "A",
      "11 of 10",
      "reject escrow_disabled",
    ],
    [
      "an override is limited as well",
      { confidenceOverrides: { F: { HIGH: "instant_settle" } } },
      "F",
      "11 of 10",
      "escrow above_safe_amount",
    ],
    [
      "so is insufficient_action",
      { insufficientAction: "instant_settle" },
      "not_scored",
      "11 of 10",
      "escrow above_safe_amount",
    ],
    [
      "a limit of its own settles its amount",
      { maxInstantMicroUsd: 5_000_000 },
      "A",
      "5 of 10",
      "instant_settle grade",
    ],
    [
      "a limit of its own comes before the safe amount",
      { maxInstantMicroUsd: 5_000_000 },
      "A",
      "5.000001 of 1",
      "escrow above_max_instant",
    ],
    [
      "a limit of 0 settles no amount",
      { maxInstantMicroUsd: 0 },
      "A",
      "0.01 of 10",
      "escrow above_max_instant",
    ],
    ["a limit of its own needs an amount", { maxInstantMicroUsd: 0 }, "A", "", "instant_settle grade"],
    [
      "a multiple raises it",
      { safeAmountMultipleMicros: 2_500_000 },
      "A",
      "25 of 10",
      "instant_settle grade",
    ],
    [
      "a raised amount is exact",
      { safeAmountMultipleMicros: 2_500_000 },
      "A",
      "25.000001 of 10",
      "escrow above_safe_amount",
    ],
    [
      "a multiple lowers it",
      { safeAmountMultipleMicros: 500_000 },
      "A",
      "5.000001 of 10",
      "escrow above_safe_amount",
    ],
    [
      "a multiple of 0 settles no amount",
      { safeAmountMultipleMicros: 0 },
      "A",
      "0.000001 of 10",
      "escrow above_safe_amount",
    ],
    ["a multiple of 0 needs an amount", { safeAmountMultipleMicros: 0 }, "A", "", "instant_settle grade"],
    [
      "the lowest confidence settles",
      { minConfidenceForInstant: "MEDIUM" },
      "A MEDIUM",
      "",
      "instant_settle grade",
    ],
    [
      "less confidence waits, without an amount as well",
      { minConfidenceForInstant: "MEDIUM" },
      "A LOW",
      "",
      "escrow confidence_below_minimum",
    ],
    [
      "confidence comes before the amount",
      { minConfidenceForInstant: "HIGH" },
      "A MEDIUM",
      "11 of 10",
      "escrow confidence_below_minimum",
    ],
    [
      "no score is less than any confidence",
      { minConfidenceForInstant: "LOW", insufficientAction: "instant_settle" },
      "not_scored",
      "",
      "escrow confidence_below_minimum",
    ],
    [
      "the allowlist needs no confidence",
      { minConfidenceForInstant: "HIGH", allowlist },
      "A LOW",
      "",
      "instant_settle allowlist",
    ],
  ];
  test.each(cases)("%s", (_, policy, given, asked, expected) => {
    const score = given.replace("sanctioned", "") || "A";
    const [grade, level = "HIGH"] = score.split(" ");
    const [amount, available] = asked.split(" of ");
    const { action, reason } = routeWallet(
      { ...DEFAULT_ROUTING, ...policy },
      facts({
        sanctioned: given === "sanctioned",
        score: score === "not_scored" ? { kind: score } : scored(grade as Grade, level as ConfidenceLevel),
        payment:
          available === undefined
            ? null
            : {
                amountMicroUsd: usd(amount ?? ""),
                availableMicroUsd: available === "-" ? null : usd(available),
              },
      }),
    );
    expect(`${action} ${reason}`).toBe(expected);
  });
});

describe("a wallet on a list of threats", () => {
  const allowlist = [WALLET] as const;
  const escrow = { threatAction: "escrow" } as const;
  const reject = { threatAction: "reject" } as const;
  test.each([
    ["settles by the default table", {}, { score: scored("A") }, "instant_settle grade"],
    [
      "settles where it is ignored",
      { threatAction: "ignore" },
      { score: scored("A") },
      "instant_settle grade",
    ],
    ["waits in escrow", escrow, { score: scored("A") }, "escrow threat_listed"],
    ["waits by its grade all the same", escrow, { score: scored("C") }, "escrow grade"],
    ["is no less rejected by its grade", escrow, { score: scored("F") }, "reject grade"],
    ["is rejected without escrow", { ...escrow, escrowDisabled: true }, {}, "reject escrow_disabled"],
    ["is rejected whatever its grade", reject, { score: scored("A") }, "reject threat_listed"],
    ["is rejected unscored", reject, { score: { kind: "not_scored" } }, "reject threat_listed"],
    ["settles if it is allowlisted", { ...reject, allowlist }, {}, "instant_settle allowlist"],
    ["is sanctioned first", reject, { sanctioned: true }, "reject sanctioned"],
  ] as const)("%s", (_, policy, given, expected) => {
    const { action, reason } = routeWallet(
      { ...DEFAULT_ROUTING, ...policy },
      facts({ threatened: true, ...given }),
    );
    expect(`${action} ${reason}`).toBe(expected);
  });
});

function scored(grade: Grade, confidenceLevel: ConfidenceLevel = "HIGH") {
  return { kind: "scored", grade, confidenceLevel } as const;
}

function facts(parts: Partial<RoutingFacts>): RoutingFacts {
  return {
    wallet: WALLET,
    sanctioned: false,
    threatened: false,
    score: scored("A"),
    payment: null,
    ...parts,
  };
}
