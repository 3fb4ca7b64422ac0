import type { Random } from "../devnet/population/random.ts";
import type { Temper } from "./agent.ts";
import { logBetween } from "./draw.ts";
import type { Span } from "./rhythm.ts";
import type { Trade } from "./trades.ts";

const DAY = 86_400;

export type Temperament =
  | "healthy"
  | "careless"
  | "recovering"
  | "flaky_20_percent"
  | "gas_war"
  | "dirty_hygiene"
  | "stale"
  | "half_failing"
  | "always_failing";

/**
 * Share of calls that fail for a sound agent, least and most: a payment hardly ever does, a swap meets slippage, a keeper
 * loses races.
 */
const SOUND_FAILURE: Readonly<Record<Trade, readonly [number, number]>> = {
  keeper: [0.002, 0.03],
  trader: [0.005, 0.04],
  payment_agent: [0.001, 0.015],
  escrow_worker: [0.002, 0.03],
  oracle_feeder: [0.001, 0.015],
};

type Setting = { readonly random: Random; readonly trade: Trade; readonly span: Span };

/** The temper of one agent: everything in it is drawn from the ranges of its temperament. */
export function temperOf(temperament: Temperament, setting: Setting): Temper {
  const { random, span } = setting;
  const sound = soundTemper(setting);
  switch (temperament) {
    case "healthy":
      return sound;
    case "careless":
      return { ...sound, failure: always(random.between(0.03, 0.1)) };
    case "recovering":
      return recovering(setting, sound);
    case "flaky_20_percent": {
      const failure = always(random.between(0.16, 0.24));
      return { ...sound, failure, retry: { ...sound.retry, chance: random.between(0.7, 1), failure } };
    }
    case "gas_war":
      return gasWar(random, sound);
    case "dirty_hygiene":
      return {
        ...sound,
        failure: always(random.between(0.02, 0.06)),
        overpay: always(random.between(1.5, 3)),
        usedShare: [0.03, random.between(0.1, 0.3)],
      };
    case "stale": {
      const broken = span.until - random.between(12, 50) * DAY;
      const failing = random.between(0.6, 1);
      const failure = (time: number) => (time < broken ? sound.failure(time) : failing);
      return { ...sound, failure, retry: { ...sound.retry, chance: random.between(0, 0.5), failure } };
    }
    case "half_failing": {
      const failure = always(random.between(0.42, 0.58));
      return { ...sound, failure, retry: { ...sound.retry, chance: random.between(0.2, 0.8), failure } };
    }
    case "always_failing": {
      const failure = always(random.between(0.95, 1));
      return {
        ...sound,
        failure,
        retry: { ...sound.retry, chance: random.between(0, 0.8), failure, most: 3 },
      };
    }
  }
}

/** A sound agent: it reads why a call failed, repairs it within the hour, estimates its gas and pays about the market's price. */
function soundTemper({ random, trade }: Pick<Setting, "random" | "trade">): Temper {
  const failing = logBetween(random, ...SOUND_FAILURE[trade]);
  return {
    failure: always(failing),
    outOfGas: random.between(0, 0.15),
    retry: {
      chance: random.between(0.75, 1),
      delay: [random.between(5, 60), random.between(300, 2_400)],
      failure: always(Math.min(0.3, 5 * failing)),
      most: random.int(2, 6),
    },
    overpay: always(logBetween(random, 1, 1.45)),
    usedShare: [random.between(0.25, 0.6), random.between(0.65, 0.97)],
  };
}

/** Bad for some weeks, then repaired for a month or more. */
function recovering({ random, span }: Setting, sound: Temper): Temper {
  const from = span.from + random.between(0, 15) * DAY;
  const until = from + random.between(14, 40) * DAY;
  const failing = random.between(0.25, 0.6);
  const isBad = (time: number) => time >= from && time < until;
  return {
    ...sound,
    failure: (time) => (isBad(time) ? failing : sound.failure(time)),
    retry: {
      ...sound.retry,
      failure: (time) => (isBad(time) ? failing : sound.retry.failure(time)),
    },
  };
}

/** Outbids others and is outbid: pays many times the market's price and loses one call in four. */
function gasWar(random: Random, sound: Temper): Temper {
  const failure = always(random.between(0.18, 0.35));
  return {
    ...sound,
    failure,
    retry: { chance: random.between(0.3, 0.9), delay: [2, 120], failure, most: 3 },
    overpay: always(logBetween(random, 3, 10)),
  };
}

function always(value: number): (time: number) => number {
  return () => value;
}
