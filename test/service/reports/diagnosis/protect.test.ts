import { describe, expect, it } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { optimizeGas, type Saving } from "../../../../service/reports/diagnosis/optimize.ts";
import {
  adviseSavings,
  avoidableWei,
  chooseServices,
  isInUse,
  type ProtectionFindings,
  planProtection,
  rankApprovals,
  rankSteps,
} from "../../../../service/reports/diagnosis/protect.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import type { Risk } from "../../../../service/reports/risk/risk.ts";
import { findWashIssues, washWallet } from "../../../../service/reports/wash/wash.ts";
import { AS_OF_SECONDS, reportSource } from "../../api/report-source.ts";
import { dirtyRows } from "../../model/features/archetypes.ts";
import { account, GWEI, START, type Step } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

const NO_TRANSFERS = {
  exchanges: { sent: [], returned: [], truncated: false },
  received: { tokens: [], truncated: false },
  drawnTokens: new Set<never>(),
};

function findingsOf(parts: Partial<WalletRows>, changes: Partial<ProtectionFindings<string>> = {}) {
  const facts = gatherReportFacts(reportSource(parts), AHS_2026_2);
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
              { name: "sanctioned", severity: "critical", detail: "on a list" },
              { name: "gas_efficiency", severity: "warning", detail: "poor" },
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
      const facts = gatherReportFacts(reportSource({ calls: [], approvals: [] }), AHS_2026_2);
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
      AHS_2026_2,
    );
    const dirty = { wash: washWallet(facts, NO_TRANSFERS) };
    const retries = [{ description: "again", reason: "passes now", valueMicroUsd: null, ready: "retry" }];
    const revocations = [
      { finding: approval(["unused"]), valueMicroUsd: 5, isInUse: false, ready: "revocation" },
    ];
    const steps = planProtection(findingsOf({}, { ...dirty, retries, revocations }));
    const places = steps.map(({ ready, severity }) =>
      ["critical", "warning", "info"].indexOf(ready === null ? severity : "warning"),
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

const step = (name: string, severity: "critical" | "warning" | "info") => ({ name, severity });

const namesOf = (lists: Parameters<typeof rankSteps<ReturnType<typeof step>>>[0]) =>
  rankSteps(lists).map(({ name }) => name);

describe("the steps of a plan", () => {
  it("stand by severity, whatever found them", () => {
    const first = [step("sanctioned", "critical")];
    const sequence = [step("revoke", "critical"), step("retry", "warning"), step("retry too", "warning")];
    const rest = [step("habit", "info"), step("unknown token", "warning"), step("dust", "info")];
    const order = ["sanctioned", "revoke", "retry", "retry too", "unknown token", "habit", "dust"];
    expect(namesOf({ first, sequence, rest })).toEqual(order);
  });

  it("keep transactions in their order: one before a graver one stands with it", () => {
    const sequence = [step("unused", "info"), step("retry", "warning"), step("unused too", "info")];
    const rest = [step("circle", "warning"), step("habit", "info")];
    expect(namesOf({ first: [], sequence, rest })).toEqual([
      "unused",
      "retry",
      "circle",
      "unused too",
      "habit",
    ]);
  });

  it("are none of nothing", () => {
    expect(namesOf({ first: [], sequence: [], rest: [] })).toEqual([]);
  });
});

const DAYS = 30;

function saving(place: number, wei: bigint, microUsd: number | null): Saving {
  const money = { wei, microUsd };
  return {
    ...{ kind: "pay_market_price", contract: account(place), selector: null, calls: 1 },
    ...{ window: money, monthly: money, suggestedLimit: null },
  };
}

const worths = (savings: readonly Saving[]) =>
  adviseSavings(savings, DAYS).map(({ action, monthlySavingMicroUsd }) => [action, monthlySavingMicroUsd]);

describe("what to do about costly habits", () => {
  it("is by what they cost in dollars, and in wei where that is the same", () => {
    const given = [saving(1, 9n, 20_000), saving(2, 5n, 30_000), saving(3, 10n, 20_000)];
    const named = adviseSavings(given, DAYS).map(({ description }) => description);
    expect(named.map((text) => [2, 3, 1].find((place) => text.includes(account(place).slice(-2))))).toEqual([
      2, 3, 1,
    ]);
  });

  it("is one step for all that cost less than a cent a month, and that is the last", () => {
    const small = Array.from({ length: 31 }, (_, place) => saving(place, 2n, 9_999));
    const advice = adviseSavings([...small, saving(99, 3n, 10_000)], DAYS);
    expect(advice.map(({ action, monthlySavingMicroUsd }) => [action, monthlySavingMicroUsd])).toEqual([
      ["pay_market_price", 10_000],
      ["small_savings", 309_969],
    ]);
    expect(advice[1]).toMatchObject({
      description: expect.stringContaining("31 costly habits"),
      reason: expect.stringContaining("62 wei a month"),
    });
  });

  it("names a single small one, and those whose price nobody knows", () => {
    expect(worths([saving(1, 2n, 3), saving(2, 2n, null), saving(3, 3n, null)])).toEqual([
      ["pay_market_price", 3],
      ["pay_market_price", null],
      ["pay_market_price", null],
    ]);
  });

  it("is nothing where nothing is saved", () => {
    expect(worths([saving(1, 0n, 0)])).toEqual([]);
  });
});

describe("fees that could be avoided", () => {
  it.each<[string, Partial<Step>, boolean]>([
    ["are those of a failure", { ok: false }, true],
    ["are what a success paid above the market", { gasPrice: 2n * GWEI }, true],
    ["are none of a success at the market's price", {}, false],
    ["are none where no block tells the market's price", { marketPrice: null, gasPrice: 9n * GWEI }, false],
  ])("%s, as far as an optimization saves", (_name, step, some) => {
    const { paid } = factsOfSteps([{ at: START, to: account(7), ...step }]);
    expect(avoidableWei(paid) > 0n).toBe(some);
    expect(optimizeGas({ paid, policy: AHS_2026_2 }).totals.saved.wei).toBe(avoidableWei(paid));
  });
});
