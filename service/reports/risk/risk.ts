import type { Address } from "viem";
import { exposedShare } from "../../model/features/exposure.ts";
import { createMarket } from "../../model/features/market.ts";
import type { SanctionsFlag, WalletRows } from "../../model/features/types.ts";
import { weighCalls } from "../../model/features/weigh-calls.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import {
  type ConfidenceLevel,
  type FeatureLine,
  gradeOf,
  leadToScore,
  type Pattern,
  SEVERITIES,
  type Severity,
} from "../../model/score/record.ts";
import { THREAT_CODES, type Threat } from "../../sanctions/threat.ts";
import { sentenceOf } from "../explain-score.ts";
import type { Exposure, ScoreExplanation } from "./risk-facts.ts";

export type RiskEvidence = {
  readonly sanctioned: boolean;
  readonly score:
    | { readonly kind: "not_scored" }
    | { readonly kind: "insufficient" }
    | { readonly kind: "scored"; readonly ahsScore: number; readonly confidenceLevel: ConfidenceLevel };
  /** Share sent to sanctioned accounts or mixers by the model, 0 to 1; null if unknown. */
  readonly listedShare: number | null;
  /** The worst first. */
  readonly signals: readonly RiskSignal[];
};

export type Risk = {
  /** 0 to 100, 100 the worst; null where too little is known. */
  readonly score: number | null;
  readonly level: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";
  /** listed_counterparties: no score, but a notable share went to listed accounts. */
  readonly reason: "scored" | "insufficient_history" | "not_scored" | "listed_counterparties" | "sanctioned";
  /** One sentence, which names no list of threats. */
  readonly verdict: string;
};

/** One scale for grade, route and risk: LOW settles at once, MEDIUM goes to escrow, the others are rejected. */
const LEVELS = { A: "LOW", B: "LOW", C: "MEDIUM", D: "HIGH", E: "HIGH", F: "CRITICAL" } as const;

const LISTED_WORDS = "listed counterparties";

/** Share of the volume that went to listed accounts, strictest first: a tenth is no accident, a D; a fiftieth is a C. */
const EXPOSURE = [
  { from: 0.1, cap: 54 },
  { from: 0.02, cap: 74 },
];

/** Named in a verdict. */
const NAMED_SIGNALS = 2;

/**
 * The risk of dealing with a wallet: 100 minus its score, and at least that of the share sent to listed
 * counterparties, which the score leaves out and which is known without one. A sanctioned wallet has 100. Unknown facts add no risk.
 */
export function assessRisk(evidence: RiskEvidence, policy: Pick<Policy, "grades">): Risk {
  if (evidence.sanctioned) {
    const verdict = "Critical risk: the wallet is on a sanctions list.";
    return { score: 100, level: "CRITICAL", reason: "sanctioned", verdict };
  }
  switch (evidence.score.kind) {
    case "not_scored":
      return unscoredRisk("not_scored", evidence, policy);
    case "insufficient":
      return unscoredRisk("insufficient_history", evidence, policy);
    case "scored":
      return scoredRisk(evidence.score, evidence, policy);
  }
}

/** Risk of a wallet without a score: unknown, unless a notable share went to listed accounts. */
function unscoredRisk(
  reason: "not_scored" | "insufficient_history",
  { listedShare, signals }: RiskEvidence,
  { grades }: Pick<Policy, "grades">,
): Risk {
  const why = reason === "not_scored" ? "the wallet was never scored" : "too little history to judge";
  const cap = capOf(listedShare);
  const named = findingsOf(signals);
  if (cap !== null) {
    const level = LEVELS[gradeOf(cap, grades)];
    const verdict = `At least ${level.toLowerCase()} risk: ${named === "" ? LISTED_WORDS : named}; otherwise ${why}.`;
    return { score: 100 - cap, level, reason: "listed_counterparties", verdict };
  }
  const verdict =
    named === ""
      ? `Unknown risk: ${why}, which is no sign of risk.`
      : `Unknown risk: ${why}; seen so far: ${named}.`;
  return { score: null, level: "UNKNOWN", reason, verdict };
}

