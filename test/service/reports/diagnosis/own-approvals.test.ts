import { describe, expect, it } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import type { OpenApproval } from "../../../../service/model/features/types.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { ownApprovalTest, vouchedTokenTest } from "../../../../service/reports/diagnosis/own-approvals.ts";
import {
  account,
  callsOf,
  HOUR,
  rowsOf,
  START,
  type Step,
  USDC,
  withFacts,
} from "../../model/features/histories.ts";

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
  return { rows, market: createMarket(rows.tokens), policy: AHS_2026_1 };
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
