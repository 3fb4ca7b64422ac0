import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { releaseDue, settleDue } from "../../../../service/access/payments/payments-due.ts";
import { useDatabase } from "../../../support/test-database.ts";
import {
  boundTo,
  clearIntake,
  ESCROW,
  type IntakeWorld,
  intakeWorld,
  ledgerOf,
  outputBody,
  type Submitted,
} from "./intake-world.ts";

const HASH = `0x${"cd".repeat(32)}` as const;
const db = useDatabase();
afterEach(() => clearIntake(db));

const read = async (response: Response) => (await response.json()) as Submitted;
/** Stops a process at a step, as a kill does: the step never returns. */
const killed = () => new Promise<never>(() => undefined);
const gone = () => Promise.reject(new Error("the database went away"));

/** Applies the chain's answer about every payment that is still reserved, after all its processes ended. */
async function reconcile(world: IntakeWorld, moved: boolean): Promise<void> {
  const now = world.now();
  for (const row of (await world.payments()).filter(({ state }) => state === "reserved")) {
    if (moved) await settleDue(db, row, { transaction: HASH, now });
    else await releaseDue(db, row, { error: "never sent", until: now, now });
  }
}

/** Whether every charge has its verdict, and every verdict its charge; and nothing is left open. */
async function expectBalanced() {
  const { captured, settled, accepted, held, reserved, unsettled, texts } = await ledgerOf(db);
  expect({ charges: captured + settled, held, reserved, unsettled, texts }).toEqual({
    charges: accepted,
    held: 0,
    reserved: 0,
    unsettled: 0,
    texts: accepted,
  });
  return { accepted, settled, captured };
}

