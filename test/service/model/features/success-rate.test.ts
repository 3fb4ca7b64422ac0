import { expect, test } from "vitest";
import { DAY, HOUR, START } from "./histories.ts";
import { measureFeature, repeat } from "./measured.ts";

test("starts from 9 of 10, so that one call proves nothing either way", () => {
  expect(measureFeature("success_rate", [{ at: START }])).toMatchObject({ value: 0.909083, samples: 1 });
  // (s + s14) / 2 with s = 9/11 and s14 = (10·9/11)/11.
  expect(measureFeature("success_rate", [{ at: START, ok: false }])).toMatchObject({ value: 0.780992 });
});

test("is the share that succeeded, by weight", () => {
  const steps = [...repeat(90, 60, { at: START }), ...repeat(10, 60, { at: START + 30 * HOUR, ok: false })];
  const { value } = measureFeature("success_rate", steps);
  expect(value).toBeLessThan(0.9);
  expect(value).toBeGreaterThan(0.7);
});

test("is pulled down by bad last days, but not up by good ones", () => {
  const good = repeat(200, 6 * HOUR, { at: START });
  const bad = repeat(60, 6 * HOUR, { at: START + 60 * DAY, ok: false });
  const steady = measureFeature("success_rate", [...good, ...bad]).value;
  const improved = measureFeature("success_rate", [
    ...repeat(60, 6 * HOUR, { at: START, ok: false }),
    ...repeat(200, 6 * HOUR, { at: START + 20 * DAY }),
  ]).value;
  const all = (260 - 60 + 9) / (260 + 10);
  expect(steady).toBeLessThan(all - 0.2);
  // Only the decay of the old failures lifts it; its last 14 days are without a failure.
  expect(improved).toBeLessThan(0.95);
});

test("of a wallet that called nobody else cannot be measured", () => {
  expect(measureFeature("success_rate", [])).toEqual({
    name: "success_rate",
    state: "not_applicable",
    value: null,
    scoreMicros: null,
    samples: 0,
    reason: "the wallet made no call to anyone else in the window",
  });
});
