import { divideRound, MICRO, toMicros } from "./fixed-point.ts";

/** One visit to an endpoint, as far as D3 looks at it. */
export type ProbeFact = {
  /** Unix seconds. */
  readonly at: number;
  /** Whether it was answered as by a service that is up; a refusal by 401, 402 or 403 is, 404 and 5xx are not. */
  readonly alive: boolean;
  /** Milliseconds to the end of the answer; null where there was none. */
  readonly latencyMs: number | null;
  /** Whether what it served is what the service's kind must serve; null where nothing can be said. */
  readonly valid: boolean | null;
};

/** What a number of probes say together; shares are of one, rounded to 1e-6. */
export type ProbeFigures = {
  readonly probes: number;
  /** Share of the probes that were answered as alive. */
  readonly availability: number;
  /** Share of the probes that failed, however they did: whoever drops connections gains nothing over who answers 503. */
  readonly errorRate: number;
  /** Nearest rank; a probe that failed counts as having taken the longest time. */
  readonly latencyP50Ms: number;
  readonly latencyP95Ms: number;
  /** Share of the judged probes that served what they must; a failed one served nothing. Null where none is judged. */
  readonly validity: number | null;
  /** Probes whose validity can be told, failed ones included. */
  readonly judged: number;
};

/** Figures of at least one probe, in any order; null of none. A failing probe in place of a good one makes none better. */
export function measureProbes(probes: readonly ProbeFact[], longestMs: number): ProbeFigures | null {
  if (probes.length === 0) return null;
  const alive = probes.filter((probe) => probe.alive);
  const failed = probes.length - alive.length;
  const latencies = probes.map((probe) => latencyOf(probe, longestMs)).sort((a, b) => a - b);
  const judged = alive.filter(({ valid }) => valid !== null).length + failed;
  const valid = alive.filter((probe) => probe.valid === true).length;
  return {
    probes: probes.length,
    availability: share(alive.length, probes.length),
    errorRate: share(failed, probes.length),
    latencyP50Ms: nearestRank(latencies, 50),
    latencyP95Ms: nearestRank(latencies, 95),
    validity: judged === 0 ? null : share(valid, judged),
    judged,
  };
}

function latencyOf({ alive, latencyMs }: ProbeFact, longestMs: number): number {
  return alive && latencyMs !== null ? Math.min(latencyMs, longestMs) : longestMs;
}

function share(part: number, whole: number): number {
  return divideRound(toMicros(part), whole) / MICRO;
}

/** The smallest value that so many percent of the values do not exceed. */
function nearestRank(sorted: readonly number[], percent: number): number {
  const value = sorted[Math.ceil((percent * sorted.length) / 100) - 1];
  if (value === undefined) throw new RangeError("a percentile needs a value");
  return value;
}
