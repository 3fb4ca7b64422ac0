import { type Address, checksumAddress, type Hex } from "viem";
import { exposedShare } from "../../model/features/exposure.ts";
import { isTrusted } from "../../model/features/hygiene.ts";
import { SEVERITIES, type Severity } from "../../model/score/record.ts";
import { methodName } from "../labels/method-names.ts";
import { countText, dayText, moneyText, percentText, wholeText } from "../phrases.ts";
import { APPROVAL_SEVERITY, type ApprovalFinding, type ApprovalRisk } from "./approvals.ts";
import { methodKey } from "./failures.ts";
import { adviseLimit, findSavings, type LimitAdvice, type Saving } from "./optimize.ts";
import { compare, type Money, type ReportFacts, sumMoney } from "./report-facts.ts";

/** A recommended action in words, with its numbers. */
export type Advice = {
  readonly kind: Saving["kind"] | "revoke_approval" | "revoke_delegation" | "leave_listed_accounts";
  readonly severity: Severity;
  /** One imperative sentence. */
  readonly action: string;
  readonly reason: string;
  /** The calls that it is about; null for advice about safety. */
  readonly called: { readonly contract: Address | null; readonly selector: Hex | null } | null;
  /** Calls whose fees, or the part of them in `fees`, would have been saved in the window; null for advice about safety. */
  readonly calls: number | null;
  readonly fees: Money | null;
  readonly suggestedLimit: bigint | null;
  /** Account that the wallet should revoke rights of; null for other advice. */
  readonly spender: Address | null;
  readonly token: Address | null;
  /** Per 30 days; null for advice about safety. */
  readonly saves: Money | null;
};

/** Savings below one cent a month are left out. */
const SMALL_MICRO_USD = 10_000;

