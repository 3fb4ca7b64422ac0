import type { ApprovalFinding, ApprovalRisk } from "./approvals.ts";
import type { Health } from "./health.ts";
import { type AdviceKind, adviceOnApproval, adviceOnSaving } from "./health-advice.ts";
import type { Optimization } from "./optimize.ts";
import type { Risk } from "./risk.ts";
import type { RiskSignal } from "./risk-signals.ts";
import type { Wash } from "./wash.ts";

export type ProtectService = "risk" | "health" | "wash" | "optimize" | "retry";

type StepSeverity = "critical" | "high" | "medium" | "low";

/** Something to do; what of it can be signed at once is `ready`. */
export type ProtectionStep<Ready> = {
  readonly service: ProtectService;
  readonly action: AdviceKind | "review_risk" | "retry_transaction" | "clean_up";
  readonly severity: StepSeverity;
  readonly description: string;
  readonly reason: string;
  /** Whole millionths of a US dollar that are at stake; null where it is not about money, or no price is known. */
  readonly valueMicroUsd: number | null;
  /** The same saved each month; null where nothing is, or no price is known. */
  readonly monthlySavingMicroUsd: number | null;
  readonly ready: Ready | null;
};

/** What the services found; null for one that was not run. */
export type ProtectionFindings<Ready> = {
  readonly risk: { readonly level: Risk["level"]; readonly signals: readonly RiskSignal[] };
  readonly health: Health;
  readonly wash: Wash | null;
  readonly optimization: Optimization | null;
  /** Days that the bill of the optimization is spread over. */
  readonly days: number;
  /** In the order of their transactions. */
  readonly revocations: readonly (ValuedApproval & { readonly ready: Ready })[];
  /** In the order of their transactions. */
  readonly retries: readonly {
    readonly description: string;
    readonly reason: string;
    readonly valueMicroUsd: number | null;
    readonly ready: Ready;
  }[];
};

/** Whether a service is run for a wallet, and why or why not. */
export type ServiceChoice = { readonly name: ProtectService; readonly run: boolean; readonly reason: string };

const APPROVAL_SEVERITY: Readonly<Record<ApprovalRisk, StepSeverity>> = {
  flagged: "critical",
  no_code: "critical",
  young: "high",
  unknown: "medium",
  unused: "low",
};

/** What the risk calls for: everything unless it is LOW, and then what has something to find. */
export function chooseServices({
  level,
  health,
  failures,
}: {
  readonly level: Risk["level"];
  readonly health: Health;
  /** Failed transactions that could be looked at. */
  readonly failures: number;
}): readonly ServiceChoice[] {
  const isLow = level === "LOW";
  const risky = (health.approvals ?? []).filter(({ risks }) => risks.length > 0).length;
  const callsFor = `the risk is ${level}`;
  const choose = (name: ProtectService, found: boolean, what: string): ServiceChoice => ({
    name,
    run: found || !isLow,
    reason: found ? what : isLow ? `the risk is LOW and there is nothing of it: ${what}` : callsFor,
  });
  return [
    { name: "risk", run: true, reason: "always" },
    { name: "health", run: true, reason: "always" },
    choose("wash", risky > 0 || health.approvals === null, `approvals at risk or unread: ${risky}`),
    choose("optimize", health.wasted.wei > 0n, `wei of fees wasted: ${health.wasted.wei}`),
    choose("retry", failures > 0, `failed transactions: ${failures}`),
  ];
}

/**
 * One plan from everything found: first what makes others refuse the wallet, then what could be taken from it, then what
 * failed and would pass, the costly habits by what they cost, and untidiness last. Steps with a transaction stand in the
 * order of their nonces.
 */
export function planProtection<Ready>(findings: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return [
    ...riskSteps(findings),
    ...safetySteps(findings),
    ...revocationSteps(findings),
    ...retrySteps(findings),
    ...savingSteps(findings),
    ...washSteps(findings),
  ];
}

const SEVERITIES: readonly StepSeverity[] = ["critical", "high", "medium", "low"];

/** Approvals at risk in the order in which to take them back: by severity, then by what is at stake, unknown as nothing. */
export function rankApprovals<Approval extends ValuedApproval>(
  approvals: readonly Approval[],
): readonly Approval[] {
  const rank = ({ finding }: Approval) => SEVERITIES.indexOf(approvalSeverity(finding));
  const worth = ({ valueMicroUsd }: Approval) => (valueMicroUsd === null ? 0 : valueMicroUsd);
  return approvals.toSorted((a, b) => rank(a) - rank(b) || worth(b) - worth(a));
}

type ValuedApproval = { readonly finding: ApprovalFinding; readonly valueMicroUsd: number | null };

function approvalSeverity({ risks: [gravest] }: ApprovalFinding): StepSeverity {
  return gravest === undefined ? "low" : APPROVAL_SEVERITY[gravest];
}

const NO_MONEY = { valueMicroUsd: null, monthlySavingMicroUsd: null, ready: null } as const;

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
      severity: "high",
      description: action,
      reason: `${reason} ${evidence}.`,
    }));
}

function revocationSteps<Ready>({
  revocations,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return revocations.map(({ finding, valueMicroUsd, ready }) => {
    const { action, reason, evidence } = adviceOnApproval(finding);
    return {
      service: "health",
      action: "revoke_approval",
      severity: approvalSeverity(finding),
      description: action,
      reason: `${reason} ${evidence}.`,
      valueMicroUsd,
      monthlySavingMicroUsd: null,
      ready,
    };
  });
}

function retrySteps<Ready>({ retries }: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return retries.map((retry) => ({
    ...retry,
    service: "retry",
    action: "retry_transaction",
    severity: "medium",
    monthlySavingMicroUsd: null,
  }));
}

function savingSteps<Ready>({
  optimization,
  days,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  const savings = (optimization?.methods ?? []).flatMap((method) => method.savings);
  return savings
    .filter(({ monthly }) => monthly.wei > 0n)
    .toSorted((a, b) => (a.monthly.wei > b.monthly.wei ? -1 : 1))
    .map((saving) => {
      const { kind, action, reason, evidence } = adviceOnSaving(saving, days);
      return {
        ...NO_MONEY,
        service: "optimize",
        action: kind,
        severity: "low",
        description: action,
        reason: `${reason} ${evidence}.`,
        monthlySavingMicroUsd: saving.monthly.microUsd,
      };
    });
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
