/** Parts of one in a weight: sums of a million whole calls stay exact integers. */
export const NANO = 1_000_000_000;

/** Parts of one in a score, a share or a credit. */
export const MICRO = 1_000_000;

const STEPS = 4_096;
const HALVINGS = 64;
const TWO_TO_32 = 4_294_967_296;
const HALF_POWERS = halfPowers();
const FRACTIONS = fractionPowers();
const LOGS = mantissaLogs();

/**
 * 2^(-elapsed / halfLife) in billionths, for times not below zero; within 1e-8 of the true value.
 * From tables built by square roots and products alone, which every engine rounds alike.
 */
export function decayNanos(elapsed: number, halfLife: number): number {
  return Math.round(powerOfHalf(elapsed / halfLife) * NANO);
}

/** 2^x within 1e-8 of its value, for 0 ≤ x < 64. */
export function powerOfTwo(x: number): number {
  const ceiling = Math.ceil(x);
  return powerOfHalf(ceiling - x) / at(HALF_POWERS, ceiling);
}

/** log2 of a number not below one, within 2e-8. */
export function logTwo(x: number): number {
  let rest = x;
  let exponent = 0;
  while (rest >= TWO_TO_32) {
    rest /= TWO_TO_32;
    exponent += 32;
  }
  const bits = 31 - Math.clz32(rest);
  // Division by a power of two is exact.
  const position = (rest * at(HALF_POWERS, bits) - 1) * STEPS;
  const step = Math.floor(position);
  const low = at(LOGS, step);
  return exponent + bits + low + (at(LOGS, step + 1) - low) * (position - step);
}

/** Rounds to millionths, halves up. */
export function toMicros(x: number): number {
  return Math.round(x * MICRO);
}

/** Rounds a value to 1e-6, so that it prints the same everywhere. */
export function roundMicro(x: number): number {
  return Math.round(x * MICRO) / MICRO;
}

/** Quotient of two integers rounded to the nearest integer, halves up; the divisor is positive. */
export function divideRound(dividend: number, divisor: number): number {
  return Math.floor((2 * dividend + divisor) / (2 * divisor));
}

/** Keeps x between low and high. */
export function clamp(x: number, low: number, high: number): number {
  return Math.min(Math.max(x, low), high);
}

function powerOfHalf(x: number): number {
  const whole = Math.floor(x);
  if (whole >= HALVINGS) return 0;
  const position = (x - whole) * STEPS;
  const step = Math.floor(position);
  const high = at(FRACTIONS, step);
  return (high + (at(FRACTIONS, step + 1) - high) * (position - step)) * at(HALF_POWERS, whole);
}

function halfPowers(): Float64Array {
  const powers = new Float64Array(HALVINGS + 1);
  powers[0] = 1;
  for (let i = 1; i <= HALVINGS; i++) powers[i] = at(powers, i - 1) / 2;
  return powers;
}

/** 2^(-i/4096): the product of the roots 2^(-1/2), 2^(-1/4), … named by the bits of i. */
function fractionPowers(): Float64Array {
  const powers = new Float64Array(STEPS + 1);
  powers[0] = 1;
  powers[STEPS] = 0.5;
  let root = 0.5;
  for (let bit = STEPS / 2; bit >= 1; bit /= 2) {
    root = Math.sqrt(root);
    for (let i = bit; i < STEPS; i += 2 * bit) powers[i] = at(powers, i - bit) * root;
  }
  return powers;
}

/** log2(1 + i/4096), bit by bit from repeated squaring. */
function mantissaLogs(): Float64Array {
  const logs = new Float64Array(STEPS + 1);
  for (let i = 0; i < STEPS; i++) {
    let rest = 1 + i / STEPS;
    let log = 0;
    for (let bit = 0.5; bit > 1e-12; bit /= 2) {
      rest *= rest;
      if (rest < 2) continue;
      rest /= 2;
      log += bit;
    }
    logs[i] = log;
  }
  logs[STEPS] = 1;
  return logs;
}

function at(table: Float64Array, index: number): number {
  const entry = table[index];
  if (entry === undefined) throw new RangeError(`table of ${table.length} entries has none at ${index}`);
  return entry;
}
