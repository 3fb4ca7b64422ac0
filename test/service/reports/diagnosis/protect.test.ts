import { describe, expect, it } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { adviseLimit, findSavings, type Saving } from "../../../../service/reports/diagnosis/optimize.ts";
import {
  isInUse,
  type ProtectionFindings,
  planProtection,
  rankApprovals,
  savingSteps,
} from "../../../../service/reports/diagnosis/protect.ts";
import { CHECKS, listChecks, summarize } from "../../../../service/reports/diagnosis/protect-checks.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import { washWallet } from "../../../../service/reports/wash/wash.ts";
import { AS_OF_SECONDS, reportSource } from "../../api/report-source.ts";
import { dirtyRows } from "../../model/features/archetypes.ts";
import { account } from "../../model/features/histories.ts";

const TRANSFERS = {
  exchanges: { sent: [], returned: [], truncated: false },
  received: { tokens: [], truncated: false },
  drawnTokens: new Set<never>(),
  rating: { sanctioned: false, grade: "B" },
} satisfies Parameters<typeof washWallet>[1];

type Ready = { readonly kind: "ready" | "refused"; readonly name: string };
const ready = (name: string): Ready => ({ kind: "ready", name });

function findingsOf(parts: Partial<WalletRows>, changes: Partial<ProtectionFindings<Ready>> = {}) {
  const facts = gatherReportFacts(reportSource(parts), AHS_2026_2);
  return {
    risk: { level: "HIGH", signals: [], sanctions: [] },
    health: diagnoseHealth(facts, TRANSFERS),
    wash: washWallet(facts, TRANSFERS),
    savings: findSavings(facts.paid, AHS_2026_2),
    ...{ facts, revocations: [], retries: [], failuresFound: 0 },
    ...changes,
  } satisfies ProtectionFindings<Ready>;
}

const retryOf = (name: string) =>
  ({
    ...{ action: "Repeat.", reason: "It passes now.", called: null, valueMicroUsd: null },
    ...{ failedHash: `0x${"5c".repeat(32)}` as const, ready: ready(name) },
  }) as const;

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

