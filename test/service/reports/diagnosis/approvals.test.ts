import { describe, expect, it, test } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import type { CounterpartyFact, OpenApproval, WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  type ApprovalRisk,
  findApprovals,
  ownApprovalTest,
  vouchedTokenTest,
} from "../../../../service/reports/diagnosis/approvals.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import {
  account,
  asOfTime,
  callsOf,
  DAY,
  HOUR,
  rowsOf,
  START,
  type Step,
  USDC,
  withFacts,
} from "../../model/features/histories.ts";

const SPENDER = account(71);
const NOW = START + 200 * DAY;
const APPROVAL: OpenApproval = { token: USDC, spender: SPENDER, kind: "amount", approvedAt: START };
const RECENT: Step = { at: NOW - DAY };

type Given = {
  readonly steps?: readonly Step[];
  readonly fact?: Partial<CounterpartyFact>;
  readonly parts?: Partial<WalletRows>;
  readonly drawn?: readonly `0x${string}`[] | null;
};

function findingsOf({ steps = [RECENT], fact = {}, parts = {}, drawn = [] }: Given = {}) {
  const rows = rowsOf(callsOf(steps), { approvals: [APPROVAL], ...parts });
  const known = withFacts(rows, new Map([[SPENDER, fact]]));
  const facts = gatherReportFacts({ rows: known, asOf: asOfTime(NOW) }, AHS_2026_2);
  return findApprovals({ ...facts, drawnTokens: drawn === null ? null : new Set(drawn) });
}

function risksOf(given: Given): readonly ApprovalRisk[] | undefined {
  return findingsOf(given)?.[0]?.risks;
}

const USED: Given["steps"] = [{ at: NOW - 10 * DAY, to: SPENDER }];

describe("an approval without limit", () => {
  test.each([
    ["of an established, much used contract that is in use", {}, []],
    ["of a listed account", { flag: "mixer" as const }, ["flagged"]],
    ["of an account without code", { hasCode: false }, ["no_code"]],
    ["of a contract that is younger than a month", { existedAt: START - DAY }, ["young"]],
    ["of a contract whose age nobody knows", { existedAt: null }, ["young"]],
    ["of a contract without users", { outsideUsers: 0 }, ["unknown"]],
    ["of the owner's own account", { ownerLink: "creator" as const, outsideUsers: 0, hasCode: false }, []],
  ])("%s has its risks", (_case, fact, risks) => {
    expect(risksOf({ steps: USED, fact })).toEqual(risks);
  });

  test("that nothing is known of is young and unknown", () => {
    expect(risksOf({ steps: USED, parts: { counterparties: [] } })).toEqual(["young", "unknown"]);
  });

  test.each<[string, Given, boolean]>([
    ["no call shows it", {}, true],
    [
      "the last call to its spender is 91 days old",
      { steps: [{ at: NOW - 91 * DAY, to: SPENDER }, RECENT] },
      true,
    ],
    ["the spender was called", { steps: USED }, false],
    ["the spender stands in the logs", { steps: [{ ...RECENT, emitters: [SPENDER] }] }, false],
    ["another contract moved the token", { steps: [{ ...RECENT, emitters: [USDC] }] }, false],
    ["only calls of the token itself show it", { steps: [{ ...RECENT, to: USDC, emitters: [USDC] }] }, true],
    ["somebody else's transaction drew the token", { drawn: [USDC] }, false],
    ["what others drew is not known", { drawn: null }, false],
    ["a failed call is no use", { steps: [{ ...RECENT, to: SPENDER, ok: false }] }, true],
    ["a receipt was not read", { steps: [{ ...RECENT, read: false }] }, false],
    [
      "the calls of the last 90 days are not covered",
      {
        parts: {
          coverage: {
            fromBlock: 9,
            fromTimestamp: NOW - DAY,
            toBlock: 10,
            complete: false,
            sources: ["index"],
          },
        },
      },
      false,
    ],
    [
      "it was given a week ago",
      { parts: { approvals: [{ ...APPROVAL, approvedAt: NOW - 7 * DAY }] } },
      false,
    ],
  ])("where %s", (_case, given, isUnused) => {
    expect(risksOf(given)?.includes("unused")).toBe(isUnused);
  });

  test("is not reported where approvals were not read", () => {
    expect(findingsOf({ parts: { approvals: null } })).toBeNull();
  });

  test("comes first where it is the riskiest", () => {
    const parts = { approvals: [{ ...APPROVAL, spender: account(72) }, APPROVAL] };
    const findings = findingsOf({ steps: USED, fact: { flag: "sanctioned" }, parts });
    expect(findings?.map(({ approval }) => approval.spender)).toEqual([SPENDER, account(72)]);
  });
});

const TOKEN = account(0x7a);
const POOL = account(0xb0);
const AT = START + 5 * HOUR;

const approval = (changes: Partial<OpenApproval> = {}): OpenApproval => ({
  ...{ token: TOKEN, spender: account(0xd9), kind: "amount", approvedAt: AT },
  ...changes,
});

function evidence(step: Partial<Step>, users = 0) {
  const calls = callsOf([
    { at: START, to: POOL },
    { at: AT, to: POOL, ...step },
    { at: START + 9 * HOUR, to: TOKEN },
  ]);
  const rows = withFacts(rowsOf(calls), new Map([[TOKEN, { outsideUsers: users }]]));
  return { rows, market: createMarket(rows.tokens), policy: AHS_2026_2 };
}

describe("an approval that a token logs", () => {
  it.each<[string, boolean, ReturnType<typeof evidence>, Partial<OpenApproval>]>([
    ["during a call of something else is nobody's", false, evidence({}), {}],
    ["during a call of the token is the wallet's own", true, evidence({ to: TOKEN }), {}],
    ["during a call of the token that failed is nobody's", false, evidence({ to: TOKEN, ok: false }), {}],
    ["is the wallet's own where the token is listed", true, evidence({}), { token: USDC }],
    ["is the wallet's own where others use the token", true, evidence({}, 3), {}],
    ["is nobody's where fewer use it", false, evidence({}, 2), {}],
    ["before the known calls is not doubted", true, evidence({}), { approvedAt: START - 1 }],
  ])("%s", (_name, isOwn, known, changes) => {
    expect(ownApprovalTest(known)(approval(changes))).toBe(isOwn);
  });

  it("in a batch of the wallet's own code, or an execution of which nothing is known, is its own", () => {
    const { rows, ...rest } = evidence({});
    const calls = (change: object) =>
      rows.calls.map((call) => (call.timestamp === AT ? { ...call, ...change } : call));
    for (const change of [{ to: rows.wallet }, { to: null, position: 4 }]) {
      expect(ownApprovalTest({ rows: { ...rows, calls: calls(change) }, ...rest })(approval())).toBe(true);
    }
    const creation = { rows: { ...rows, calls: calls({ to: null, position: 0 }) }, ...rest };
    expect(ownApprovalTest(creation)(approval())).toBe(false);
  });
});

describe("a token is vouched for", () => {
  it("by the list, or by as many users as the policy asks for", () => {
    const isVouched = vouchedTokenTest(evidence({}, 3));
    expect([isVouched(USDC), isVouched(TOKEN), isVouched(account(0x99))]).toEqual([true, true, false]);
  });
});
