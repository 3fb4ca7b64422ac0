import { clamp, decayNanos, divideRound, MICRO, NANO, roundMicro, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Feature, FeatureInputs } from "../score/record.ts";
import type { Holdings } from "./holdings.ts";
import type { Market } from "./market.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { GasUse, OwnCall, WalletRows } from "./types.ts";
import type { WeighedCall, WeighedHistory } from "./weigh-calls.ts";

/** Input of every feature of one wallet; history holds at least one outside call. */
export type Facts = {
  readonly rows: WalletRows;
  readonly market: Market;
  readonly history: WeighedHistory;
  /** Success of the wallet, each a share of 1: over the window, of late, and the smaller mean of the two. */
  readonly success: {
    /** s. */
    readonly whole: number;
    /** s_r: by weights that halve every few days. */
    readonly recent: number;
    /** S: s, or if lower its mean with s_r. */
    readonly steady: number;
  };
  readonly failures: readonly FailedCall[];
  /** Failures after several in a row of the same call. */
  readonly blind: {
    readonly calls: number;
    /** Their weight over n_a with a prior, 0 or more. */
    readonly share: number;
  };
  readonly gas: GasUse;
  readonly holdings: Holdings;
  /** Share of the outgoing volume that went to sanctioned or mixer accounts, 0 to 1. */
  readonly exposedShare: number;
  readonly policy: Policy;
};

/** A feature that was computed; the score is in points and is rounded to 1e-6, and `share` is how much of its weight counts. */
export function measured(
  name: string,
  {
    value,
    score,
    samples,
    inputs,
    share = 1,
  }: {
    readonly value: number;
    readonly score: number;
    readonly samples: number;
    readonly inputs?: FeatureInputs;
    /** Above 0, at most 1; less than 1 where few samples must not count as much as many. */
    readonly share?: number;
  },
): Feature {
  const scoreMicros = toMicros(clamp(score, 0, 100));
  const sharePercent = Math.round(100 * share);
  return {
    name,
    state: "measured",
    value: roundMicro(value),
    scoreMicros,
    sharePercent,
    samples,
    reason: null,
    ...(inputs === undefined ? {} : { inputs: roundInputs(inputs) }),
  };
}

/** How much of a feature's weight so many samples earn: all of it from `full` samples on. */
export function shareOf(samples: number, full: number): number {
  return Math.min(1, samples / full);
}

/** A feature that this wallet cannot have. */
export function notApplicable(name: string, samples: number, reason: string): Feature {
  return { name, state: "not_applicable", value: null, scoreMicros: null, samples, reason };
}

/** A feature whose data was not read. */
export function unknown(name: string, reason: string): Feature {
  return { name, state: "unknown", value: null, scoreMicros: null, samples: 0, reason };
}

/** Inputs to a thousandth. */
function roundInputs(inputs: FeatureInputs): FeatureInputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, Math.round(1_000 * value) / 1_000]),
  );
}

/** g: how much a rhythm is worth, from nothing for useless calls to all of it, by the mean of the window's success and a lower recent one. */
export function gate({ success, policy }: Facts): number {
  const working = Math.min(success.whole, (success.whole + success.recent) / 2);
  return clamp((working - policy.gate.floor) / policy.gate.range, 0, 1);
}

/** shr: points drawn towards the middle where little was tried. */
export function shrink(points: number, { history, policy }: Facts): number {
  const prior = policy.shrink.calls * NANO;
  return (history.attempted * points + prior * policy.shrink.points) / (history.attempted + prior);
}

/** Success by section 2 of the scoring model. */
export function measureSuccess(history: WeighedHistory, policy: Policy): Facts["success"] {
  const { prior, recentHalfLifeDays, recentPriorCalls, recentShare } = policy.success;
  const recentOf = recentWeights(history, recentHalfLifeDays);
  let succeeded = 0;
  let recentSucceeded = 0;
  let recentWeight = 0;
  for (const { call, credit, counted } of history.outside) {
    const recent = divideRound(recentOf(call) * credit, MICRO);
    recentWeight += recent;
    if (!call.ok) continue;
    succeeded += counted;
    recentSucceeded += recent;
  }
  const whole = (succeeded + prior.successes * NANO) / (history.evidence + prior.calls * NANO);
  const recent =
    (recentSucceeded + recentPriorCalls * NANO * whole) / (recentWeight + recentPriorCalls * NANO);
  return { whole, recent, steady: Math.min(whole, (1 - recentShare) * whole + recentShare * recent) };
}

/** Weights of calls in billionths that halve every so many days before the last own call. */
export function recentWeights(
  { calls }: Pick<WeighedHistory, "calls">,
  halfLifeDays: number,
): (call: Pick<OwnCall, "timestamp">) => number {
  const last = calls.at(-1);
  return ({ timestamp }) =>
    decayNanos(last === undefined ? 0 : last.timestamp - timestamp, halfLifeDays * SECONDS_PER_DAY);
}

/** Unix seconds from which calls are shown as recent: one half-life of recent success before the last own call; 0 without calls. */
export function recentStart({ calls }: WeighedHistory, { success }: Policy): number {
  const last = calls.at(-1);
  return last === undefined ? 0 : last.timestamp - success.recentHalfLifeDays * SECONDS_PER_DAY;
}

/** A failed outside call and its place among the calls of its (contract, method). */
export type FailedCall = WeighedCall & {
  /** Failures directly before it, with no success between. */
  readonly failuresBefore: number;
  /** Seconds to the next success; null when none followed. */
  readonly recoveredAfter: number | null;
};

/** Every failed outside call of the window, sorted, with its run of failures. */
export function findFailures({ outside }: WeighedHistory): readonly FailedCall[] {
  if (outside.every(({ call }) => call.ok)) return [];
  const nextSuccess = new Map<number, number>();
  const recovered: (number | null)[] = [];
  for (let position = outside.length - 1; position >= 0; position--) {
    const weighed = outside[position];
    if (weighed === undefined) continue;
    const { call, method } = weighed;
    if (call.ok) nextSuccess.set(method, call.timestamp);
    else {
      const next = nextSuccess.get(method);
      recovered.push(next === undefined ? null : next - call.timestamp);
    }
  }
  const runs = new Map<number, number>();
  const failures: FailedCall[] = [];
  for (const weighed of outside) {
    if (weighed.call.ok) {
      runs.delete(weighed.method);
      continue;
    }
    const failuresBefore = runs.get(weighed.method) ?? 0;
    runs.set(weighed.method, failuresBefore + 1);
    failures.push({ ...weighed, failuresBefore, recoveredAfter: recovered.pop() ?? null });
  }
  return failures;
}

/**
 * The blind ones among the failures. Their weight is compared with n_a, not with n: n grows when a call fails, and with it
 * one failure more could look like less blindness.
 */
export function findBlindFailures(
  failures: readonly FailedCall[],
  history: WeighedHistory,
  { adaptation }: Policy,
): Facts["blind"] {
  let calls = 0;
  let weight = 0;
  for (const failure of failures) {
    if (failure.failuresBefore < adaptation.afterFailures) continue;
    calls += 1;
    weight += failure.counted;
  }
  return { calls, share: weight / (history.attempted + adaptation.priorCalls * NANO) };
}
