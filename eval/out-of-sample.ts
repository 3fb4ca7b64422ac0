import type { Address } from "viem";
import type { OwnCall } from "../service/model/features/types.ts";
import type { Policy } from "../service/model/score/policy-shape.ts";
import type { ScoreRecord } from "../service/model/score/record.ts";
import { actInBackground, type Crowd } from "./background.ts";
import { type Drift, type Drifter, drawDrift, drift } from "./drifting.ts";
import {
  type Correlation,
  type FeatureValue,
  type FeatureView,
  strongestCorrelation,
  valuesOf,
} from "./feature-value.ts";
import { areaUnderCurve } from "./measures.ts";
import { type Observer, observe } from "./score-wallets.ts";
import { createWorld, DAY, type World } from "./world.ts";

const SCORED_ON_DAY = 60;
const DAYS = 90;
/** Fewer calls after day 60 say little about a rate. */
const MIN_LATER_CALLS = 10;
/** One call in five: what the second of the five tiers just reaches. */
const FAILURE_BOUND = 0.2;
/** Half of the gas bill bought nothing. */
const LOSS_BOUND = 0.5;
/** Half-life of the baseline that weighs late calls more. */
const EWMA_DAYS = 14;
/** Points for a feature that does not apply to a wallet. */
const NEUTRAL_POINTS = 50;

/** Areas under the curve of the score and of what one could look at instead. */
export type Areas = {
  readonly score: number;
  readonly success_rate: number;
  readonly account_age: number;
  /** Success with a half-life of 14 days. */
  readonly ewma_success: number;
  /** Plain mean of the points of all measured features. */
  readonly mean_of_features: number;
  /** Points of gas_efficiency alone. */
  readonly gas_efficiency: number;
};

export type OutOfSample = {
  readonly wallets: number;
  readonly insufficient: number;
  /** Share of the judged wallets that went wrong, by what went wrong. */
  readonly share_failing: number;
  readonly share_losing: number;
  /** More than one in five of the service calls of days 60 to 90 failed. */
  readonly failure: Areas;
  /** More than half of the fees of those days was burnt by failures or paid above the market's price, or an approval was abused. */
  readonly loss: Areas;
  /** The first outcome without those wallets that pad their record. */
  readonly failure_unpadded: Areas;
  readonly features: readonly FeatureValue[];
  /** The greatest, in size, between two D2 features or one of them and plain success. */
  readonly d2_correlation: Correlation;
  readonly drift: Drift;
};

/** Facts of a wallet on day 60, and its later outcome. */
export type Forecast = {
  readonly score: number;
  readonly successRate: number;
  readonly ageDays: number;
  readonly ewmaSuccess: number;
  readonly meanOfFeatures: number;
  readonly gasEfficiency: number;
  readonly padded: boolean;
  readonly fails: boolean;
  readonly loses: boolean;
};

/** Scores a drifting population on day 60 and compares with what it does until day 90; throws where all or none go wrong. */
export function testOutOfSample({
  seed,
  agents,
  crowd,
  policy,
}: {
  readonly seed: string;
  readonly agents: number;
  readonly crowd: Crowd;
  readonly policy: Policy;
}): OutOfSample {
  const world = createWorld(`${seed}/out-of-sample`, DAYS);
  actInBackground(world, crowd);
  const rule = drawDrift(world.random);
  const drifters = Array.from({ length: agents }, (_, i) =>
    drift(world, world.random.fork(`drifter-${i}`), rule),
  );
  const observer = observe(world, { at: world.start + SCORED_ON_DAY * DAY, policy });
  let insufficient = 0;
  const forecasts: Forecast[] = [];
  const views: FeatureView[] = [];
  for (const drifter of drifters) {
    const record = observer.score(drifter.wallet);
    if (record.outcome.kind === "insufficient") {
      insufficient += 1;
      continue;
    }
    const points = pointsOf(record, policy);
    const forecast = judge(world, { drifter, score: record.outcome.ahsScore, points, at: observer.at });
    if (forecast === null) continue;
    forecasts.push(forecast);
    const scoreWithout = scoresWithout(observer, drifter.wallet, policy);
    views.push({ ...forecast, points, scoreWithout });
  }
  return {
    wallets: forecasts.length,
    insufficient,
    share_failing: forecasts.filter(({ fails }) => fails).length / forecasts.length,
    share_losing: forecasts.filter(({ loses }) => loses).length / forecasts.length,
    failure: areasOf(forecasts, ({ fails }) => fails),
    loss: areasOf(forecasts, ({ loses }) => loses),
    failure_unpadded: areasOf(
      forecasts.filter(({ padded }) => !padded),
      ({ fails }) => fails,
    ),
    features: valuesOf(views, policy),
    d2_correlation: strongestCorrelation(views, policy),
    drift: rule,
  };
}

