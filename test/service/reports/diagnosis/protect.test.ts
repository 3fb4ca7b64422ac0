import { describe, expect, it } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/health-facts.ts";
import { optimizeGas } from "../../../../service/reports/diagnosis/optimize.ts";
import {
  chooseServices,
  isInUse,
  type ProtectionFindings,
  planProtection,
  rankApprovals,
} from "../../../../service/reports/diagnosis/protect.ts";
import type { Risk } from "../../../../service/reports/risk/risk.ts";
import { washWallet } from "../../../../service/reports/wash/wash.ts";
import { findWashIssues } from "../../../../service/reports/wash/wash-issues.ts";
import { AS_OF_SECONDS, reportSource } from "../../api/report-source.ts";
import { dirtyRows } from "../../model/features/archetypes.ts";
import { account } from "../../model/features/histories.ts";

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
  type Found = { failures?: number; avoidable?: bigint; health?: typeof quiet };
  const choose = (level: Risk["level"], found: Found = {}) =>
    chooseServices({ level, health: quiet, avoidable: 0n, failures: 0, ...found })
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
    expect(choose("LOW", { avoidable: 1n })).toContain("optimize");
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
              { name: "sanctioned", severity: "high", detail: "on a list" },
              { name: "gas_efficiency", severity: "medium", detail: "poor" },
            ],
          },
          revocations: [
            { finding: approval(["no_code"]), valueMicroUsd: 5, isInUse: false, ready: "first" },
            { finding: approval(["unused"]), valueMicroUsd: null, isInUse: false, ready: "second" },
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
    expect(steps[0]).toMatchObject({ action: "review_risk", severity: "high", reason: "on a list" });
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

  it("keeps habits that cost the same in the order in which they were found", () => {
    const { optimization, ...rest } = findingsOf({});
    const [method] = optimization?.methods ?? [];
    const [saving] = method?.savings ?? [];
    if (method === undefined || saving === undefined) throw new Error("expected a habit");
    const named = ["0x00000001", "0x00000002", "0x00000003"] as const;
    const methods = named.map((selector) => ({ ...method, savings: [{ ...saving, selector }] }));
    const steps = planProtection({ ...rest, optimization: { ...optimization, methods } as never });
    const costly = steps.filter(({ service }) => service === "optimize");
    expect(costly.map(({ description }) => named.find((one) => description.includes(one)))).toEqual(named);
  });

  it.each(["flagged", "no_code", "young", "unknown", "unused"] as const)(
    "calls an approval to a spender that is %s as grave as a wash of it does",
    (risk) => {
      const finding = approval([risk]);
      const [step] = planProtection(
        findingsOf(
          { calls: [], approvals: [] },
          { revocations: [{ finding, valueMicroUsd: null, isInUse: false, ready: "ready" }], wash: null },
        ),
      );
      const facts = gatherReportFacts(reportSource({ calls: [], approvals: [] }), AHS_2026_1);
      const washed = washWallet(facts, NO_TRANSFERS);
      const [issue] = findWashIssues({
        facts,
        ...washed,
        circles: [],
        approvals: [finding],
      });
      expect(step?.severity).toBe(issue?.severity);
    },
  );

  it("says when an approval was last used, and warns that taking it back stops what uses it", () => {
    const used = { ...approval(["unknown"]), lastUsedAt: 77 };
    const revocations = [
      { finding: used, valueMicroUsd: 5, isInUse: true, ready: "first" },
      { finding: approval(["unknown"]), valueMicroUsd: 5, isInUse: false, ready: "second" },
    ];
    const steps = planProtection(findingsOf({ calls: [], approvals: [] }, { revocations, wash: null }));
    expect(steps.map(({ lastUsedAt, warning }) => [lastUsedAt, warning])).toEqual([
      [77, expect.stringContaining("stops")],
      [null, null],
    ]);
  });

  it("stands by severity: costly habits after tokens that nobody knows", () => {
    const facts = gatherReportFacts(
      { ...reportSource(), rows: dirtyRows({ days: 60, seed: 7 }) },
      AHS_2026_1,
    );
    const dirty = { wash: washWallet(facts, NO_TRANSFERS) };
    const retries = [{ description: "again", reason: "passes now", valueMicroUsd: null, ready: "retry" }];
    const revocations = [
      { finding: approval(["unused"]), valueMicroUsd: 5, isInUse: false, ready: "revocation" },
    ];
    const steps = planProtection(findingsOf({}, { ...dirty, retries, revocations }));
    const places = steps.map(({ ready, severity }) =>
      ["high", "medium", "low"].indexOf(ready === null ? severity : "medium"),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places)).toEqual(new Set([1, 2]));
    expect(steps.flatMap(({ ready }) => ready ?? [])).toEqual(["revocation", "retry"]);
  });

  it("is empty for a wallet about which nothing was found", () => {
    const empty = findingsOf({ calls: [], approvals: [] }, { wash: null, optimization: null });
    expect(planProtection(empty)).toEqual([]);
  });
});

describe("approvals at risk", () => {
  const ranked = (
    token: number,
    risks: Parameters<typeof approval>[0],
    changes: { valueMicroUsd?: number | null; isInUse?: boolean; isVouched?: boolean } = {},
  ) => ({
    ...{ finding: approval(risks, token), valueMicroUsd: null, isInUse: false, isVouched: true },
    ...changes,
  });
  const orderOf = (given: readonly ReturnType<typeof ranked>[]) =>
    rankApprovals(given).map(({ finding }) => finding.approval.token);

  it("are taken back by the gravity of the risk, then by what is at stake", () => {
    const given = [
      ranked(1, ["unused"], { valueMicroUsd: 900 }),
      ranked(2, ["unknown"]),
      ranked(3, ["unknown"], { valueMicroUsd: 5 }),
      ranked(4, ["flagged", "unused"], { valueMicroUsd: 0 }),
    ];
    expect(orderOf(given)).toEqual([4, 3, 2, 1].map(account));
  });

  it("of tokens that nobody vouches for come after all others, whatever they claim", () => {
    const hostile = ranked(1, ["flagged"], { isVouched: false, valueMicroUsd: null });
    expect(orderOf([hostile, ranked(2, ["unused"])])).toEqual([2, 1].map(account));
  });

  it("that were used lately come after those that were not, unless the spender is flagged", () => {
    const given = [
      ranked(1, ["no_code"], { isInUse: true, valueMicroUsd: 10 }),
      ranked(2, ["unused"]),
      ranked(3, ["flagged"], { isInUse: true }),
    ];
    expect(orderOf(given)).toEqual([3, 2, 1].map(account));
  });

  it.each<[number | null, boolean]>([
    [null, false],
    [AS_OF_SECONDS - 91 * 86_400, false],
    [AS_OF_SECONDS - 90 * 86_400, true],
    [AS_OF_SECONDS, true],
  ])("last used at %s are in use: %s", (lastUsedAt, inUse) => {
    expect(isInUse({ lastUsedAt }, AS_OF_SECONDS)).toBe(inUse);
  });
});
