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
  const overrides = { A: { LOW: "escrow" }, F: { HIGH: "instant_settle" } } as const;
  const cases: readonly [string, Partial<RoutingPolicy>, Partial<RoutingFacts>, string, string][] = [
    ["sanctions come before the allowlist", { allowlist }, { sanctioned: true }, "reject", "sanctioned"],
    [
      "sanctions reject unscored wallets",
      {},
      { sanctioned: true, score: { kind: "not_scored" } },
      "reject",
      "sanctioned",
    ],
    [
      "the allowlist settles a failing wallet",
      { allowlist },
      { score: scored("F") },
      "instant_settle",
      "allowlist",
    ],
    [
      "the allowlist settles an unscored wallet",
      { allowlist },
      { score: { kind: "not_scored" } },
      "instant_settle",
      "allowlist",
    ],
    [
      "the allowlist settles without escrow as well",
      { allowlist, escrowDisabled: true },
      { score: scored("C") },
      "instant_settle",
      "allowlist",
    ],
    [
      "the allowlist comes before overrides",
      { allowlist, confidenceOverrides: { A: { HIGH: "reject" } } },
      {},
      "instant_settle",
      "allowlist",
    ],
    [
      "another's place on the allowlist settles nothing",
      { allowlist: ["0x00000000000000000000000000000000000000b2"] },
      { score: scored("F") },
      "reject",
      "grade",
    ],
    [
      "no override moves insufficient history",
      { confidenceOverrides: { A: { INSUFFICIENT: "instant_settle" } } },
      { score: { kind: "insufficient" } },
      "escrow",
      "insufficient_history",
    ],
    [
      "without escrow a wallet never scored is rejected",
      { escrowDisabled: true },
      { score: { kind: "not_scored" } },
      "reject",
      "escrow_disabled",
    ],
    [
      "an override may reject what the grade settles",
      { confidenceOverrides: { B: { MEDIUM: "reject" } } },
      { score: scored("B", "MEDIUM") },
      "reject",
      "confidence_override",
    ],
    [
      "insufficient history has its own action",
      { insufficientAction: "reject" },
      { score: { kind: "insufficient" } },
      "reject",
      "insufficient_history",
    ],
    [
      "so has a wallet never scored",
      { insufficientAction: "instant_settle" },
      { score: { kind: "not_scored" } },
      "instant_settle",
      "not_scored",
    ],
    [
      "an override acts at its grade and level",
      { confidenceOverrides: overrides },
      { score: scored("A", "LOW") },
      "escrow",
      "confidence_override",
    ],
    [
      "an override may lift a grade",
      { confidenceOverrides: overrides },
      { score: scored("F") },
      "instant_settle",
      "confidence_override",
    ],
    [
      "an override leaves other levels alone",
      { confidenceOverrides: overrides },
      { score: scored("A") },
      "instant_settle",
      "grade",
    ],
    [
      "grades may move between the sets",
      { instantGrades: ["A"], escrowGrades: ["B", "C", "D"] },
      { score: scored("D") },
      "escrow",
      "grade",
    ],
    [
      "a grade in no set is rejected",
      { instantGrades: [], escrowGrades: ["C"] },
      { score: scored("A") },
      "reject",
      "grade",
    ],
    [
      "without escrow a C is rejected",
      { escrowDisabled: true },
      { score: scored("C") },
      "reject",
      "escrow_disabled",
    ],
    [
      "without escrow insufficient history is rejected",
      { escrowDisabled: true },
      { score: { kind: "insufficient" } },
      "reject",
      "escrow_disabled",
    ],
    [
      "without escrow an override to it is rejected",
      { escrowDisabled: true, confidenceOverrides: overrides },
      { score: scored("A", "LOW") },
      "reject",
      "escrow_disabled",
    ],
    [
      "without escrow all else stays",
      { escrowDisabled: true },
      { score: scored("B") },
      "instant_settle",
      "grade",
    ],
  ];
  test.each(cases)("%s", (_, policy, given, action, reason) => {
    expect(routeWallet({ ...DEFAULT_ROUTING, ...policy }, facts(given))).toEqual({ action, reason });
  });
});

function scored(grade: Grade, confidenceLevel: ConfidenceLevel = "HIGH") {
  return { kind: "scored", grade, confidenceLevel } as const;
}

function facts(parts: Partial<RoutingFacts>): RoutingFacts {
  return { wallet: WALLET, sanctioned: false, score: scored("A"), ...parts };
}
