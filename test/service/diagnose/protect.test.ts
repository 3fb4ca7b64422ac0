import { describe, expect, it } from "vitest";
import { diagnoseHealth } from "../../../service/diagnose/health.ts";
import { gatherReportFacts } from "../../../service/diagnose/health-facts.ts";
import { optimizeGas } from "../../../service/diagnose/optimize.ts";
import {
  chooseServices,
  type ProtectionFindings,
  planProtection,
  rankApprovals,
} from "../../../service/diagnose/protect.ts";
import type { Risk } from "../../../service/diagnose/risk.ts";
import { washWallet } from "../../../service/diagnose/wash.ts";
import type { WalletRows } from "../../../service/features/types.ts";
import { AHS_2026_1 } from "../../../service/score/policy.ts";
import { reportSource } from "../api/report-source.ts";
import { account } from "../features/histories.ts";

const NO_TRANSFERS = {
  exchanges: { sent: [], returned: [], truncated: false },
  received: { tokens: [], truncated: false },
  drawnTokens: new Set<never>(),
};

function findingsOf(parts: Partial<WalletRows>, changes: Partial<ProtectionFindings<string>> = {}) {
  const facts = gatherReportFacts(reportSource(parts), AHS_2026_1);
  return {
    risk: { level: "HIGH", signals: [] },
    health: diagnoseHealth(facts, NO_TRANSFERS),
    wash: washWallet(facts, NO_TRANSFERS),
    optimization: optimizeGas(facts),
    days: facts.paid.days,
    revocations: [],
    retries: [],
    ...changes,
  } satisfies ProtectionFindings<string>;
}

const approval = (
  risks: readonly ("flagged" | "no_code" | "young" | "unknown" | "unused")[],
  token = 0xa1,
) => ({
  approval: { token: account(token), spender: account(0xd9), kind: "amount", approvedAt: 1 } as const,
  spender: null,
  risks,
  lastUsedAt: null,
  useKnown: true,
});

describe("which services a wallet's risk calls for", () => {
  const quiet = findingsOf({ calls: [], approvals: [] }).health;
  const choose = (level: Risk["level"], changes: { failures?: number; health?: typeof quiet } = {}) =>
    chooseServices({ level, health: quiet, failures: 0, ...changes })
      .filter(({ run }) => run)
      .map(({ name }) => name);

  it.each<[Risk["level"], readonly string[]]>([
    ["LOW", ["risk", "health"]],
    ["MEDIUM", ["risk", "health", "wash", "optimize", "retry"]],
    ["HIGH", ["risk", "health", "wash", "optimize", "retry"]],
    ["CRITICAL", ["risk", "health", "wash", "optimize", "retry"]],
    ["UNKNOWN", ["risk", "health", "wash", "optimize", "retry"]],
  ])("%s", (level, names) => {
    expect(choose(level)).toEqual(names);
  });

  it("are, at a low risk, those that have something to find", () => {
    expect(choose("LOW", { failures: 1 })).toContain("retry");
    expect(choose("LOW", { health: findingsOf({}).health })).toContain("optimize");
    expect(choose("LOW", { health: findingsOf({ calls: [], approvals: null }).health })).toContain("wash");
  });
});

describe("the plan", () => {
  it("goes from what makes others refuse the wallet to what is untidy, and every service has its place", () => {
    const steps = planProtection(
      findingsOf(
        { delegation: { to: account(0xde) } },
        {
          risk: {
            level: "CRITICAL",
            signals: [
              { name: "sanctioned", severity: "critical", detail: "on a list" },
              { name: "gas_efficiency", severity: "warning", detail: "poor" },
            ],
          },
          revocations: [
            { finding: approval(["no_code"]), valueMicroUsd: 5, ready: "first" },
            { finding: approval(["unused"]), valueMicroUsd: null, ready: "second" },
          ],
          retries: [{ description: "again", reason: "passes now", valueMicroUsd: 7, ready: "third" }],
        },
      ),
    );
    const order = ["review_risk", "revoke_delegation", "revoke_approval", "retry_transaction"];
    const others = ["simulate_first", "raise_gas_limit", "pay_market_price", "lower_gas_limit", "clean_up"];
    const places = steps.map(({ action }) => [...order, ...others].indexOf(action));
    expect(
      steps.filter(({ action }) => order.includes(action)).map(({ action }) => order.indexOf(action)),
    ).toEqual(places.filter((place) => place < order.length).toSorted((a, b) => a - b));
    expect(steps.flatMap(({ ready }) => ready ?? [])).toEqual(["first", "second", "third"]);
    expect(steps[0]).toMatchObject({ action: "review_risk", severity: "critical", reason: "on a list" });
    expect(steps.filter(({ action }) => action === "review_risk")).toHaveLength(1);
  });

  it("puts the habit first that costs most, and tells what it would save", () => {
    const findings = findingsOf({});
    const savings = planProtection(findings).filter(({ service }) => service === "optimize");
    const monthly = savings.map(({ monthlySavingMicroUsd }) => Number(monthlySavingMicroUsd));
    expect(savings.length).toBeGreaterThan(1);
    expect(monthly).toEqual(monthly.toSorted((a, b) => b - a));
    expect(monthly.reduce((sum, saving) => sum + saving, 0)).toBeCloseTo(
      Number(findings.optimization?.totals.monthly.microUsd),
      -1,
    );
  });

  it("is empty for a wallet about which nothing was found", () => {
    const empty = findingsOf({ calls: [], approvals: [] }, { wash: null, optimization: null });
    expect(planProtection(empty)).toEqual([]);
  });
});

describe("approvals at risk", () => {
  it("are taken back by the gravity of the risk, then by what is at stake", () => {
    const given = [
      { finding: approval(["unused"], 1), valueMicroUsd: 900 },
      { finding: approval(["unknown"], 2), valueMicroUsd: null },
      { finding: approval(["unknown"], 3), valueMicroUsd: 5 },
      { finding: approval(["flagged", "unused"], 4), valueMicroUsd: 0 },
    ];
    expect(rankApprovals(given).map(({ finding }) => finding.approval.token)).toEqual(
      [4, 3, 2, 1].map(account),
    );
  });
});
