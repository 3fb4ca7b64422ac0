import { seededRandom } from "./random.ts";

const MEAN_WEI = 400_000_000;
/** Periods in seconds with the logarithmic swing of each: the day, the hours, the minutes. */
const WAVES = [
  [86_400, 0.5],
  [22_700, 0.35],
  [5_300, 0.25],
  [700, 0.12],
] as const;

/** Base fee in wei at a unix time: seeded waves of 0.1 to 1.4 gwei, since so few transactions would let it fall to nothing. */
export function baseFeeAt(seed: string, at: number): bigint {
  const phases = seededRandom(`${seed}/base-fee`);
  const swing = WAVES.reduce((sum, [period, size]) => {
    return sum + size * Math.sin(2 * Math.PI * (at / period + phases.next()));
  }, 0);
  return BigInt(Math.round(MEAN_WEI * Math.exp(swing)));
}
