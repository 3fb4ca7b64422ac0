import { expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { countForCard } from "../../../../service/reports/report-card/report-card-counts.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  rowsOf,
  START,
  type Step,
  WALLET,
} from "../../model/features/histories.ts";
import { repeat } from "../../model/features/measured.ts";

const count = (steps: readonly Step[], upToBlock = Number.MAX_SAFE_INTEGER) =>
  countForCard({ rows: rowsOf(callsOf(steps)), upToBlock }, AHS_2026_1);

const good = repeat(3, HOUR, { at: START, to: account(9) });
const bad: Step = { at: START + DAY, to: account(9), ok: false };

it("counts what happened, however few the calls and however long ago", () => {
  expect(count(good)).toEqual({ calls: 3, succeeded: 3, burnt: 0, unmended: 0 });
  expect(count([])).toEqual({ calls: 0, succeeded: 0, burnt: null, unmended: 0 });
  const old = repeat(3, HOUR, { at: START + 170 * DAY, to: account(9), ok: false });
  expect(count([...good, ...old])).toMatchObject({ calls: 6, succeeded: 3, burnt: 0.5 });
});

it("tells failures that a success of the same call followed from those that none did", () => {
  const mended = count([...good, bad, { at: START + 2 * DAY, to: account(9) }]);
  expect(mended).toMatchObject({ calls: 5, succeeded: 4, unmended: 0 });
  const given = count([...good, bad, { at: START + 2 * DAY, to: account(10) }]);
  expect(given).toMatchObject({ calls: 5, succeeded: 4, unmended: 1 });
});

it("takes the share of fees from what was paid: one dear failure burns more than three cheap successes", () => {
  expect(count([...good, { ...bad, gasPrice: 9n * GWEI }]).burnt).toBeCloseTo(0.75);
  expect(count(good.map((step) => ({ ...step, gasPrice: 0n }))).burnt).toBeNull();
});

it("leaves out calls to itself, and those after the block of the score", () => {
  const calls = callsOf([...good, bad]);
  const [, , third] = calls;
  expect(count([...good, bad], third?.blockNumber)).toMatchObject({ calls: 3, succeeded: 3 });
  expect(count([...good, { at: START + DAY, to: WALLET }])).toMatchObject({ calls: 3 });
});