/** Recommended actions, most severe first, then the largest monthly saving. */
export function adviseHealth(
  facts: ReportFacts,
  approvals: readonly ApprovalFinding[] | null,
): readonly Advice[] {
  const advice = [
    ...adviceOnExposure(facts),
    ...adviceOnDelegation(facts),
    ...(approvals ?? []).filter(({ risks }) => risks.length > 0).map(adviceOnApproval),
    ...adviseByKind(findSavings(facts.paid, facts.policy), facts.rows.tokens.native).filter(
      ({ saves }) => saves === null || !isBelow(saves, SMALL_MICRO_USD),
    ),
  ];
  return advice.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

type GasFacts = {
  readonly rows: Pick<ReportFacts["rows"], "tokens">;
} & Pick<ReportFacts, "paid" | "policy">;

/**
 * Advice on fees: the largest saving first, then limits that only limit a loss. Each (contract, method) has one advice on its gas
 * limit. `smaller` are savings below a cent a month.
 */
export function adviseGas(facts: GasFacts) {
  const savings = findSavings(facts.paid, facts.policy).filter(({ monthly }) => monthly.wei > 0n);
  const small = savings.filter(({ monthly }) => isBelow(monthly, SMALL_MICRO_USD));
  const listed = savings.filter((saving) => !small.includes(saving)).toSorted(byMonthlySaving);
  const limited = new Set(listed.flatMap((saving) => (saving.kind === "set_gas_limit" ? keyOf(saving) : [])));
  return {
    advice: [
      ...listed.map((saving) => adviceOnSaving(saving, facts.rows.tokens.native)),
      ...adviceOnLimits(facts).filter(({ called }) => called === null || !limited.has(keyOf(called))),
    ],
    smaller: { count: small.length, monthly: sumMoney(small.map(({ monthly }) => monthly)) },
  };
}

/** Largest first, by US dollars, then by wei; unpriced savings come last. */
function byMonthlySaving({ monthly: a }: Pick<Saving, "monthly">, { monthly: b }: Pick<Saving, "monthly">) {
  return (b.microUsd ?? -1) - (a.microUsd ?? -1) || compare(b.wei, a.wei);
}

/** False for an amount without a price. */
export function isBelow({ microUsd }: Money, floor: number): boolean {
  return microUsd !== null && microUsd < floor;
}

function keyOf({ contract, selector }: NonNullable<Advice["called"]>): string {
  return `${contract} ${selector}`;
}

const SAFETY = { called: null, calls: null, fees: null, suggestedLimit: null, saves: null } as const;
const NO_APPROVAL = { spender: null, token: null } as const;

/** One advice for each kind of saving, the largest monthly saving first. */
export function adviseByKind(savings: readonly Saving[], coin: NativeCoin): readonly Advice[] {
  const kinds = [...Map.groupBy(savings, ({ kind }) => kind).values()];
  const advice = kinds.flatMap((group) => {
    const sorted = group.filter(({ monthly }) => monthly.wei > 0n).toSorted(byMonthlySaving);
    const [largest] = sorted;
    if (largest === undefined) return [];
    return [sorted.length === 1 ? adviceOnSaving(largest, coin) : adviceOnSavings(largest, sorted, coin)];
  });
  const monthly = ({ saves }: Advice) => ({ monthly: saves ?? { wei: 0n, microUsd: null } });
  return advice.toSorted((a, b) => byMonthlySaving(monthly(a), monthly(b)));
}

/** Savings of one kind on several methods. */
function adviceOnSavings(largest: Saving, savings: readonly Saving[], coin: NativeCoin): Advice {
  const sum = (of: (saving: Saving) => number) => savings.reduce((total, saving) => total + of(saving), 0);
  const calls = sum((saving) => saving.calls);
  const attempts = sum((saving) => saving.attempts);
  const fees = sumMoney(savings.map(({ window }) => window));
  const { action, verb } = TOGETHER[largest.kind];
  return {
    ...adviceOnSaving(largest, coin),
    called: null,
    calls,
    fees,
    action,
    suggestedLimit: null,
    reason: `${calls} of ${countText(attempts, "call")} to ${savings.length} methods ${verb} in ${largest.days} days: ${moneyText(fees, coin)}. The largest part is for ${callName(largest)}; the gas report lists each method.`,
    saves: sumMoney(savings.map(({ monthly }) => monthly)),
  };
}

const TOGETHER: Readonly<Record<Saving["kind"], { readonly action: string; readonly verb: string }>> = {
  simulate_first: {
    action: "Simulate transactions right before sending, and do not send those that fail.",
    verb: "reverted",
  },
  set_gas_limit: {
    action: "Set a fixed gas limit for each method whose calls ran out of gas.",
    verb: "ran out of gas",
  },
  pay_market_price: {
    action: "Bid the base fee plus the median tip of the block.",
    verb: "paid more than the base fee plus the median tip of their block",
  },
};

type NativeCoin = Parameters<typeof moneyText>[1];

function adviceOnSaving(saving: Saving, coin: NativeCoin): Advice {
  const { kind, calls, attempts, window, monthly, limit, days, contract, selector } = saving;
  const what = callName(saving);
  const cost = moneyText(window, coin);
  const counted = `${calls} of ${countText(attempts, "call")}`;
  const base = {
    kind,
    calls,
    fees: window,
    saves: monthly,
    called: { contract, selector },
    ...NO_APPROVAL,
    severity: "warning" as const,
    suggestedLimit: null,
  };
  switch (kind) {
    case "simulate_first":
      return {
        ...base,
        action: `Simulate ${what} right before sending, and do not send those that fail.`,
        reason: `${counted} reverted in ${days} days and cost ${cost}. A simulation does not foresee every revert, so the saving is an upper bound.`,
      };
    case "set_gas_limit":
      return {
        ...base,
        suggestedLimit: limit.suggested,
        action: limitAction(what, limit),
        reason: `${counted} ran out of gas at limits up to ${gasText(limit.exhaustedLimit)} and cost ${cost}.${limitWords(limit)}`,
      };
    case "pay_market_price":
      return {
        ...base,
        action: `Bid the base fee plus the median tip of the block for ${what}.`,
        reason: `${counted} paid more than that in ${days} days: ${cost}.`,
      };
  }
}

function limitAction(what: string, { suggested }: Pick<LimitAdvice, "suggested">): string {
  return `Set a fixed gas limit of ${gasText(suggested)} for ${what}.`;
}

/** A sentence about the gas that the other calls reserve and use. */
function limitWords({ medianLimit, maxUsed }: Pick<LimitAdvice, "medianLimit" | "maxUsed">): string {
  return maxUsed === null
    ? " No call succeeded, so a higher limit may be needed."
    : ` The median limit is ${gasText(medianLimit)}, and no successful call used more than ${gasText(maxUsed)}.`;
}

function gasText(gas: bigint | null): string {
  return gas === null ? "an unknown amount" : wholeText(gas);
}

const RISK_WORDS: Readonly<Record<ApprovalRisk, string>> = {
  flagged: "is sanctioned or a mixer",
  no_code: "is not a contract, so the holder of its key can take all of the token",
  young: "was not seen 30 days before the approval",
  unknown: "has fewer than 3 known independent users",
  unused: "has not used the approval for 90 days",
};

const ALLOWANCES = {
  amount: "Unlimited ERC-20 allowance",
  all: "Approval for all tokens of the collection",
} as const;

export function adviceOnApproval({ approval, risks, lastUsedAt }: ApprovalFinding): Advice {
  const { token, spender, kind, approvedAt } = approval;
  const used = lastUsedAt === null ? "no use is known" : `last possible use ${dayText(lastUsedAt)}`;
  const [gravest] = risks;
  return {
    ...SAFETY,
    kind: "revoke_approval",
    severity: gravest === undefined ? "info" : APPROVAL_SEVERITY[gravest],
    action: `Revoke the approval of ${checksumAddress(token)} for ${checksumAddress(spender)}.`,
    reason: `The spender ${joined(risks.map((risk) => RISK_WORDS[risk]))}. ${ALLOWANCES[kind]}, granted ${dayText(approvedAt)}, ${used}.`,
    spender,
    token,
  };
}

/** "a", "a and b", "a, b and c". */
function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
}