/** Points of the measured features of the policy. */
function pointsOf({ features }: ScoreRecord, policy: Policy): ReadonlyMap<string, number> {
  const names = new Set(policy.features.map(({ name }) => name));
  return new Map(
    features.flatMap(({ name, score }) =>
      names.has(name) && score !== null ? [[name, score] as const] : [],
    ),
  );
}

function scoresWithout(
  observer: Observer,
  wallet: Address,
  policy: Policy,
): ReadonlyMap<string, number | null> {
  return new Map(
    policy.features.map(({ name }) => {
      const { outcome } = observer.scoreWithout(wallet, name);
      return [name, outcome.kind === "scored" ? outcome.ahsScore : null];
    }),
  );
}

/** Areas by which each of the views separates those who go wrong; throws where one of the groups is empty. */
export function areasOf(forecasts: readonly Forecast[], goesWrong: (forecast: Forecast) => boolean): Areas {
  const right = forecasts.filter((forecast) => !goesWrong(forecast));
  const wrong = forecasts.filter(goesWrong);
  const area = (of: (forecast: Forecast) => number): number => {
    const share = areaUnderCurve(right.map(of), wrong.map(of));
    if (share === null)
      throw new Error(`${right.length} wallets did well and ${wrong.length} badly: nothing to compare`);
    return share;
  };
  return {
    score: area(({ score }) => score),
    success_rate: area(({ successRate }) => successRate),
    account_age: area(({ ageDays }) => ageDays),
    ewma_success: area(({ ewmaSuccess }) => ewmaSuccess),
    mean_of_features: area(({ meanOfFeatures }) => meanOfFeatures),
    gas_efficiency: area(({ gasEfficiency }) => gasEfficiency),
  };
}

/** Raw record of a wallet, and its later outcome; null where too few calls follow. */
function judge(
  { ledger, start }: World,
  {
    drifter,
    score,
    points,
    at,
  }: {
    readonly drifter: Drifter;
    readonly score: number;
    readonly points: ReadonlyMap<string, number>;
    readonly at: number;
  },
): Forecast | null {
  const calls = ledger.calls.get(drifter.wallet) ?? [];
  const before = calls.filter(({ timestamp }) => timestamp <= at);
  const later = calls.filter(({ timestamp, hash }) => timestamp > at && !drifter.padding.has(hash));
  const account = ledger.accounts.get(drifter.wallet);
  if (later.length < MIN_LATER_CALLS || account === undefined) return null;
  const failed = later.filter(({ ok }) => !ok).length / later.length;
  const drained = drifter.drainedAt !== null;
  return {
    score,
    successRate: before.filter(({ ok }) => ok).length / before.length,
    ageDays: (start - account.existedAt) / DAY,
    ewmaSuccess: ewmaSuccess(before),
    meanOfFeatures: [...points.values()].reduce((sum, value) => sum + value, 0) / points.size,
    gasEfficiency: points.get("gas_efficiency") ?? NEUTRAL_POINTS,
    padded: drifter.padded,
    fails: failed > FAILURE_BOUND,
    loses: drained || wastedGas(later) > LOSS_BOUND,
  };
}

/** Share of successes, a call of 14 days before the last one counting half. */
function ewmaSuccess(calls: readonly OwnCall[]): number {
  const last = Math.max(...calls.map(({ timestamp }) => timestamp));
  let succeeded = 0;
  let all = 0;
  for (const { ok, timestamp } of calls) {
    const weight = 2 ** ((timestamp - last) / (EWMA_DAYS * DAY));
    all += weight;
    if (ok) succeeded += weight;
  }
  return succeeded / all;
}

/** Share of the fees that failures burnt or that were paid above the market's price. */
function wastedGas(calls: readonly OwnCall[]): number {
  let wasted = 0n;
  let paid = 0n;
  for (const { ok, fee, gasUsed, receipt } of calls) {
    paid += fee;
    const market = receipt === null ? null : receipt.marketPrice;
    if (!ok) wasted += fee;
    else if (market !== null) wasted += fee - gasUsed * market;
  }
  return Number(wasted) / Number(paid);
}
