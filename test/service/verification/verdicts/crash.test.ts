import { describe, expect, test } from "vitest";
import type { RunPanel } from "../../../../service/verification/verdicts/run-one.ts";
import { answered, decided } from "./a-decision.ts";
import { type Death, mortalDatabase } from "./mortal-database.ts";
import { BALANCE, fails, LEASE_MS, UNITS, useVerdictWorld } from "./verdict-world.ts";

/** More statements than any run has, so that the last workers do not die. */
const STATEMENTS = 22;

const world = useVerdictWorld();

const decides: RunPanel = async (_, { known, keep }) => {
  for (const role of ["criteria_auditor", "domain_expert"] as const)
    if (!known.some((record) => record.role === role)) await keep(answered(role, {}));
  return decided("ALLOW");
};
/** Has a worker die at a statement of the run, and another one come once its lease is over; whether the first got so far. */
async function dieAndRecover(panel: RunPanel, statement: number, death: Death): Promise<boolean> {
  const mortal = mortalDatabase(world.db, { statement, death });
  await world.run(panel, { db: mortal.db }).catch(() => false);
  await mortal.bury();
  world.pass(LEASE_MS + 1);
  while ((await world.work(panel)) > 0) world.pass(LEASE_MS + 1);
  return mortal.hasDied();
}

describe.each<Death>(["before", "after"])("a worker that dies %s any statement", (death) => {
  test("leaves one decision, one event, one charge and each answer once", async () => {
    const died: boolean[] = [];
    for (let statement = 1; statement <= STATEMENTS; statement += 1) {
      const id = await world.add();
      died.push(await dieAndRecover(decides, statement, death));
      expect(await world.row(id)).toMatchObject({ status: "completed", runs: 1, error_message: null });
      expect(await world.runs(id)).toHaveLength(1);
      expect(await world.query("select role from ahs.role_call where verdict_id = $1", [id])).toHaveLength(2);
    }
    expect([died[0], died.at(-1)]).toEqual([true, false]);
    expect((await world.events()).map(({ type }) => type)).toEqual(
      Array.from({ length: STATEMENTS }, () => "verdict.completed"),
    );
    expect(await world.query("select distinct state from ahs.key_debit")).toEqual([{ state: "kept" }]);
    expect(await world.balance()).toBe(BALANCE - STATEMENTS * UNITS);
  });

  test("leaves a failing run failed once, notified once, with its debit returned once", async () => {
    const died: boolean[] = [];
    for (let statement = 1; statement <= STATEMENTS; statement += 1) {
      const id = await world.add();
      died.push(await dieAndRecover(fails(false), statement, death));
      expect(await world.row(id)).toMatchObject({ status: "failed", runs: 0 });
      expect(await world.balance()).toBe(BALANCE);
    }
    expect([died[0], died.at(-1)]).toEqual([true, false]);
    expect(await world.events()).toHaveLength(STATEMENTS);
  });
});
