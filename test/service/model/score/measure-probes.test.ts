import { expect, test } from "vitest";
import { measureProbes, type ProbeFact } from "../../../../service/model/score/score-infrastructure.ts";

const ok = (latencyMs: number, valid: boolean | null = null): ProbeFact => ({
  at: 0,
  alive: true,
  latencyMs,
  valid,
});
const failed = (latencyMs: number | null = null): ProbeFact => ({
  at: 0,
  alive: false,
  latencyMs,
  valid: null,
});

test("no probe has no figures", () => {
  expect(measureProbes([], 10_000)).toBeNull();
});

test.each([
  [
    "one good probe",
    [ok(120)],
    { availability: 1, errorRate: 0, latencyP50Ms: 120, latencyP95Ms: 120, validity: null, judged: 0 },
  ],
  [
    "a failure counts as the longest wait, whatever it took and however it failed",
    [ok(100), failed(5), failed(null)],
    {
      availability: 0.333333,
      errorRate: 0.666667,
      latencyP50Ms: 10_000,
      latencyP95Ms: 10_000,
      validity: 0,
      judged: 2,
    },
  ],
  [
    "the 95th of a hundred by nearest rank",
    Array.from({ length: 100 }, (_, i) => ok(100 - i)),
    { availability: 1, errorRate: 0, latencyP50Ms: 50, latencyP95Ms: 95, validity: null, judged: 0 },
  ],
  [
    "an answer later than the longest wait counts as it",
    [ok(10_400)],
    { availability: 1, errorRate: 0, latencyP50Ms: 10_000, latencyP95Ms: 10_000, validity: null, judged: 0 },
  ],
  [
    "validity among those that tell it",
    [ok(1, true), ok(1, true), ok(1, false), ok(1, null)],
    { availability: 1, errorRate: 0, latencyP50Ms: 1, latencyP95Ms: 1, validity: 0.666667, judged: 3 },
  ],
])("%s", (_name, probes, figures) => {
  expect(measureProbes(probes, 10_000)).toEqual({ probes: probes.length, ...figures });
});
