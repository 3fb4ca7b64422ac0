import type { SanctionsFlag } from "../../model/features/types.ts";
import type { FeatureLine, Pattern } from "../../model/score/record.ts";
import type { CounterpartyShares } from "./risk-exposure.ts";
import type { ScoreExplanation } from "./risk-facts.ts";

type SignalSeverity = "high" | "medium" | "info";

/** Something that speaks for a risk, or explains that there is none. */
export type RiskSignal = {
  /** The name of the pattern, feature or cap of the model; or sanctioned, listed_counterparties, failing_counterparties. */
  readonly name: string;
  readonly severity: SignalSeverity;
  readonly detail: string;
};

/** Features below a grade C of their own are worth a word, below an E a loud one. */
const WEAK_BELOW = 60;
const FAILING_BELOW = 20;
/** From a tenth of the volume on it is no accident; the model's own bound. */
const NOTABLE_SHARE = 0.1;

const SEVERITIES = ["high", "medium", "info"] as const;

/** Records have the words of the model; the reports have one scale among them. */
const PATTERN_SEVERITY: Readonly<Record<Pattern["severity"], SignalSeverity>> = {
  critical: "high",
  warning: "medium",
  info: "info",
};

/** How a feature's value reads; of one that is not here, as a number with its unit. */
const WORDS: ReadonlyMap<string, (value: number) => string> = new Map([
  [
    "success_rate",
    (value) => `succeeds in an estimated ${percent(value)} of its calls, recent ones counting more`,
  ],
  ["gas_efficiency", (value) => `burns an estimated ${percent(value)} of its fees by failures`],
  ["portfolio_quality", (value) => `${percent(value)} of what it holds, by value, is recognised`],
  ["dust_and_spam", (value) => `${percent(value)} of its tokens are dust or spam`],
  ["timing_regularity", (value) => `calls in bursts or after long silences, burstiness ${round(value)}`],
  ["counterparty_diversity", (value) => `deals with ${round(value)} effective counterparties`],
  ["adaptation", () => "goes on with calls that fail"],
  ["failure_recovery", (value) => `is slow to recover from failures, estimated burden ${round(value)}`],
  ["consistency", (value) => `${round(value)} active weeks, or weeks of little success among them`],
]);

/** Rhythm, variety and constancy, which are worth nothing where calls fail, and little where there are few. */
const EARNED_BY_SUCCESS: ReadonlySet<string> = new Set([
  "timing_regularity",
  "counterparty_diversity",
  "consistency",
]);

/** What alone is reason enough to keep away; a weakness of the others is a warning. */
const GRAVE: ReadonlySet<string> = new Set(["success_rate", "failure_recovery", "adaptation", "risk_flags"]);

/** Everything that a wallet's lists, stored score and counterparties tell, the worst first. */
export function riskSignals(facts: {
  readonly sanctions: readonly SanctionsFlag[];
  readonly explanation: ScoreExplanation | null;
  readonly shares: CounterpartyShares | null;
}): readonly RiskSignal[] {
  const { sanctions, explanation, shares } = facts;
  const signals = [
    ...(sanctions.length === 0 ? [] : [sanctionedSignal(sanctions)]),
    ...(explanation === null ? [] : explanationSignals(explanation)),
    ...(shares === null ? [] : exposureSignals(shares)),
  ];
  return SEVERITIES.flatMap((severity) => signals.filter((signal) => signal.severity === severity));
}

function sanctionedSignal(flags: readonly SanctionsFlag[]): RiskSignal {
  const lists = flags.map(({ source, reference }) => `${source} (${reference})`).join(", ");
  return { name: "sanctioned", severity: "high", detail: `on a sanctions list: ${lists}` };
}

function explanationSignals({ patterns, features }: ScoreExplanation): readonly RiskSignal[] {
  const success = features.find(({ name }) => name === "success_rate");
  // Without a total there is too little history; what that takes from them, or failures do, is told once.
  const isScored = features.some(({ dimension }) => dimension === "AHS");
  const isEarned = isScored && !(success !== undefined && isWeak(success));
  return [
    ...patterns.map(patternSignal),
    ...features
      .filter(({ name }) => isEarned || !EARNED_BY_SUCCESS.has(name))
      .map((line) => (line.dimension === "AHS" ? capSignal(line) : featureSignal(line))),
  ].filter((signal) => signal !== null);
}

function isWeak({ state, score }: FeatureLine): boolean {
  return state === "measured" && score !== null && score < WEAK_BELOW;
}

function patternSignal({ name, severity, evidence }: Pattern): RiskSignal {
  return { name, severity: PATTERN_SEVERITY[severity], detail: evidence };
}

/** A limit of the total that took points; apart from the dimensions the only lines of it with a score. */
function capSignal({ name, score, weight, contribution, reason }: FeatureLine): RiskSignal | null {
  if (score === null || weight !== 0 || contribution === null || contribution >= 0) return null;
  return { name, severity: "medium", detail: `score limited to ${score}: ${reason ?? name}` };
}

function featureSignal(line: FeatureLine): RiskSignal | null {
  const { name, value, unit, samples, score, reason } = line;
  if (!isWeak(line) || value === null || score === null) return null;
  // What risk flags found stands in their reason alone.
  const found = name === "risk_flags" ? reason : (WORDS.get(name)?.(value) ?? null);
  return {
    name,
    severity: score < FAILING_BELOW && GRAVE.has(name) ? "high" : "medium",
    detail: `${found ?? `${round(value)} ${unit}`}; ${Math.round(score)} of 100 points by ${samples} samples`,
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
      severity: failing.share >= NOTABLE_SHARE ? "medium" : "info",
      detail: `${percent(failing.share)} of what it sent went to wallets of grade F: ${failing.counterparties}`,
    });
  }
  return signals;
}

function listedSignal({ counterparties, share }: CounterpartyShares["listed"]): RiskSignal {
  const name = "listed_counterparties";
  const way = counterparties === 0 ? ", by way of other contracts" : `: ${counterparties}`;
  const who = `sanctioned accounts or mixers${way}`;
  if (share === null)
    return { name, severity: "medium", detail: `dealt with ${who}; how much is not known now` };
  if (share === 0) {
    return {
      name,
      severity: "info",
      detail: `dealt with ${who}; nothing that the score looks at went there`,
    };
  }
  return {
    name,
    severity: share >= NOTABLE_SHARE ? "high" : "medium",
    detail: `${percent(share)} of what it sent went to ${who}`,
  };
}

function percent(share: number): string {
  return share > 0 && share < 0.0005 ? "less than 0.1 %" : `${Math.round(share * 1000) / 10} %`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