function scoredRisk(
  { ahsScore, confidenceLevel }: { ahsScore: number; confidenceLevel: ConfidenceLevel },
  { listedShare, signals }: RiskEvidence,
  { grades }: Pick<Policy, "grades">,
): Risk {
  const points = Math.min(ahsScore, capOf(listedShare) ?? ahsScore);
  const level = LEVELS[gradeOf(points, grades)];
  const named = findingsOf(signals);
  const found = named === "" ? "no signal of risk was found" : named;
  const caution = confidenceLevel === "LOW" ? " (little evidence)" : "";
  return {
    score: 100 - points,
    level,
    reason: "scored",
    verdict: `${shown(level)} risk${caution}: ${found}.`,
  };
}

/** The most points that such a share leaves of 100; null if the share has no effect. */
function capOf(listedShare: number | null): number | null {
  if (listedShare === null) return null;
  return EXPOSURE.find(({ from }) => listedShare >= from)?.cap ?? null;
}

function shown(level: Risk["level"]): string {
  return `${level.charAt(0)}${level.slice(1).toLowerCase()}`;
}

/** The worst findings in words, and how many more there are; empty without any. */
function findingsOf(signals: readonly RiskSignal[]): string {
  const notable = signals.filter(({ name, severity }) => severity !== "info" && !isThreat(name));
  const named = notable.slice(0, NAMED_SIGNALS).map(({ detail }) => uncapitalised(detail));
  const more = notable.length - named.length;
  return [...named, ...(more === 0 ? [] : [`${more} more signal${more === 1 ? "" : "s"}`])].join("; ");
}