/** Whether the wallet runs code that is young, or that few others use, and whose. */
export function untrustedDelegate({ rows, asOf, market, policy }: ReportFacts): Address | null {
  const to = rows.delegation?.to ?? null;
  if (to === null) return null;
  const fact = rows.counterparties.find(({ address }) => address === to);
  return isTrusted(fact, asOf.timestamp, { market, policy }) ? null : to;
}

export function adviceOnDelegation(facts: ReportFacts): readonly Advice[] {
  const to = untrustedDelegate(facts);
  if (to === null) return [];
  return [
    {
      ...SAFETY,
      kind: "revoke_delegation",
      severity: "critical",
      action: `Revoke the EIP-7702 delegation to ${checksumAddress(to)}.`,
      reason:
        "The wallet runs the code of an account that is less than 30 days old or that few other wallets use. This code can move all its funds.",
      spender: to,
      token: null,
    },
  ];
}

const NAMED_ACCOUNTS = 5;

function adviceOnExposure({ rows, history, market }: ReportFacts): readonly Advice[] {
  const share = exposedShare(history, rows, market);
  if (share === 0) return [];
  const listed = rows.counterparties.filter(({ flag }) => flag !== null).map(({ address }) => address);
  const named = listed
    .toSorted(compare)
    .slice(0, NAMED_ACCOUNTS)
    .map((address) => checksumAddress(address));
  return [
    {
      ...SAFETY,
      ...NO_APPROVAL,
      kind: "leave_listed_accounts",
      severity: "critical",
      action: "Stop sending to sanctioned accounts and mixers.",
      reason: `${percentText(share)} of the value sent went to ${countText(listed.length, "sanctioned account or mixer", "sanctioned accounts or mixers")}${named.length === 0 ? "" : `: ${named.join(", ")}${listed.length > NAMED_ACCOUNTS ? " and others" : ""}`}. Other parties reject wallets that do so, and the score falls with the share.`,
    },
  ];
}

/** Limits far above the use of at least 20 calls, by contract and method. Lowering them saves no fee. */
function adviceOnLimits({ paid, policy }: GasFacts): readonly Advice[] {
  return [...Map.groupBy(paid.calls, methodKey).values()].flatMap((group) => {
    const calls = group.map(({ call }) => call);
    const limit = adviseLimit(calls, policy);
    const [first] = calls;
    if (limit.state !== "generous" || limit.smallSample || first === undefined) return [];
    const called = { contract: first.to, selector: first.selector };
    const starved =
      limit.exhaustedLimit === null
        ? ""
        : ` One ran out of gas at a limit of ${gasText(limit.exhaustedLimit)}.`;
    return [
      {
        kind: "set_gas_limit",
        severity: "info",
        called,
        calls: calls.length,
        action: limitAction(callName(called), limit),
        reason: `This saves no fee, since unused gas is not paid, but it bounds what a faulty call can burn.${limitWords(limit)}${starved}`,
        fees: { wei: 0n, microUsd: 0 },
        saves: { wei: 0n, microUsd: 0 },
        suggestedLimit: limit.suggested,
        ...NO_APPROVAL,
      } as const,
    ];
  });
}

/** The calls of a (contract, method) in words. */
export function callName(called: NonNullable<Advice["called"]>): string {
  return called.selector === null ? `plain transfers to ${placeOf(called)}` : `calls of ${nameOf(called)}`;
}

/** One of them. */
export function oneCallName(called: NonNullable<Advice["called"]>): string {
  return called.selector === null ? `plain transfer to ${placeOf(called)}` : `call of ${nameOf(called)}`;
}

function nameOf(called: NonNullable<Advice["called"]>): string {
  return `${methodName(called.selector) ?? called.selector} at ${placeOf(called)}`;
}

function placeOf({ contract }: NonNullable<Advice["called"]>): string {
  return contract === null ? "unknown targets or new contracts" : checksumAddress(contract);
}
