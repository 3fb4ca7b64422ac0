/** A seeded stream of numbers: the same seed gives the same stream on every machine. */
export type Random = {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [low, high]. */
  int(low: number, high: number): number;
  /** Uniform in [low, high). */
  between(low: number, high: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the values, each as likely; throws on an empty list. */
  pick<T>(values: readonly T[]): T;
  /** `count` different values in random order, or all when there are fewer. */
  sample<T>(values: readonly T[], count: number): T[];
  /** Exponentially distributed with this mean. */
  exponential(mean: number): number;
  /** A stream of its own, independent of how far this one was read. */
  fork(label: string): Random;
};

/** A stream from a text seed: sfc32 (Doty-Humphrey, PractRand) seeded by the cyrb128 hash of the text. */
export function seededRandom(seed: string): Random {
  const next = sfc32(cyrb128(seed));
  const between = (low: number, high: number): number => low + next() * (high - low);
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const sample = <T>(values: readonly T[], count: number): T[] => {
    const pool = [...values];
    const taken: T[] = [];
    while (pool.length > 0 && taken.length < count) taken.push(...pool.splice(int(0, pool.length - 1), 1));
    return taken;
  };
  return {
    next,
    int,
    between,
    sample,
    chance: (probability) => next() < probability,
    pick: (values) => {
      const value = values[int(0, values.length - 1)];
      if (value === undefined) throw new Error("nothing to pick from an empty list");
      return value;
    },
    exponential: (mean) => -mean * Math.log(1 - next()),
    fork: (label) => seededRandom(`${seed}/${label}`),
  };
}

function sfc32(state: readonly [number, number, number, number]): () => number {
  let [a, b, c, d] = state;
  const step = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  // The first outputs still resemble the seed.
  for (let i = 0; i < 12; i += 1) step();
  return step;
}

function cyrb128(text: string): readonly [number, number, number, number] {
  let [h1, h2, h3, h4] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    h1 = h2 ^ Math.imul(h1 ^ code, 597399067);
    h2 = h3 ^ Math.imul(h2 ^ code, 2869860233);
    h3 = h4 ^ Math.imul(h3 ^ code, 951274213);
    h4 = h1 ^ Math.imul(h4 ^ code, 2716044179);
  }
  h1 = Math.imul(h3 ^ (h1 >>> 18), 597399067);
  h2 = Math.imul(h4 ^ (h2 >>> 22), 2869860233);
  h3 = Math.imul(h1 ^ (h3 >>> 17), 951274213);
  h4 = Math.imul(h2 ^ (h4 >>> 19), 2716044179);
  h1 ^= h2 ^ h3 ^ h4;
  return [h1 >>> 0, (h2 ^ h1) >>> 0, (h3 ^ h1) >>> 0, (h4 ^ h1) >>> 0];
}
