import { expect, it } from "vitest";
import { createSpendingLimits } from "../../../service/access/spending-limits.ts";
import { useDatabase } from "../../support/test-database.ts";

const db = useDatabase();

const limits = () => createSpendingLimits({ db, now: () => new Date("2026-11-20T10:00:00Z") });
const rows = async () => (await db.$client.query("select tokens from ahs.rate_bucket")).rows;

it("reserves prices up to a session's limit, one by one, and keeps what was charged", async () => {
  const call = { units: 400, limitUnits: 1_000 };
  const taken = await Promise.all(Array.from({ length: 4 }, () => limits().take("s", call)));
  expect(taken.toSorted()).toEqual([800, 800, null, null]);
  await limits().correct("s", -400);
  expect(await limits().take("s", call)).toBeNull();
  expect(await rows()).toEqual([{ tokens: 800 }]);
});

it("keeps no row of a session that spent nothing", async () => {
  expect(await limits().take("unpaid", { units: 10, limitUnits: 1_000 })).toBeNull();
  await limits().correct("unpaid", -10);
  expect(await limits().take("too dear", { units: 10, limitUnits: 9 })).toBe(0);
  expect(await rows()).toEqual([{ tokens: 800 }]);
});
