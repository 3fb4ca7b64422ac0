import { expect, test } from "vitest";
import { seededRandom } from "../../../devnet/population/random.ts";
import { bootstrap, shareOf } from "../../../eval/panel/interval.ts";

const rows = (count: number, of: number) => Array.from({ length: of }, (_, index) => index < count);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Values of Wilson's interval without continuity correction, as R's prop.test(correct = FALSE) gives them.
test.each([
  [0, 10, 0, 0.2775],
  [10, 10, 0.7225, 1],
  [4, 35, 0.0454, 0.2595],
  [50, 100, 0.4038, 0.5962],
])("%i of %i lie between %d and %d", (count, of, low, high) => {
  const share = shareOf(rows(count, of), (row) => row);
  expect(share).toMatchObject({ count, of, value: count / of });
  expect(share.interval?.low).toBeCloseTo(low, 4);
  expect(share.interval?.high).toBeCloseTo(high, 4);
});

test("a share of nothing has no value", () => {
  expect(shareOf([], () => true)).toEqual({ count: 0, of: 0, value: null, interval: null });
});

test("a bootstrap covers what theory says of a mean, the same for the same seed", () => {
  const random = seededRandom("rows");
  const values = Array.from({ length: 400 }, () => random.next());
  const first = bootstrap(values, mean, seededRandom("1"));
  expect(first).toEqual(bootstrap(values, mean, seededRandom("1")));
  expect(first).not.toEqual(bootstrap(values, mean, seededRandom("2")));
  const half = 1.96 / Math.sqrt(12 * 400);
  expect(first.interval?.low).toBeCloseTo(mean(values) - half, 2);
  expect(first.interval?.high).toBeCloseTo(mean(values) + half, 2);
});

test("a bootstrap gives no interval for one row, nor where replicates have no value", () => {
  expect(bootstrap([1], mean, seededRandom("1"))).toEqual({ value: 1, interval: null });
  const either = (drawn: readonly number[]) => (drawn.includes(1) ? 1 : null);
  expect(bootstrap([1, 2], either, seededRandom("1"))).toEqual({ value: 1, interval: null });
  expect(bootstrap([2, 2], either, seededRandom("1"))).toEqual({ value: null, interval: null });
});