function uncapitalised(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/** Lists of threats are named apart: they change neither score nor level. */
function isThreat(name: string): boolean {
  return THREAT_CODES.some((code) => code === name);
}

/** A reason for a risk, or for its absence. */
export type RiskSignal = {
  /** The name of the pattern or feature of the model; or sanctioned, listed_phishing and the like, listed_counterparties, failing_counterparties. */
  readonly name: string;
  readonly severity: Severity;
  readonly detail: string;
};

/** Features below these scores are a warning (a C) or critical (an E). */
const WEAK_BELOW = 60;
const FAILING_BELOW = 20;
/** From a tenth of the volume on it is no accident; the model's own bound. */
const NOTABLE_SHARE = 0.1;

/** Rhythm, variety and constancy, which are worth nothing where calls fail, and little where there are few. */
const EARNED_BY_SUCCESS: ReadonlySet<string> = new Set([
  "timing_regularity",
  "counterparty_diversity",
  "consistency",
]);

/** Features whose weakness alone is critical. */
const GRAVE: ReadonlySet<string> = new Set(["success_rate", "failure_recovery", "adaptation", "risk_flags"]);

/** Lists of threats by name with their kinds. */
export function listsOf(threats: readonly Threat[]): string {
  return threats.map(({ list, kind }) => `${list} (${kind})`).join(", ");
}

/** All signals of a wallet's lists, stored score and counterparties, most severe first. */
export function riskSignals({
  sanctions,
  threats,
  explanation,
  shares,
}: {
  sanctions: readonly SanctionsFlag[];
  threats: readonly Threat[];
  explanation: ScoreExplanation | null;
  shares: CounterpartyShares | null;
}): readonly RiskSignal[] {
  const signals = [
    ...(sanctions.length === 0 ? [] : [sanctionedSignal(sanctions)]),
    ...threats.map(threatSignal),
    ...(explanation === null ? [] : explanationSignals(explanation)),
    ...(shares === null ? [] : exposureSignals(shares)),
  ];
  return SEVERITIES.flatMap((severity) => signals.filter((signal) => signal.severity === severity));
}

function sanctionedSignal(flags: readonly SanctionsFlag[]): RiskSignal {
  const lists = flags.map(({ source, reference }) => `${source} (${reference})`).join(", ");
  return { name: "sanctioned", severity: "critical", detail: `On a sanctions list: ${lists}` };
}

function threatSignal({ list, kind, source, listed_at }: Threat): RiskSignal {
  const detail = `On the threat list ${list} (${source}) since ${listed_at}; this changes no score`;
  return { name: `listed_${kind}`, severity: "critical", detail };
}

function explanationSignals({ patterns, features }: ScoreExplanation): readonly RiskSignal[] {
  const success = features.find(({ name }) => name === "success_rate");
  // Without a total there is too little history; its effect on these features is reported once.
  const isEarned = leadToScore(features) && !(success !== undefined && isWeak(success));
  return [
    ...patterns.map(patternSignal),
    ...features
      .filter(({ dimension, name }) => dimension !== "AHS" && (isEarned || !EARNED_BY_SUCCESS.has(name)))
      .map(featureSignal),
  ].filter((signal) => signal !== null);
}

function isWeak({ state, score }: FeatureLine): boolean {
  return state === "measured" && score !== null && score < WEAK_BELOW;
}

function patternSignal({ name, severity, evidence }: Pattern): RiskSignal {
  return { name, severity, detail: evidence };
}

function featureSignal(line: FeatureLine): RiskSignal | null {
  const { name, value, score } = line;
  if (!isWeak(line) || value === null || score === null) return null;
  return {
    name,
    severity: score < FAILING_BELOW && GRAVE.has(name) ? "critical" : "warning",
    detail: sentenceOf(line),
  };
}

function exposureSignals({ listed, failing }: CounterpartyShares): readonly RiskSignal[] {
  const signals: RiskSignal[] = [];
  if (listed.counterparties > 0 || (listed.share !== null && listed.share > 0)) {
    signals.push(listedSignal(listed));
  }
  if (failing.counterparties > 0) {
    signals.push({
      name: "failing_counterparties",
      severity: failing.share >= NOTABLE_SHARE ? "warning" : "info",
      detail: `${percent(failing.share)} of its outgoing value went to ${failing.counterparties} wallet${failing.counterparties === 1 ? "" : "s"} of grade F`,
    });
  }
  return signals;
}

function listedSignal({ counterparties, share }: CounterpartyShares["listed"]): RiskSignal {
  const name = "listed_counterparties";
  const who =
    counterparties === 0
      ? "sanctioned or mixer accounts through other contracts"
      : `${counterparties} sanctioned or mixer account${counterparties === 1 ? "" : "s"}`;
  if (share === null)
    return { name, severity: "warning", detail: `Dealt with ${who}; the amount is unknown` };
  if (share === 0) {
    return {
      name,
      severity: "info",
      detail: `Dealt with ${who}, without sending value there`,
    };
  }
  return {
    name,
    severity: share >= NOTABLE_SHARE ? "critical" : "warning",
    detail: `${percent(share)} of its outgoing value went to ${who}`,
  };
}

function percent(share: number): string {
  return share > 0 && share < 0.0005 ? "less than 0.1%" : `${Math.round(share * 1000) / 10}%`;
}

type CounterpartyShares = ReturnType<typeof counterpartyShares>;

/**
 * Combines both shares. `listedShare` comes from the model. The share of failing wallets is by value, and at least
 * their share of calls without priced payments.
 */
export function counterpartyShares(exposure: Exposure, listedShare: number | null) {
  const { listed, failing } = exposure;
  const failingShare = Math.max(
    ratio(failing.sentMicroUsd, exposure.sentMicroUsd),
    ratio(failing.unpricedCalls, exposure.calls),
  );
  const sum = listedShare === null ? null : Math.min(1, listedShare + failingShare);
  return {
    /** Sanctioned accounts and mixers; the share is null where own calls cannot be read now. */
    listed: { counterparties: listed.length, share: listedShare },
    /** Unlisted wallets of grade F. */
    failing: { counterparties: failing.counterparties, share: failingShare },
    /** Sum of both shares, at most 1; null if one is unknown. */
    together: sum === null ? null : roundMicro(sum),
  };
}

/** The model's share sent to listed accounts, by current lists as well as those of the rows. */
export function listedShare(rows: WalletRows, listed: readonly Address[], policy: Policy): number {
  const now = new Set(listed);
  const market = createMarket(rows.tokens);
  const counterparties = rows.counterparties.map((fact) =>
    fact.flag === null && now.has(fact.address) ? { ...fact, flag: "sanctioned" as const } : fact,
  );
  return exposedShare(weighCalls(rows, market, policy), { counterparties }, market);
}

/** A part of nothing is nothing. */
function ratio(part: number, whole: number): number {
  return whole > 0 ? roundMicro(part / whole) : 0;
}
