import type { Hex } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { SEVERITIES, type Severity } from "../../model/score/record.ts";
import { countText, percentText } from "../phrases.ts";
import type { Risk, RiskSignal } from "../risk/risk.ts";
import type { Wash, WashIssue } from "../wash/wash.ts";
import { type ApprovalFinding, rankOfRisks, UNUSED_DAYS } from "./approvals.ts";
import type { Health } from "./health.ts";
import { type Advice, adviceOnApproval, adviseByKind, callName, isBelow } from "./health-advice.ts";
import type { Saving } from "./optimize.ts";
import type { ReportFacts } from "./report-facts.ts";

type ProtectService = "risk" | "health" | "wash" | "optimize" | "retry";

/** A step that may hold a transaction to sign, or is refused one. */
type Signable = { readonly kind: "ready" | "refused" };

/** A recommended step; `ready` holds its part that can be signed at once. */
export type ProtectionStep<Ready extends Signable> = Pick<
  Advice,
  "severity" | "action" | "reason" | "called" | "calls" | "suggestedLimit" | "spender" | "token" | "saves"
> & {
  readonly service: ProtectService;
  readonly kind: Advice["kind"] | BlockerKind | "retry_transaction" | "clean_up";
  /** Whole millionths of a US dollar at stake; null if it is not about money or has no known price. */
  readonly valueMicroUsd: number | null;
  /** Unix seconds of the last possible use of the revoked approval; null if unknown, and for other steps. */
  readonly lastUsedAt: number | null;
  /** The failed transaction that a retry repeats; null for other steps. */
  readonly failedHash: Hex | null;
  /** Possible side effects of the step; null if none are known. */
  readonly warning: string | null;
  readonly ready: Ready | null;
};

type BlockerKind = "resolve_listing" | "stop_failing_calls" | "deal_with_others" | "review_risk";

/** Findings of the services. */
export type ProtectionFindings<Ready extends Signable> = {
  readonly risk: {
    readonly level: Risk["level"];
    readonly signals: readonly RiskSignal[];
    /** Names of the sanctions lists that the wallet is on. */
    readonly sanctions: readonly string[];
  };
  readonly health: Health;
  readonly wash: Wash;
  readonly savings: readonly Saving[];
  readonly facts: Pick<ReportFacts, "rows" | "policy">;
  /** In the order of their transactions. */
  readonly revocations: readonly {
    readonly finding: ApprovalFinding;
    readonly valueMicroUsd: number | null;
    readonly isInUse: boolean;
    readonly ready: Ready;
  }[];
  /** In the order of their transactions. */
  readonly retries: readonly Pick<
    ProtectionStep<Ready>,
    "action" | "reason" | "called" | "valueMicroUsd" | "failedHash" | "ready"
  >[];
  /** Failed transactions of the last 30 days. */
  readonly failuresFound: number;
};

/**
 * Builds one plan: transactions to sign in the order of their nonces, then what makes others reject the wallet or
 * endangers its funds, then costs, then untidiness; the last three by severity.
 */
export function planProtection<Ready extends Signable>(
  findings: ProtectionFindings<Ready>,
): readonly ProtectionStep<Ready>[] {
  const sequence = [...revocationSteps(findings), ...retrySteps(findings)];
  const isReady = ({ ready }: ProtectionStep<Ready>) => ready?.kind === "ready";
  const blockers: readonly ProtectionStep<Ready>[] = [
    ...blockerSteps(findings),
    ...safetySteps(findings),
    ...sequence.filter((step) => !isReady(step)),
  ];
  return [
    ...sequence.filter(isReady),
    ...bySeverity(blockers),
    ...savingSteps<Ready>(findings),
    ...bySeverity(washSteps(findings)),
  ];
}

function bySeverity<Item extends { readonly severity: Severity }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
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

const NOTHING = {
  called: null,
  calls: null,
  suggestedLimit: null,
  spender: null,
  token: null,
  saves: null,
  valueMicroUsd: null,
  lastUsedAt: null,
  failedHash: null,
  warning: null,
  ready: null,
} as const;

