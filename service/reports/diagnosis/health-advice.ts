import { type Address, checksumAddress, type Hex } from "viem";
import { exposedShare } from "../../model/features/exposure.ts";
import { isTrusted } from "../../model/features/hygiene.ts";
import { methodName } from "../labels/method-names.ts";
import type { ApprovalFinding, ApprovalRisk } from "./approvals.ts";
import { methodKey } from "./failures.ts";
import { adviseLimit, findSavings, LIMIT_FORMULA, type Saving } from "./optimize.ts";
import { compare, type Money, PER_MONTH_DAYS, type ReportFacts } from "./report-facts.ts";

/** A recommended action and its worth: null where it is about safety, not about money. */
export type Advice = {
  readonly kind:
    | Saving["kind"]
    | "revoke_approval"
    | "revoke_delegation"
    | "leave_listed_accounts"
    | "lower_gas_limit";
  readonly action: string;
  readonly reason: string;
  readonly saves: Money | null;
  readonly evidence: string;
};

/**
 * Recommended actions: savings first, the largest monthly one first; then safety, most severe first; last the ones that
 * save nothing.
 */
export function adviseHealth(
  facts: ReportFacts,
  approvals: readonly ApprovalFinding[] | null,
): readonly Advice[] {
  return [
    ...findSavings(facts.paid, facts.policy)
      .filter(({ monthly }) => monthly.wei > 0n)
      .map((saving) => adviceOnSaving(saving, facts.paid.days)),
    ...adviceOnExposure(facts),
    ...adviceOnDelegation(facts),
    ...(approvals ?? []).filter(({ risks }) => risks.length > 0).map(adviceOnApproval),
    ...adviceOnLimits(facts),
  ];
}

export function adviceOnSaving(saving: Saving, days: number): Advice {
  const { kind, calls, window, monthly, suggestedLimit } = saving;
  const what = callName(saving);
  const evidence = `calls: ${calls}; ${window.wei} wei in ${days} days; x ${PER_MONTH_DAYS} / ${days} = ${monthly.wei} wei a month`;
  const base = { kind, saves: monthly, evidence };
  switch (kind) {
    case "simulate_first":
      return {
        ...base,
        action: `Simulate ${what} right before sending and hold back what fails.`,
        reason:
          "The fees of reverted calls bought nothing. Saved at most: a simulation cannot foresee every revert.",
      };
    case "raise_gas_limit":
      return {
        ...base,
        action: `Give ${what} a gas limit of at least ${suggestedLimit}, or of 5/4 of the node's estimate where that is more.`,
        reason: `Calls used up their limit and failed; gas that is not used is not paid. Limit: ${LIMIT_FORMULA}.`,
      };
    case "pay_market_price":
      return {
        ...base,
        action: `Bid base fee plus the block's median tip for ${what}.`,
        reason: "They paid more per gas than the blocks that they were mined in asked for.",
      };
  }
}

const RISK_WORDS: Readonly<Record<ApprovalRisk, string>> = {
  flagged: "is sanctioned or a mixer",
  no_code: "has no code: the holder of its key can take everything",
  young: "is not shown to have existed 30 days before the approval",
  unknown: "has fewer than three known independent users and is on no list",
  unused: "is not seen to have used it for 90 days",
};

export function adviceOnApproval({ approval, risks, lastUsedAt }: ApprovalFinding): Advice {
  const { token, spender, kind, approvedAt } = approval;
  const used = lastUsedAt === null ? "no use known" : `last possible use at ${timeOf(lastUsedAt)}`;
  return {
    kind: "revoke_approval",
    action: `Take back the unlimited approval of ${checksumAddress(token)} to ${checksumAddress(spender)}.`,
    reason: `The spender ${risks.map((risk) => RISK_WORDS[risk]).join("; ")}.`,
    saves: null,
    evidence: `kind ${kind}, given at ${timeOf(approvedAt)}, ${used}`,
  };
}

function adviceOnDelegation({ rows, history, market, policy }: ReportFacts): readonly Advice[] {
  const to = rows.delegation?.to ?? null;
  const last = history.calls.at(-1);
  if (to === null || last === undefined) return [];
  const fact = rows.counterparties.find(({ address }) => address === to);
  if (isTrusted(fact, last.timestamp, { market, policy })) return [];
  return [
    {
      kind: "revoke_delegation",
      action: `Take back the EIP-7702 delegation to ${checksumAddress(to)}.`,
      reason: "The wallet runs the code of an account that is young, or that few others are known to use.",
      saves: null,
      evidence: `delegation to ${checksumAddress(to)}`,
    },
  ];
}

function adviceOnExposure({ rows, history, market }: ReportFacts): readonly Advice[] {
  const share = exposedShare(history, rows, market);
  if (share === 0) return [];
  const listed = rows.counterparties
    .filter(({ flag }) => flag !== null)
    .map(({ address }) => address)
    .toSorted(compare)
    .slice(0, 5)
    .map((address) => checksumAddress(address));
  return [
    {
      kind: "leave_listed_accounts",
      action: "Send nothing more to sanctioned or mixer accounts.",
      reason: "Whoever deals with them is refused by others, and the score falls with the share.",
      saves: null,
      evidence: `${Math.round(share * 1e4) / 100} % of what own calls tried to send, or of the calls where that has no price; ${listed.join(", ")}`,
    },
  ];
}

/** Limits far above the use of at least 20 calls, by contract and method. Lowering them saves no fee. */
export function adviceOnLimits({ paid, policy }: Pick<ReportFacts, "paid" | "policy">): readonly Advice[] {
  return [...Map.groupBy(paid.calls, methodKey).values()].flatMap((group) => {
    const calls = group.map(({ call }) => call);
    const { state, smallSample, medianLimit, p95Used, suggested } = adviseLimit(calls, policy);
    const [first] = calls;
    if (state !== "generous" || smallSample || first === undefined) return [];
    return [
      {
        kind: "lower_gas_limit",
        action: `Lower the gas limit of ${callName({ contract: first.to, selector: first.selector })} to ${suggested}.`,
        reason:
          "Gas that is not used is not paid, so this saves nothing; a loose limit reserves balance and lets a call that goes wrong burn more.",
        saves: { wei: 0n, microUsd: 0 },
        evidence: `median limit ${medianLimit}, p95 used ${p95Used}`,
      } as const,
    ];
  });
}

/** A (contract, method) in words. */
export function callName({ contract, selector }: { contract: Address | null; selector: Hex | null }): string {
  const where = contract === null ? "unknown targets or new contracts" : checksumAddress(contract);
  if (selector === null) return `plain transfers to ${where}`;
  return `calls of ${methodName(selector) ?? selector} at ${where}`;
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
