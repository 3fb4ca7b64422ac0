import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { type Agent, deedOf, enrol, follow, type Temper } from "./agent.ts";
import { soil } from "./dirt.ts";
import { gaussian, logBetween, logistic, logit } from "./draw.ts";
import { mine } from "./ledger.ts";
import type { Span } from "./rhythm.ts";
import { approve, payNative, type Task, work } from "./tasks.ts";
import { type Temperament, temperOf } from "./tempers.ts";
import { routineOf, TRADES } from "./trades.ts";
import { DAY, type World } from "./world.ts";

const WEEK = 7 * DAY;

/** Make-up of a population and its change over time; drawn anew for every seed. */
export type Drift = {
  /** Share of agents that start sound; the others start in one of the other tempers, each as likely. */
  readonly sound: number;
  /** Standard deviation of the weekly step in the log odds of failure. */
  readonly step: number;
  /** Probability in a week that something breaks, and that what is broken gets repaired. */
  readonly breaks: number;
  readonly repairs: number;
  /** Share of agents that pad their record with calls that cost nothing. */
  readonly padding: number;
  /** Probability in a month that an approval to a contract of days is abused. */
  readonly drain: number;
};

/** Draws how one population is made and drifts. */
export function drawDrift(random: Random): Drift {
  return {
    sound: random.between(0.4, 0.6),
    step: random.between(0.05, 0.3),
    breaks: random.between(0.005, 0.03),
    repairs: random.between(0.1, 0.4),
    padding: random.between(0.03, 0.1),
    drain: random.between(0.02, 0.08),
  };
}

/** One agent of a drifting population. */
export type Drifter = Agent & {
  readonly padded: boolean;
  /** Hashes of the calls that only pad the record. */
  readonly padding: ReadonlySet<string>;
  /** Unix seconds at which an approval was abused in the last 30 days; null where none was. */
  readonly drainedAt: number | null;
};

const UNSOUND: readonly Temperament[] = [
  "careless",
  "recovering",
  "flaky_20_percent",
  "gas_war",
  "dirty_hygiene",
  "stale",
  "half_failing",
  "always_failing",
];

/** Lets an agent live whose quality drifts: it fails more or less from week to week, breaks, is repaired. */
export function drift(world: World, random: Random, rule: Drift): Drifter {
  const temperament = random.chance(rule.sound) ? "healthy" : random.pick(UNSOUND);
  const agent = enrol(world, random, { ageDays: ageOf(temperament, random) });
  const trade = random.pick(TRADES);
  const span = { from: world.start, until: world.start + world.days * DAY };
  // A change of a temper has a time of its own, before the score or after it.
  const horizon = { from: span.from, until: span.from + random.between(40, world.days) * DAY };
  const temper = drifting(temperOf(temperament, { random, trade, span: horizon }), { random, rule, span });
  const routine = routineOf(trade, { world, random, agent, span, pace: 0.6 });
  const calls = follow({ ...world, random }, agent.wallet, { routine, temper });
  const isDirty = temperament === "dirty_hygiene";
  if (isDirty) soil(world, random, { agent, span });
  const padded = random.chance(rule.padding);
  const count = padded ? Math.round(calls.length * random.between(1, 5)) : 0;
  const padding = padded ? pad(world, random, { agent, span, count }) : [];
  const opened = world.ledger.approvals.get(agent.wallet)?.length ?? 0;
  const drained = isDirty && random.chance(1 - (1 - rule.drain) ** opened);
  const drainedAt = drained ? random.between(span.until - 30 * DAY, span.until) : null;
  return { ...agent, padded, padding: new Set(padding), drainedAt };
}

/** Days; what has lasted for years is a little likelier to be sound, with many exceptions. */
function ageOf(temperament: Temperament, random: Random): number {
  return temperament === "healthy" ? logBetween(random, 5, 900) : logBetween(random, 2, 700);
}

/** A temper whose odds of failure, and price paid, walk from week to week, and which breaks and is repaired. */
function drifting(
  temper: Temper,
  { random, rule, span }: { readonly random: Random; readonly rule: Drift; readonly span: Span },
): Temper {
  const odds: number[] = [];
  const prices: number[] = [];
  let walk = 0;
  let damage = 0;
  let price = 0;
  for (let time = span.from; time < span.until; time += WEEK) {
    walk += rule.step * gaussian(random);
    price += 0.05 * gaussian(random);
    if (damage === 0 && random.chance(rule.breaks)) damage = random.between(1.5, 5);
    else if (damage > 0 && random.chance(rule.repairs)) damage = 0;
    odds.push(walk + damage);
    prices.push(Math.exp(price));
  }
  const at = (series: readonly number[], time: number): number => {
    const value = series[Math.min(series.length - 1, Math.floor((time - span.from) / WEEK))];
    if (value === undefined) throw new RangeError(`no week at ${time}`);
    return value;
  };
  const shifted = (failure: (time: number) => number) => (time: number) =>
    logistic(logit(failure(time)) + at(odds, time));
  return {
    ...temper,
    failure: shifted(temper.failure),
    retry: { ...temper.retry, failure: shifted(temper.retry.failure) },
    overpay: (time) => Math.max(1, temper.overpay(time) * at(prices, time)),
  };
}

/** Makes a record look busy and sound with calls to oneself, to a contract of one's own, or of no effect. */
function pad(
  world: World,
  random: Random,
  { agent, span, count }: { readonly agent: Agent; readonly span: Span; readonly count: number },
): readonly string[] {
  const task = paddingTask(world, random, agent);
  const cheap = { outOfGas: 0, overpay: () => 1, usedShare: [0.8, 0.95] as const };
  return Array.from({ length: Math.min(count, 3_000) }, () => {
    const time = random.between(span.from, span.until);
    return mine({ ...world, random }, agent.wallet, deedOf(random, cheap, { task, time, failure: 0 })).hash;
  });
}

function paddingTask(world: World, random: Random, { wallet }: Agent): Task {
  const kind = random.int(0, 2);
  if (kind === 0) return payNative(world.market, wallet, () => 5);
  if (kind === 1) return approve(world.market.usdc);
  const address = newAddress(random);
  const own = { address, hasCode: true, creator: wallet, firstFunder: null, existedAt: world.start };
  world.ledger.accounts.set(address, own);
  return work(own, "0x12345678");
}