describe("a request that is killed", () => {
  it("after its output is noted, before the money moves: nothing is left, and nothing charged", async () => {
    const dying = intakeWorld(db, {
      facilitator: () => ({ settle: killed }),
      settleDeadlineMs: 60_000,
    });
    const output = await dying.output({ webhook_url: "https://hooks.example.com/" });
    const { headers } = await dying.payment(output);
    void dying.submit(output, headers);
    await expect.poll(async () => (await ledgerOf(db)).unsettled).toBe(1);
    const alive = intakeWorld(db);
    alive.pass(125_000);
    await reconcile(alive, false);
    expect(await alive.sweep()).toEqual({ activate: 0, drop: 1, wait: 0 });
    expect(await expectBalanced()).toMatchObject({ accepted: 0 });
    expect(await ledgerOf(db)).toMatchObject({ endpoints: 0 });
  });

  it("while the money moves: the output waits for the chain's word, then counts, and its payer gets it", async () => {
    const dying = intakeWorld(db, {
      facilitator: () => ({ settle: killed }),
      settleDeadlineMs: 60_000,
    });
    const output = await dying.output();
    const { headers } = await dying.payment(output);
    const proven = { ...headers, "Idempotency-Key": "k".repeat(22) };
    void dying.submit(output, proven);
    await expect.poll(async () => (await dying.payments())[0]?.settleAskedAt).toBeInstanceOf(Date);
    const alive = intakeWorld(db, { waitMs: 0 });
    alive.pass(125_000);
    expect(await alive.sweep()).toEqual({ activate: 0, drop: 0, wait: 1 });
    expect((await alive.submit(output, (await alive.key()).headers)).status).toBe(409);
    await reconcile(alive, true);
    alive.pass(6_000);
    expect(await alive.sweep()).toEqual({ activate: 1, drop: 0, wait: 0 });
    const answer = await alive.submit(output, proven);
    expect([answer.status, await read(answer)]).toEqual([
      200,
      { verdict_id: expect.any(String), status: "pending" },
    ]);
    expect(await expectBalanced()).toEqual({ accepted: 1, settled: 1, captured: 0 });
  });

  it("after the money has moved, before the output is queued: a repeat with proof gets the same verdict, without another charge", async () => {
    const dying = intakeWorld(db, { outputs: () => ({ activate: killed }) });
    const output = await dying.output();
    const { headers, account } = await dying.payment(output);
    void dying.submit(output, headers);
    await expect.poll(async () => (await ledgerOf(db)).settled).toBe(1);
    const alive = intakeWorld(db);
    alive.pass(125_000);
    alive.signedIn.address = lower(account.address);
    const { rows } = await db.$client.query("select id from ahs.verdict");
    // The authorization alone proves nothing, and the payer's sign-in does.
    expect((await alive.submit(output, headers)).status).toBe(402);
    const answer = await alive.submit(output, { ...headers, "sign-in-with-x": "mine" });
    expect([answer.status, (await read(answer)).verdict_id]).toEqual([200, rows[0].id]);
    expect([alive.desk.settled, dying.desk.settled.length]).toEqual([[], 1]);
    expect(await expectBalanced()).toEqual({ accepted: 1, settled: 1, captured: 0 });
  });

  it("leaves its payment answered, not owed for ever, once a worker has queued what it bought", async () => {
    const dying = intakeWorld(db, { outputs: () => ({ activate: killed }) });
    const output = await dying.output({ webhook_url: "https://hooks.example.com/" });
    const { headers, account } = await dying.payment(output);
    void dying.submit(output, headers);
    await expect.poll(async () => (await ledgerOf(db)).settled).toBe(1);
    const alive = intakeWorld(db);
    alive.pass(125_000);
    await alive.sweep();
    await db.$client.query("update ahs.verdict set status = 'completed', runs = 1");
    expect(await alive.listed("owed")).toEqual([]);
    alive.signedIn.address = lower(account.address);
    const answer = await alive.submit(output, { ...headers, "sign-in-with-x": "mine" });
    expect(await read(answer)).toMatchObject({ status: "pending", webhook_secret: null });
  });

  it("is answered at once by its claim, and has bought one verdict, even where its specification was bound meanwhile", async () => {
    const broken = intakeWorld(db, {
      outputs: () => ({ activate: gone, withdraw: async () => undefined }),
    });
    const output = outputBody(await broken.registered({ erc8183_job_id: "0x7", escrow: ESCROW }));
    const failed = await broken.submit(output, (await broken.payment(output)).headers);
    const { claim = "" } = await read(failed);
    expect(await ledgerOf(db)).toMatchObject({ settled: 1, unsettled: 1 });
    const { rows } = await db.$client.query("select id from ahs.verdict");
    const alive = intakeWorld(db, { bind: async () => boundTo(7n) });
    const answer = await alive.submit(output, { "x-payment-claim": claim });
    expect([answer.status, (await read(answer)).verdict_id]).toEqual([200, rows[0].id]);
    expect(await expectBalanced()).toEqual({ accepted: 1, settled: 1, captured: 0 });
  });

  it("by key, before its output is queued: the debit is returned and the output gone", async () => {
    const dying = intakeWorld(db, { outputs: () => ({ activate: killed }) });
    const output = await dying.output();
    const { headers } = await dying.key(500);
    void dying.submit(output, headers);
    await expect.poll(async () => (await ledgerOf(db)).unsettled).toBe(1);
    const alive = intakeWorld(db);
    expect(await alive.sweep()).toEqual({ activate: 0, drop: 0, wait: 0 });
    alive.pass(125_000);
    expect(await alive.sweep()).toEqual({ activate: 0, drop: 1, wait: 0 });
    expect(await expectBalanced()).toMatchObject({ accepted: 0 });
    expect((await alive.submit(output, headers)).status).toBe(200);
    expect(await expectBalanced()).toMatchObject({ accepted: 1, captured: 1 });
  });

  it("by key, after its output is queued: a repeat under its Idempotency-Key is neither charged nor judged again", async () => {
    const dying = intakeWorld(db, { ledger: () => ({ keepAnswered: killed, keep: killed }) });
    const output = await dying.output();
    const { headers } = await dying.key(1_000);
    const named = { ...headers, "Idempotency-Key": "once" };
    void dying.submit(output, named);
    await expect.poll(async () => (await ledgerOf(db)).accepted).toBe(1);
    const alive = intakeWorld(db);
    alive.pass(125_000);
    await alive.sweep();
    expect((await alive.submit(output, named)).status).toBe(200);
    expect(await expectBalanced()).toEqual({ accepted: 1, captured: 1, settled: 0 });
  });
});

describe("a settlement without an answer", () => {
  const pending = async () => {
    const world = intakeWorld(db, { waitMs: 0 });
    world.desk.answers.settle = "silence";
    const output = await world.output();
    const payment = await world.payment(output);
    const response = await world.submit(output, payment.headers);
    const { claim = "" } = await read(response);
    expect(response.status).toBe(503);
    return { world, output, payment, claim: { "x-payment-claim": claim } };
  };

  it("keeps the output until the chain says that the money moved; the claim then gets its verdict", async () => {
    const { world, output, claim } = await pending();
    expect(await ledgerOf(db)).toMatchObject({ accepted: 0, unsettled: 1, reserved: 1 });
    expect((await world.submit(output, (await world.key()).headers)).status).toBe(409);
    await reconcile(world, true);
    const answer = await world.submit(output, claim);
    expect(answer.status).toBe(200);
    expect(await expectBalanced()).toEqual({ accepted: 1, settled: 1, captured: 0 });
    const again = await world.submit(output, claim);
    expect(again.headers.get("payment-response")).toBe(answer.headers.get("payment-response"));
    expect(await read(again)).toEqual(await read(answer));
  });

  it("frees the output once the chain says that it will not; the same payment may then buy it anew, once", async () => {
    const { world, output, payment } = await pending();
    await reconcile(world, false);
    world.desk.answers.settle = { kind: "settled", transaction: HASH };
    expect((await world.submit(output, payment.headers)).status).toBe(200);
    expect(await expectBalanced()).toEqual({ accepted: 1, settled: 1, captured: 0 });
    expect((await world.submit(await world.output(), payment.headers)).status).toBe(402);
  });

  it("that comes after all, when another account has bought the output, is owed and charges for no second verdict", async () => {
    const { world, output, claim } = await pending();
    await reconcile(world, false);
    const bought = await read(await world.submit(output, (await world.key()).headers));
    const [released] = await world.payments();
    if (released === undefined) throw new Error("no payment");
    await settleDue(db, released, { transaction: HASH, now: world.now() });
    const answer = await world.submit(output, claim);
    expect(answer.headers.get("payment-response")).not.toBeNull();
    expect(await read(answer)).toEqual(bought);
    expect(await world.listed("owed")).toHaveLength(1);
    expect(await ledgerOf(db)).toMatchObject({ accepted: 1, captured: 1 });
  });
});

