import { describe, expect, test } from "vitest";
import { account, DAY, HOUR, START, type Step } from "./histories.ts";
import { measure, repeat } from "./measured.ts";

const healthy = repeat(400, 3 * HOUR, { at: START, to: account(9) });
const failing: Step = { at: START + 10 * DAY, ok: false };

describe("retry storm", () => {
  test.each([
    ["ten failures of one call within an hour", repeat(10, 399, failing), -2],
    ["forty of them", repeat(40, 60, failing), -6],
    ["nine of them", repeat(9, 60, failing), 0],
    ["ten over more than an hour", repeat(10, 401, failing), 0],
    [
      "ten of different methods",
      repeat(10, 60, failing).map((step, i) => ({ ...step, selector: `0x0000000${i % 2}` as const })),
      0,
    ],
    ["ten calls that succeed", repeat(10, 60, { ...failing, ok: true }), 0],
  ])("%s: %d points", (_, steps, effect) => {
    expect(effectOf("retry_storm", [...healthy, ...steps])).toBe(effect);
  });
});

describe("stale strategy", () => {
  test("fires where many failures follow three in a row of the same call", () => {
    const stubborn = repeat(60, 2 * HOUR, { ...failing, at: START + 40 * DAY });
    expect(effectOf("stale_strategy", [...healthy, ...stubborn])).toBe(-6);
  });

  test("does not fire where every third try succeeds", () => {
    const adapting = repeat(90, HOUR, { ...failing, at: START + 40 * DAY }).map((step, i) => ({
      ...step,
      ok: i % 3 === 2,
    }));
    expect(effectOf("stale_strategy", [...healthy, ...adapting])).toBe(0);
  });
});

describe("cascading failure", () => {
  const collapse = repeat(80, 4 * HOUR, { at: START + 51 * DAY, to: account(9), ok: false });

  test("fires where a good wallet has failed most of its last calls", () => {
    const [pattern] = measure([...healthy, ...collapse]).patterns.filter(
      ({ name }) => name === "cascading_failure",
    );
    expect(pattern).toMatchObject({ severity: "critical", effect: -8 });
    expect(pattern?.evidence).toMatch(
      /^success of the last 14 days \d+(\.\d)? %, of the whole window \d+(\.\d)? %$/,
    );
  });

  test("does not fire where the failures lie behind it", () => {
    const recovered = repeat(120, 3 * HOUR, { at: START + 65 * DAY, to: account(9) });
    expect(effectOf("cascading_failure", [...healthy, ...collapse, ...recovered])).toBe(0);
  });
});

test("a healthy wallet shows no pattern", () => {
  expect(measure(healthy).patterns).toEqual([]);
});

function effectOf(name: string, steps: readonly Step[]): number {
  return measure(steps).patterns.find((pattern) => pattern.name === name)?.effect ?? 0;
}