describe("the plan", () => {
  it("starts with what can be signed, then blockers by cause, then costs, then untidiness", () => {
    const dirty = gatherReportFacts(
      { ...reportSource(), rows: dirtyRows({ days: 60, seed: 7 }) },
      AHS_2026_2,
    );
    const steps = planProtection(
      findingsOf(
        { delegation: { to: account(0xde) }, counterparties: [] },
        {
          wash: washWallet(dirty, TRANSFERS),
          risk: {
            level: "CRITICAL",
            sanctions: ["chainalysis-oracle since 2026-11-01"],
            signals: [
              { name: "sanctioned", severity: "critical", detail: "on a list" },
              { name: "success_rate", severity: "critical", detail: "2 of 60" },
              { name: "adaptation", severity: "critical", detail: "goes on" },
              { name: "unheard_of", severity: "critical", detail: "something new" },
              { name: "gas_efficiency", severity: "warning", detail: "poor" },
            ],
          },
          revocations: [
            { finding: approval(["unused"]), valueMicroUsd: null, isInUse: false, ready: ready("first") },
            {
              finding: approval(["no_code"]),
              valueMicroUsd: 5,
              isInUse: false,
              ready: { kind: "refused", name: "paused" },
            },
          ],
          retries: [retryOf("second")],
        },
      ),
    );
    expect(steps.map(({ kind, severity }) => [kind, severity])).toEqual([
      ["revoke_approval", "info"],
      ["retry_transaction", "warning"],
      ["resolve_listing", "critical"],
      ["stop_failing_calls", "critical"],
      ["review_risk", "critical"],
      ["revoke_delegation", "critical"],
      ["revoke_approval", "critical"],
      ["set_gas_limit", "warning"],
      ...steps.flatMap(({ kind }) => (kind === "clean_up" ? [[kind, "warning"]] : [])),
    ]);
    expect(steps.flatMap((step) => step.ready?.name ?? [])).toEqual(["first", "second", "paused"]);
    expect(steps.find(({ kind }) => kind === "resolve_listing")?.reason).toBe(
      "Listed by chainalysis-oracle since 2026-11-01.",
    );
    expect(steps.find(({ kind }) => kind === "stop_failing_calls")?.reason).toMatch(
      /^2 of 60 calls failed in 180 days/,
    );
    expect(JSON.stringify(steps.map(({ action, reason }) => [action, reason]))).not.toMatch(
      /_|\bwei\b|\{|undefined|null/,
    );
  });

  it("says when an approval was last used, and warns that revoking it may break something", () => {
    const used = { ...approval(["unknown"]), lastUsedAt: 77 };
    const revocations = [
      { finding: used, valueMicroUsd: 5, isInUse: true, ready: ready("first") },
      { finding: approval(["unknown"]), valueMicroUsd: 5, isInUse: false, ready: ready("second") },
    ];
    const steps = planProtection(findingsOf({ calls: [], approvals: [] }, { revocations }));
    expect(steps.map(({ lastUsedAt, warning }) => [lastUsedAt, warning])).toEqual([
      [77, expect.stringContaining("may break")],
      [null, null],
    ]);
  });

  it("is empty for a wallet about which nothing was found, and lists every check as passed or without data", () => {
    const empty = findingsOf({ calls: [], approvals: [], delegation: { to: null } });
    const checks = listChecks(empty);
    expect(planProtection(empty)).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual([...CHECKS]);
    expect(checks.filter(({ passed }) => passed !== true)).toEqual([
      { name: "failing_calls", passed: null, found: null, result: "No outgoing transaction is known." },
      { name: "self_dealing", passed: null, found: null, result: "No outgoing transaction is known." },
    ]);
    expect(summarize([], checks)).toBe("There is nothing to sign. 9 of 11 checks passed, 2 have no data.");
  });

  it("counts a token once that several spenders may take", () => {
    const revocations = [1, 2].map(() => ({
      finding: approval(["unknown"]),
      valueMicroUsd: 1_500_000,
      isInUse: false,
      ready: ready("one"),
    }));
    const findings = findingsOf({ calls: [], approvals: [] }, { revocations });
    expect(summarize(planProtection(findings), listChecks(findings))).toBe(
      "2 transactions can be signed now; tokens worth 1.50 USD are at stake. 8 of 11 checks passed, 2 have no data.",
    );
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

  it("of tokens without a voucher come after all others, whatever they claim", () => {
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

describe("steps about costs", () => {
  const saving = (place: number, monthly: number | null): Saving => ({
    ...{
      kind: "pay_market_price",
      contract: account(place),
      selector: null,
      calls: 2,
      attempts: 3,
      days: 30,
    },
    limit: adviseLimit([], AHS_2026_2),
    window: { wei: 9n, microUsd: monthly },
    monthly: { wei: 9n, microUsd: monthly },
  });
  const facts = gatherReportFacts(reportSource(), AHS_2026_2);
  const stepsOf = (savings: readonly Saving[]) => savingSteps({ savings, facts });

  it.each<[string, readonly (number | null)[], number | null | undefined]>([
    ["leave out what saves less than 0.10 USD a month", [99_999], undefined],
    ["add up a kind over all methods", [99_999, 1], 100_000],
    ["include what has no price", [null], null],
  ])("%s", (_name, worths, expected) => {
    const steps = stepsOf(worths.map((worth, place) => saving(place, worth)));
    expect(steps.map(({ saves }) => saves?.microUsd)).toEqual(expected === undefined ? [] : [expected]);
  });

  it("name the method that costs most", () => {
    const [step] = stepsOf([saving(1, 100_000), saving(0x2b, 200_000)]);
    expect(step?.reason).toMatch(/^4 of 6 calls to 2 methods paid more .* for plain transfers to 0x0+2[bB];/);
  });
});