describe("a payment is listed as", () => {
  it("owed until its verdict has a decision, and while that has failed", async () => {
    const world = intakeWorld(db);
    const output = await world.output();
    await world.submit(output, (await world.payment(output)).headers);
    for (const [status, runs, kind] of [
      ["pending", 0, "owed"],
      ["processing", 0, "owed"],
      ["failed", 0, "owed"],
      ["completed", 1, "answered"],
      ["pending", 1, "answered"],
    ]) {
      await db.$client.query("update ahs.verdict set status = $1, runs = $2", [status, runs]);
      expect([status, runs, (await world.listed(null)).map((row) => row.kind)]).toEqual([
        status,
        runs,
        [kind],
      ]);
      expect(await world.listed("owed")).toHaveLength(kind === "owed" ? 1 : 0);
      expect(await world.listed("answered")).toHaveLength(kind === "owed" ? 0 : 1);
    }
  });
});

const STEPS = ["accept", "activate", "withdraw", "settle", "giveBack", "keepAnswered"] as const;
type Step = (typeof STEPS)[number];

/** A world in which some steps fail, before or after they did what they do. */
function brokenWorld(broken: readonly { readonly step: Step; readonly after: boolean }[]): IntakeWorld {
  const breaking = <Given extends unknown[], Made>(
    step: Step,
    real: (...given: Given) => Promise<Made>,
  ): ((...given: Given) => Promise<Made>) => {
    const fault = broken.find((one) => one.step === step);
    if (fault === undefined) return real;
    return async (...given) => {
      if (fault.after) await real(...given);
      return gone();
    };
  };
  return intakeWorld(db, {
    waitMs: 0,
    outputs: (real) => ({
      accept: breaking("accept", real.accept),
      activate: breaking("activate", real.activate),
      withdraw: (id) => breaking("withdraw", real.withdraw)(id).catch(() => undefined),
    }),
    facilitator: (real) => ({
      settle: (payment) =>
        breaking("settle", real.settle)(payment).catch((cause: unknown) => ({ kind: "unknown", cause })),
    }),
    ledger: (real) => ({
      giveBack: breaking("giveBack", real.giveBack),
      keepAnswered: breaking("keepAnswered", real.keepAnswered),
    }),
  });
}

it("whatever fails wherever, in the end there are as many charges as accepted verdicts", async () => {
  const faults = fc.uniqueArray(fc.record({ step: fc.constantFrom(...STEPS), after: fc.boolean() }), {
    selector: ({ step }) => step,
    maxLength: 3,
  });
  const submissions = fc.array(
    fc.record({
      by: fc.constantFrom("key" as const, "payer" as const),
      output: fc.nat({ max: 1 }),
      faults,
      named: fc.boolean(),
      moved: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(submissions, async (all) => {
      await clearIntake(db);
      const sound = intakeWorld(db, { waitMs: 0 });
      const outputs = [await sound.output(), await sound.output()];
      for (const { by, output: index, faults: broken, named, moved } of all) {
        const world = brokenWorld(broken);
        const output = outputs[index] ?? {};
        const { headers } = by === "key" ? await world.key() : await world.payment(output);
        const own = named ? { ...headers, "Idempotency-Key": "n".repeat(22) } : headers;
        await world.submit(output, own);
        await reconcile(sound, moved);
        await sound.submit(output, own);
      }
      sound.pass(125_000);
      await reconcile(sound, false);
      await sound.sweep();
      await expectBalanced();
    }),
    { numRuns: 12 },
  );
});

function lower(address: string) {
  // An address is one in any case.
  return address.toLowerCase() as `0x${string}`;
}
