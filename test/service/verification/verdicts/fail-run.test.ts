import { describe, expect, test } from "vitest";
import { listPayments } from "../../../../service/access/payments/payments-due.ts";
import { findAccepted } from "../../../../service/verification/verdicts/accept-output.ts";
import { retryVerdict } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import type { RunPanel } from "../../../../service/verification/verdicts/run-one.ts";
import { returnFinalFailures } from "../../../../service/verification/verdicts/verdict-sweeps.ts";
import { allow, BALANCE, fails, hold, useVerdictWorld } from "./verdict-world.ts";

const HOUR_MS = 3_600_000;

const world = useVerdictWorld();

describe("a run that fails", () => {
  test("is tried again later, and says nothing while it is", async () => {
    const id = await world.add();
    await world.run(fails(true));
    expect(await world.row(id)).toMatchObject({
      status: "pending",
      error_message: null,
      not_before: new Date(world.now().getTime() + 5_000),
    });
    await expect(world.lease()).rejects.toThrow("nothing is due");
    world.pass(5_000);
    await world.run();
    expect(await world.row(id)).toMatchObject({ status: "completed", attempts: 2 });
    expect((await world.events()).map(({ type }) => type)).toEqual(["verdict.completed"]);
  });

  test("for an hour fails the verdict with the last reason, gives the debit back once and notifies once", async () => {
    const id = await world.add();
    const started = world.now().getTime();
    for (let tries = 0; (await world.row(id)).status !== "failed"; tries += 1) {
      expect(tries).toBeLessThan(25);
      await world.run(fails(true));
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

  test.each([
    ["fails", fails(false), "failed", "voiding"],
    ["is tried again", fails(true), "pending", "authorized"],
    ["allows", allow, "completed", "capturing"],
    ["holds", hold, "completed", "capturing"],
  ] as const)("that %s decides about a payment in the escrow", async (_what, panel, status, captureState) => {
    const paymentId = await world.escrowedPayment();
    const id = await world.add({ debitId: null, paymentId });
    await world.run(panel);
    const [paid] = await world.query("select capture_state from ahs.payment");
    expect([(await world.row(id)).status, paid]).toEqual([status, { capture_state: captureState }]);
  });

  test("and whose payment is returned is retried by none: its slot is free for a new submission", async () => {
    const paymentId = await world.escrowedPayment();
    const owner = "wallet:0x01";
    const id = await world.add({ debitId: null, paymentId, owner });
    await world.run(fails(false));
    const retry = { verdictId: id, owner, now: world.now() };
    expect(await retryVerdict(world.db, retry)).toEqual({ kind: "used-up" });
    const [held] = await world.query<{ slot: string }>("select slot from ahs.verdict");
    expect(await findAccepted(world.db, { slot: held?.slot ?? "", owner })).toBeNull();
  });

  test("for good fails at once", async () => {
    const id = await world.add();
    await world.run(fails(false));
    expect(await world.row(id)).toMatchObject({ status: "failed", attempts: 1 });
    expect(await world.balance()).toBe(BALANCE);
  });

  test("whose texts are gone fails at once without asking the panel", async () => {
    const id = await world.add();
    await world.query("delete from ahs.output_text");
    await world.run(() => {
      throw new Error("asked");
    });
    const { status, error_message } = await world.row(id);
    expect({ status, error_message }).toEqual({
      status: "failed",
      error_message:
        "The texts of the specification and the output are not kept any more, their time being over.",
    });
  });

  test("by a fault of ours is tried again, and its message hides the fault", async () => {
    const id = await world.add();
    const breaks: RunPanel = async () => {
      throw new Error("secret path");
    };
    await world.run(breaks);
    expect(await world.row(id)).toMatchObject({ status: "pending" });
    world.pass(HOUR_MS);
    await world.run(breaks);
    expect(await world.row(id)).toMatchObject({
      status: "failed",
      error_message: "The run failed by a fault of the service.",
    });
  });

  test("where a payment paid moves no money", async () => {
    const id = await world.add({ debitId: null, owner: "wallet:0x1" });
    await world.run(fails(false));
    expect(await world.row(id)).toMatchObject({ status: "failed" });
    expect(await world.query("select state from ahs.key_debit")).toEqual([{ state: "kept" }]);
  });
});

describe("the price of a failed verdict that a payment paid", () => {
  const SLOT_TAKEN = "update ahs.verdict set replaced_at = now()";

  async function failedPurchase(): Promise<string> {
    const paymentId = await world.escrowedPayment();
    await world.query("update ahs.payment set scheme = 'exact', capture_state = null");
    await world.add({ debitId: null, paymentId, owner: "wallet:0x01", units: 500 });
    await world.run(fails(false));
    return paymentId;
  }

  const owed = async () =>
    (await listPayments(world.db, { kind: "owed", now: world.now(), limit: 10 })).map(({ id }) => id);
  const returned = () =>
    world.query(
      `select k.id, k.bought_by = p.payer as "isPayers", k.balance_units::int as units
       from ahs.api_key k join ahs.payment p on p.id = k.id`,
    );

  test.each([
    ["its retries are used up", "update ahs.verdict set retries = 3"],
    ["another submission took its slot", SLOT_TAKEN],
    ["its texts are gone", "delete from ahs.output_text"],
  ])("goes back once, where %s", async (_why, change) => {
    const paymentId = await failedPurchase();
    expect([await returnFinalFailures(world.db, world.now()), await owed()]).toEqual([0, [paymentId]]);
    await world.query(change);
    expect(await returnFinalFailures(world.db, world.now())).toBe(1);
    expect(await returnFinalFailures(world.db, world.now())).toBe(0);
    expect(await returned()).toEqual([{ id: paymentId, isPayers: true, units: 500 }]);
    expect(await owed()).toEqual([]);
  });

  test("goes back for each verdict but one whose return fails", async () => {
    const [bad, good] = [await failedPurchase(), await failedPurchase()];
    await world.query("update ahs.verdict set retries = 3");
    await world.query(`alter table ahs.key_credit add constraint fails check (id <> '${bad}')`);
    await expect(returnFinalFailures(world.db, world.now())).rejects.toThrow("1 prices were not returned");
    expect(await returned()).toEqual([{ id: good, isPayers: true, units: 500 }]);
    await world.query("alter table ahs.key_credit drop constraint fails");
    expect(await returnFinalFailures(world.db, world.now())).toBe(1);
  });

  test("stays while the submission that took its slot is not paid", async () => {
    await failedPurchase();
    await world.query(SLOT_TAKEN);
    const taker = await world.add();
    await world.query(
      "update ahs.verdict set status = 'unsettled', slot = (select slot from ahs.verdict where id <> $1) where id = $1",
      [taker],
    );
    expect(await returnFinalFailures(world.db, world.now())).toBe(0);
    await world.query("update ahs.verdict set status = 'pending' where id = $1", [taker]);
    expect(await returnFinalFailures(world.db, world.now())).toBe(1);
  });

  test("is not credited beside the return of the payment escrow", async () => {
    const paymentId = await world.escrowedPayment();
    await world.add({ debitId: null, paymentId });
    await world.run(fails(false));
    await world.query("update ahs.verdict set retries = 3");
    expect([await returnFinalFailures(world.db, world.now()), await returned()]).toEqual([0, []]);
  });
});
