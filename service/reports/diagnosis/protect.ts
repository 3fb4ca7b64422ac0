import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { SEVERITIES, type Severity } from "../../model/score/record.ts";
import type { Risk, RiskSignal } from "../risk/risk.ts";
import type { Wash } from "../wash/wash.ts";
import { APPROVAL_SEVERITY, type ApprovalFinding, rankOfRisks, UNUSED_DAYS } from "./approvals.ts";
import type { Health } from "./health.ts";
import { type Advice, adviceOnApproval, adviceOnSaving } from "./health-advice.ts";
import type { Optimization, Saving } from "./optimize.ts";
import { compare, type ReportFacts, sumMoney } from "./report-facts.ts";

export type ProtectService = "risk" | "health" | "wash" | "optimize" | "retry";

/** A recommended step; `ready` holds its part that can be signed at once. */
export type ProtectionStep<Ready> = {
  readonly service: ProtectService;
  readonly action: Advice["kind"] | "review_risk" | "retry_transaction" | "small_savings" | "clean_up";
  readonly severity: Severity;
  readonly description: string;
  readonly reason: string;
  /** Whole millionths of a US dollar at stake; null if it is not about money or has no known price. */
  readonly valueMicroUsd: number | null;
  /** The same saved each month; null where nothing is, or no price is known. */
  readonly monthlySavingMicroUsd: number | null;
  /** Unix seconds of the last possible use of the revoked approval; null if unknown, and for other steps. */
  readonly lastUsedAt: number | null;
  /** Possible side effects of the step; null if none are known. */
  readonly warning: string | null;
  readonly ready: Ready | null;
};

/** Findings of the services; null for a service that was not run. */
export type ProtectionFindings<Ready> = {
  readonly risk: { readonly level: Risk["level"]; readonly signals: readonly RiskSignal[] };
  readonly health: Health;
  readonly wash: Wash | null;
  readonly optimization: Optimization | null;
  /** Days that the optimization's bill covers. */
  readonly days: number;
  /** In the order of their transactions. */
  readonly revocations: readonly {
    readonly finding: ApprovalFinding;
    readonly valueMicroUsd: number | null;
    readonly isInUse: boolean;
    readonly ready: Ready;
  }[];
  /** In the order of their transactions. */
  readonly retries: readonly {
    readonly description: string;
    readonly reason: string;
    readonly valueMicroUsd: number | null;
    readonly ready: Ready;
  }[];
};

/** Chooses the services to run, with reasons: all if the risk is above LOW, else those with something to find. */
export function chooseServices({
  level,
  health,
  avoidable,
  failures,
}: {
  level: Risk["level"];
  health: Health;
  /** Wei of fees wasted, or known to be paid above the market. */
  avoidable: bigint;
  /** Failed transactions that could be examined. */
  failures: number;
}): readonly { name: ProtectService; run: boolean; reason: string }[] {
  const isLow = level === "LOW";
  const risky = (health.approvals ?? []).filter(({ risks }) => risks.length > 0).length;
  const callsFor = `the risk is ${level}`;
  const choose = (name: ProtectService, found: boolean, what: string) => ({
    name,
    run: found || !isLow,
    reason: found ? what : isLow ? `the risk is LOW and there is nothing of it: ${what}` : callsFor,
  });
  return [
    { name: "risk", run: true, reason: "always" },
    { name: "health", run: true, reason: "always" },
    health.approvals === null
      ? choose("wash", true, "approvals are not read")
      : choose("wash", risky > 0, `approvals at risk: ${risky}`),
    choose("optimize", avoidable > 0n, `wei of fees wasted or known to be overpaid: ${avoidable}`),
    choose("retry", failures > 0, `failed transactions: ${failures}`),
  ];
}

/**
 * Builds one plan, sorted by severity. Within a severity: reasons for which others refuse the wallet and ways to take
 * its funds, then revocations and retries, then untidiness and costly habits by cost. Revocations and retries keep the
 * order of their nonces: a step moves up with a more severe one behind it.
 */
export function planProtection<Ready>(findings: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return rankSteps({
    first: [...riskSteps(findings), ...safetySteps(findings)],
    sequence: [...revocationSteps(findings), ...retrySteps(findings)],
    rest: [...savingSteps(findings), ...washSteps(findings)],
  });
}

/**
 * Sorts approvals at risk in the order of revocation. Vouched tokens go first, since anyone can create others. Among
 * them, recently used approvals go last unless the spender is flagged: a strategy may depend on them. Then by risk,
 * then by the value at stake (unknown counts as 0).
 */
export function rankApprovals<
  Approval extends {
    readonly finding: ApprovalFinding;
    readonly valueMicroUsd: number | null;
    readonly isInUse: boolean;
    /** Whether the token is listed, or used by others. */
    readonly isVouched: boolean;
  },
>(approvals: readonly Approval[]): readonly Approval[] {
  const isLate = ({ finding, isInUse }: Approval) => isInUse && finding.risks[0] !== "flagged";
  const worthOf = ({ valueMicroUsd }: Approval) => valueMicroUsd ?? 0;
  return approvals.toSorted(
    (a, b) =>
      Number(b.isVouched) - Number(a.isVouched) ||
      Number(isLate(a)) - Number(isLate(b)) ||
      rankOfRisks(a.finding) - rankOfRisks(b.finding) ||
      worthOf(b) - worthOf(a),
  );
}

export function isInUse({ lastUsedAt }: Pick<ApprovalFinding, "lastUsedAt">, now: number): boolean {
  return lastUsedAt !== null && lastUsedAt >= now - UNUSED_DAYS * SECONDS_PER_DAY;
}