function revocationSteps<Ready extends Signable>({
  revocations,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return revocations.map(({ finding, valueMicroUsd, isInUse, ready }) => ({
    ...NOTHING,
    ...adviceOnApproval(finding),
    service: "health",
    valueMicroUsd,
    lastUsedAt: finding.lastUsedAt,
    warning: isInUse ? STOPS_USE : null,
    ready,
  }));
}

const STOPS_USE = `Possibly used in the last ${UNUSED_DAYS} days. Revoking it may break an integration that relies on it.`;

function retrySteps<Ready extends Signable>({
  retries,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return retries.map((retry) => ({
    ...NOTHING,
    ...retry,
    service: "retry",
    kind: "retry_transaction",
    severity: "warning",
  }));
}

/** Signals of the risk about one cause, of which a plan has one step. */
type Cause = "sanctions" | "threats" | "listed_counterparties" | "failing_calls" | "self_dealing";

const CAUSES: Readonly<Record<string, Cause>> = {
  sanctioned: "sanctions",
  listed_phishing: "threats",
  listed_scam: "threats",
  listed_mixer: "threats",
  listed_exploit: "threats",
  listed_counterparties: "listed_counterparties",
  risk_flags: "listed_counterparties",
  success_rate: "failing_calls",
  failure_recovery: "failing_calls",
  adaptation: "failing_calls",
  cascading_failure: "failing_calls",
  low_success: "failing_calls",
  retry_storm: "failing_calls",
  stale_strategy: "failing_calls",
  self_dealing: "self_dealing",
  self_dealing_ring: "self_dealing",
};

/** Signals of the given causes, most severe first; signals of other names have the cause null. */
export function signalsOf(signals: readonly RiskSignal[], cause: Cause | null): readonly RiskSignal[] {
  return signals.filter(({ name }) => (CAUSES[name] ?? null) === cause);
}

/** Why others reject the wallet: one step for each cause of critical signals. */
function blockerSteps<Ready extends Signable>(
  findings: ProtectionFindings<Ready>,
): readonly ProtectionStep<Ready>[] {
  const critical = findings.risk.signals.filter(({ severity }) => severity === "critical");
  const of = (cause: Cause | null) => signalsOf(critical, cause);
  const step = (kind: BlockerKind, action: string, reason: string): ProtectionStep<Ready> => ({
    ...NOTHING,
    service: "risk",
    severity: "critical",
    kind,
    action,
    reason,
  });
  const steps: ProtectionStep<Ready>[] = [];
  if (of("sanctions").length > 0) {
    const action =
      "This wallet is on a sanctions list. Counterparties will reject it; nothing else in this plan changes that.";
    steps.push(step("resolve_listing", action, `Listed by ${findings.risk.sanctions.join(" and ")}.`));
  }
  for (const { detail } of of("threats"))
    steps.push(
      step(
        "resolve_listing",
        "Ask the publisher of the list for a removal, if it is wrong.",
        sentence(detail),
      ),
    );
  if (of("failing_calls").length > 0)
    steps.push(step("stop_failing_calls", failingAction(findings.health), failingWords(findings)));
  if (of("self_dealing").length > 0) {
    const action = "Deal with independent counterparties.";
    steps.push(step("deal_with_others", action, ownShareWords(findings.wash)));
  }
  const isNamed = findings.health.advice.some(({ kind }) => kind === "leave_listed_accounts");
  for (const { detail } of isNamed ? [] : of("listed_counterparties"))
    steps.push(step("review_risk", "Stop sending to sanctioned accounts and mixers.", sentence(detail)));
  for (const { detail } of of(null)) steps.push(step("review_risk", "Resolve this risk.", sentence(detail)));
  return steps;
}

/** A fragment as a sentence. */
function sentence(text: string): string {
  const capital = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return capital.endsWith(".") ? capital : `${capital}.`;
}

function failingAction({ failureGroups }: Health): string {
  const [worst] = failureGroups.toSorted((a, b) => b.failures - a.failures);
  return worst === undefined
    ? "Stop the calls that fail."
    : `Stop or repair the calls that fail, above all ${callName(worst)}.`;
}

/** How many calls failed, and which fail most. */
export function failingWords({ health, facts }: Pick<ProtectionFindings<never>, "health" | "facts">): string {
  const { calls, failures, failureGroups } = health;
  const [worst] = failureGroups.toSorted((a, b) => b.failures - a.failures);
  const all = `${failures} of ${countText(calls, "call")} failed in ${facts.policy.window.days} days`;
  return worst === undefined || worst.failures === failures
    ? `${all}.`
    : `${all}, ${worst.failures} of them ${callName(worst)}.`;
}

/** How much of its dealings stay with the wallet's owner. */
export function ownShareWords({ selfDealing: { share } }: Wash): string {
  if (share === null) return "Outgoing transactions stay with accounts of the same owner.";
  return `${percentText(share)} of the value of outgoing transactions stays with accounts of the same owner.`;
}

function safetySteps<Ready extends Signable>({
  health,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  return health.advice
    .filter(({ kind }) => kind === "leave_listed_accounts" || kind === "revoke_delegation")
    .map((advice) => ({ ...NOTHING, ...advice, service: "health" }));
}

/** Savings below it are no step: 0.10 USD a month. */
export const STEP_FLOOR_MICRO_USD = 100_000;

/** One step for each kind of saving that reaches the floor, the largest first. */
export function savingSteps<Ready extends Signable>({
  savings,
  facts,
}: Pick<ProtectionFindings<Ready>, "savings" | "facts">): readonly ProtectionStep<Ready>[] {
  return adviseByKind(savings, facts.rows.tokens.native)
    .filter(({ saves }) => saves === null || !isBelow(saves, STEP_FLOOR_MICRO_USD))
    .map((advice) => ({ ...NOTHING, ...advice, service: "optimize" }));
}

/** Categories of a wash that have other steps. */
const STEPS_OF_THEIR_OWN: ReadonlySet<WashIssue["category"]> = new Set([
  "approvals",
  "delegation",
  "self_dealing",
  "circular_transfers",
]);

/** One step for each category, since the cleanliness report lists each finding. */
function washSteps<Ready extends Signable>({
  wash,
}: ProtectionFindings<Ready>): readonly ProtectionStep<Ready>[] {
  const step = (finding: Pick<ProtectionStep<Ready>, "severity" | "action" | "reason">) =>
    ({ ...NOTHING, service: "wash", kind: "clean_up", ...finding }) as const;
  const issues = wash.issues.filter(
    ({ category, severity }) => severity !== "info" && !STEPS_OF_THEIR_OWN.has(category),
  );
  const steps = [...Map.groupBy(issues, ({ category }) => category).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { severity, description, action, token, microUsd } = first;
    if (group.length === 1)
      return [{ ...step({ severity, action, reason: description }), token, valueMicroUsd: microUsd }];
    const worths = group.flatMap((issue) => issue.microUsd ?? []);
    return [
      {
        ...step({
          severity,
          action: `Check ${group.length} acquired tokens before using them, then sell them or leave them.`,
          reason: "They are neither listed nor used by others; the cleanliness report names each of them.",
        }),
        valueMicroUsd: worths.length === 0 ? null : worths.reduce((sum, worth) => sum + worth, 0),
      },
    ];
  });
  const circles = circleWords(wash);
  if (circles === null) return steps;
  const action = "Stop moving the same funds in a circle: such volume does not count for the score.";
  return [...steps, step({ severity: "warning", action, reason: circles })];
}

/** How much came back from accounts of the same owner; null for nothing. */
export function circleWords({ selfDealing: { circles } }: Wash): string | null {
  const own = circles.filter((circle) => circle.own);
  if (own.length === 0) return null;
  const times = own.reduce((sum, circle) => sum + circle.times, 0);
  const peers = new Set(own.map(({ peer }) => peer)).size;
  return `${countText(times, "transfer")} to ${countText(peers, "account")} of the same owner came back within 7 days.`;
}
