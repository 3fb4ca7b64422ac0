import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunPanel, runOne } from "../../../../service/verification/verdicts/run-one.ts";
import { type Claim, claimVerdicts } from "../../../../service/verification/verdicts/verdict-queue.ts";
import { BALANCE, createVerdictWorld, LEASE_MS, type VerdictWorld } from "./verdict-world.ts";

const HOUR_MS = 3_600_000;
const NEVER = new AbortController().signal;

let world: VerdictWorld;
beforeEach(async () => {
  world = await createVerdictWorld();
});
afterEach(() => world.close());

async function claim(): Promise<Claim> {
  const now = world.now();
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const [claimed] = await claimVerdicts(world.db, { now, leaseUntil, limit: 1 });
  if (claimed === undefined) throw new Error("nothing is due");
  return claimed;
}

async function run(panel?: RunPanel): Promise<void> {
  await runOne(world.deps(panel), await claim(), NEVER);
}

const fails =
  (retryable: boolean): RunPanel =>
  async () => ({ kind: "failed", message: "No answer came from critic.", retryable });

describe("a run that fails", () => {
  test("is tried again later, and says nothing while it is", async () => {
    const id = await world.add();
    await run(fails(true));
    expect(await world.row(id)).toMatchObject({
      status: "pending",
      error_message: null,
      not_before: new Date(world.now().getTime() + 5_000),
    });
    await expect(claim()).rejects.toThrow("nothing is due");
    world.pass(5_000);
    await run();
    expect(await world.row(id)).toMatchObject({ status: "completed", attempts: 2 });
    expect((await world.events()).map(({ type }) => type)).toEqual(["verdict.completed"]);
  });

  test("for an hour fails the verdict with the last reason, gives the debit back once and tells it once", async () => {
    const id = await world.add();
    const started = world.now().getTime();
    for (let tries = 0; (await world.row(id)).status !== "failed"; tries += 1) {
      expect(tries).toBeLessThan(25);
      await run(fails(true));
      const { not_before, status } = await world.row(id);
      if (status === "pending") world.pass(not_before.getTime() - world.now().getTime());
    }
    expect(world.now().getTime() - started).toBe(HOUR_MS);
    expect(await world.row(id)).toMatchObject({ error_message: "No answer came from critic.", runs: 0 });
    expect(await world.balance()).toBe(BALANCE);
    expect(await world.query("select state from ahs.key_debit")).toEqual([{ state: "returned" }]);
    expect(await world.events()).toEqual([
      {
        type: "verdict.failed",
        data: { verdict_id: id, status: "failed", error_message: "No answer came from critic." },
      },
    ]);
  });

  test("for good fails at once", async () => {
    const id = await world.add();
    await run(fails(false));
    expect(await world.row(id)).toMatchObject({ status: "failed", attempts: 1 });
    expect(await world.balance()).toBe(BALANCE);
  });

  test("whose texts are gone fails at once without asking anybody", async () => {
    const id = await world.add();
    await world.query("delete from ahs.output_text");
    await run(() => {
      throw new Error("asked");
    });
    const { status, error_message } = await world.row(id);
    expect({ status, error_message }).toEqual({
      status: "failed",
      error_message:
        "The texts of the specification and the output are not kept any more, their time being over.",
    });
  });

  test("by a fault of ours is tried again, and tells nothing of the fault", async () => {
    const id = await world.add();
    const breaks: RunPanel = async () => {
      throw new Error("secret path");
    };
    await run(breaks);
    expect(await world.row(id)).toMatchObject({ status: "pending" });
    world.pass(HOUR_MS);
    await run(breaks);
    expect(await world.row(id)).toMatchObject({
      status: "failed",
      error_message: "The run failed by a fault of the service.",
    });
  });

  test("where a payment paid moves no money", async () => {
    const id = await world.add({ debitId: null, owner: "wallet:0x1" });
    await run(fails(false));
    expect(await world.row(id)).toMatchObject({ status: "failed" });
    expect(await world.query("select state from ahs.key_debit")).toEqual([{ state: "kept" }]);
  });
});