const NO_WARNING = { lastUsedAt: null, warning: null } as const;
const NO_MONEY = { valueMicroUsd: null, monthlySavingMicroUsd: null, ...NO_WARNING, ready: null } as const;

function riskSteps<Ready>({ risk }: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return risk.signals
    .filter(({ severity }) => severity === "critical")
    .map(({ name, detail }) => ({
      ...NO_MONEY,
      service: "risk",
      action: "review_risk",
      severity: "critical",
      description: `Look into ${name.replaceAll("_", " ")} before anything else: others refuse the wallet for it.`,
      reason: detail,
    }));
}

function safetySteps<Ready>({ health }: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return health.advice
    .filter(({ kind }) => kind === "leave_listed_accounts" || kind === "revoke_delegation")
    .map(({ kind, action, reason, evidence }) => ({
      ...NO_MONEY,
      service: "health",
      action: kind,
      severity: "critical",
      description: action,
      reason: `${reason} ${evidence}.`,
    }));
}

function revocationSteps<Ready>({
  revocations,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return revocations.map(({ finding, valueMicroUsd, isInUse, ready }) => {
    const { action, reason, evidence } = adviceOnApproval(finding);
    const [gravest] = finding.risks;
    return {
      service: "health",
      action: "revoke_approval",
      severity: gravest === undefined ? "info" : APPROVAL_SEVERITY[gravest],
      description: action,
      reason: `${reason} ${evidence}.`,
      valueMicroUsd,
      monthlySavingMicroUsd: null,
      lastUsedAt: finding.lastUsedAt,
      warning: isInUse ? STOPS_USE : null,
      ready,
    };
  });
}

const STOPS_USE = `It was possibly used within the last ${UNUSED_DAYS} days: taking it back stops whatever of the wallet's own uses it.`;

function retrySteps<Ready>({ retries }: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return retries.map((retry) => ({
    ...retry,
    service: "retry",
    action: "retry_transaction",
    severity: "warning",
    monthlySavingMicroUsd: null,
    ...NO_WARNING,
  }));
}

function savingSteps<Ready>({
  optimization,
  days,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  const savings = (optimization?.methods ?? []).flatMap((method) => method.savings);
  return adviseSavings(savings, days).map((advice) => ({
    ...NO_MONEY,
    ...advice,
    service: "optimize",
    severity: "info",
  }));
}

/** Approvals and delegations have steps of their own. */
function washSteps<Ready>({ wash }: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return (wash?.issues ?? []).flatMap(({ category, severity, description, action }) => {
    if (category === "approvals" || category === "delegation" || severity === "info") return [];
    return [
      {
        ...NO_MONEY,
        service: "wash",
        action: "clean_up",
        severity,
        description: action,
        reason: description,
      },
    ];
  });
}

/** All steps by severity. A step of the sequence takes the highest severity of the steps behind it in the sequence. */
export function rankSteps<Step extends { readonly severity: Severity }>({
  first,
  sequence,
  rest,
}: {
  /** Go first among steps of their severity. */
  first: readonly Step[];
  /** Keep their order: their transactions follow one another. */
  sequence: readonly Step[];
  /** Go last among steps of their severity. */
  rest: readonly Step[];
}): readonly Step[] {
  const rankOf = ({ severity }: Step) => SEVERITIES.indexOf(severity);
  const placed = [
    ...first.map((step) => ({ step, rank: rankOf(step), list: 0 })),
    ...sequence.map((step, place) => ({
      step,
      rank: Math.min(...sequence.slice(place).map(rankOf)),
      list: 1,
    })),
    ...rest.map((step) => ({ step, rank: rankOf(step), list: 2 })),
  ];
  return placed.toSorted((a, b) => a.rank - b.rank || a.list - b.list).map(({ step }) => step);
}

const SMALL_MICRO_USD = 10_000;

/** Wei of failed calls' fees and of known overpayment by successes: the most that could be saved. */
export function avoidableWei({ calls }: ReportFacts["paid"]): bigint {
  return calls.reduce((sum, { call, fee, overpaid }) => {
    if (!call.ok) return sum + fee.wei;
    return overpaid === null ? sum : sum + overpaid.wei;
  }, 0n);
}

/**
 * Advice on costly habits: largest saving first, by US dollars, then by wei; unpriced savings come last. Savings below one
 * cent a month share one last step.
 */
export function adviseSavings(savings: readonly Saving[], days: number) {
  const sorted = savings
    .filter(({ monthly }) => monthly.wei > 0n)
    .toSorted(
      ({ monthly: a }, { monthly: b }) => (b.microUsd ?? -1) - (a.microUsd ?? -1) || compare(b.wei, a.wei),
    );
  const isSmall = ({ monthly: { microUsd } }: Saving) => microUsd !== null && microUsd < SMALL_MICRO_USD;
  const small = sorted.filter(isSmall);
  if (small.length < 2) return sorted.map((saving) => adviseOn(saving, days));
  const { wei, microUsd } = sumMoney(small.map(({ monthly }) => monthly));
  const together = {
    action: "small_savings" as const,
    description: `Look at the ${small.length} costly habits that GET /optimize/{address} lists besides, if at all.`,
    reason: `Each costs less than a cent a month: ${wei} wei a month together.`,
    monthlySavingMicroUsd: microUsd,
  };
  const large = sorted.filter((saving) => !isSmall(saving));
  return [...large.map((saving) => adviseOn(saving, days)), together];
}

function adviseOn(saving: Saving, days: number) {
  const { action, reason, evidence } = adviceOnSaving(saving, days);
  return {
    action: saving.kind,
    description: action,
    reason: `${reason} ${evidence}.`,
    monthlySavingMicroUsd: saving.monthly.microUsd,
  };
}
