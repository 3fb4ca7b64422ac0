import { expect, test } from "vitest";
import { storeRoleCall } from "../../../../service/verification/verdicts/role-calls.ts";
import {
  nextDay,
  tokensForJobs,
  tokensLeft,
  tokensPerDecision,
} from "../../../../service/verification/verdicts/token-budget.ts";
import { abstained, answered } from "./a-decision.ts";
import { DAY_MS, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld(new Date("2026-11-20T23:59:59.000Z"));

test("tokens of answers and abstentions count until the UTC day is over", async () => {
  await world.add();
  const lease = await world.lease();
  const left = () => tokensLeft({ db: world.db, now: world.now, tokensPerDay: 200 });
  expect(await left()).toBe(200);
  await storeRoleCall(world.db, lease, { record: answered("critic", {}), at: world.now() });
  await storeRoleCall(world.db, lease, { record: abstained("synthesiser"), at: world.now() });
  expect(await left()).toBe(-40);
  world.pass(1_000);
  expect(await left()).toBe(200);
});

test("a quarter of the day is kept for verdicts of jobs", () => {
  expect(tokensForJobs(20_000_000)).toBe(5_000_000);
});

test.each([
  ["a tenth of the day", { contextTokens: 128_000, tokensPerDay: 20_000_000 }, 2_000_000],
  ["six complete runs of six roles", { contextTokens: 8_000, tokensPerDay: 20_000_000 }, 288_000],
])("one decision may take %s", (_, limits, most) => {
  expect(tokensPerDecision(limits)).toBe(most);
});

test.each([
  ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z"],
  ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z"],
])("the day after %s begins at %s", (moment, next) => {
  expect(nextDay(new Date(moment))).toEqual(new Date(next));
  expect(nextDay(new Date(next)).getTime() - new Date(next).getTime()).toBe(DAY_MS);
});
