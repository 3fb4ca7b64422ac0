import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { Charge, Owner } from "../../../service/access/access.ts";
import { dropIdleBuckets } from "../../../service/access/rate-limits.ts";
import { createSpendingSums } from "../../../service/access/spending-limits.ts";
import { useDatabase } from "../../support/test-database.ts";
import { intakeWorld } from "../api/verification/intake-world.ts";
import { databaseSpending } from "./memory-gate.ts";
import { paid, paymentWorld } from "./payment-world.ts";

const db = useDatabase();
const clear = () => db.$client.query("delete from ahs.rate_bucket where starts_with(identity, 'spent:')");
afterEach(clear);

const NOON = Date.parse("2026-11-20T12:00:00Z");
const DAY_MS = 86_400_000;
const sumsAt = (ms = NOON) => createSpendingSums({ db, now: () => new Date(ms) });
const rows = async () => {
  const text = "select tokens from ahs.rate_bucket where starts_with(identity, 'spent:') order by tokens";
  return (await db.$client.query<{ readonly tokens: number }>(text)).rows;
};

describe("sums of spending", () => {
  it("reserves prices up to the limit, one by one, and counts what was charged", async () => {
    const call = { units: 400, limitUnits: 1_000 };
    const taken = await Promise.all(Array.from({ length: 4 }, () => sumsAt().take("s", call)));
    expect(taken.toSorted()).toEqual([800, 800, null, null]);
    await sumsAt().correct("s", -400);
    expect(await sumsAt().take("s", call)).toBeNull();
    expect(await rows()).toEqual([{ tokens: 800 }]);
  });

  it("stores no row of a session that spent nothing", async () => {
    expect(await sumsAt().take("failed", { units: 10, limitUnits: 1_000 })).toBeNull();
    await sumsAt().correct("failed", -10);
    expect(await sumsAt().take("too dear", { units: 10, limitUnits: 9 })).toBe(0);
    expect(await rows()).toEqual([]);
  });

  it("drops the reserved price of a process that died, with its session, after two idle days", async () => {
    await sumsAt().take("dead", { units: 10, limitUnits: 10 });
    expect(await dropIdleBuckets(db, new Date(NOON + 2 * DAY_MS - 1_000))).toBe(0);
    expect(await dropIdleBuckets(db, new Date(NOON + 2 * DAY_MS + 1_000))).toBe(1);
    expect(await sumsAt().take("dead", { units: 10, limitUnits: 10 })).toBeNull();
  });
});

/** A charge of so many units. An owed one was settled before its work failed. */
const chargeOf = (units: number, isOwed = false): Charge => ({
  keep: async () => ({ "x-charged-usd": (units / 1_000).toFixed(3) }),
  giveBack: async () => (isOwed ? { claim: "c1".repeat(32), headers: {} } : null),
});
const OUTCOMES = ["charged", "metered", "owed", "failed", "refused"] as const;

function chargedOf(units: number, outcome: (typeof OUTCOMES)[number]): number {
  if (outcome === "metered") return Math.floor(units / 2);
  return outcome === "charged" || outcome === "owed" ? units : 0;
}

const ANSWER = { contentType: "application/json", body: "{}" };
const key = (keyId: string): Owner => ({ kind: "key", keyId });
const wallet = (digit: string): Owner => ({ kind: "wallet", address: `0x${digit.repeat(40)}` });

/** Charges 600 units under a limit of 1,000. Returns whether the limit covered it. */
async function spend(owner: Owner, { session, ms = NOON }: { session?: string; ms?: number }) {
  const headers: Record<string, string | undefined> = {
    "x-spending-limit-usd": "1",
    "mcp-session-id": session,
  };
  const request = { header: (name: string) => headers[name], units: 600 };
  const limits = databaseSpending(db, { now: () => new Date(ms) });
  try {
    const charge = await limits.within(owner, request, async () => chargeOf(600));
    await charge.keep(ANSWER);
    return true;
  } catch {
    return false;
  }
}

describe("the sum of a caller", () => {
  it.each([
    ["a key, for all calls of a UTC day", key("a"), {}, key("a"), { ms: NOON + DAY_MS / 2 - 1 }],
    ["a wallet, for all calls of a UTC day", wallet("a"), {}, wallet("a"), { ms: NOON - DAY_MS / 2 }],
    ["a session, over days", key("a"), { session: "s" }, key("a"), { session: "s", ms: NOON + DAY_MS }],
  ])("is shared by %s", async (_, first, one, second, other) => {
    expect([await spend(first, one), await spend(second, other)]).toEqual([true, false]);
  });

  it.each([
    ["two keys", key("a"), {}, key("b"), {}],
    ["two wallets", wallet("a"), {}, wallet("b"), {}],
    ["two keys with one session id", key("a"), { session: "s" }, key("b"), { session: "s" }],
    ["two wallets with one session id", wallet("a"), { session: "s" }, wallet("b"), { session: "s" }],
    ["a key and a wallet of one name", key(`0x${"a".repeat(40)}`), {}, wallet("a"), {}],
    ["two sessions of a key", key("a"), { session: "s" }, key("a"), { session: "t" }],
    ["a session and the day", key("a"), { session: "s" }, key("a"), {}],
    ["two UTC days", key("a"), {}, key("a"), { ms: NOON + DAY_MS / 2 }],
    [
      "an owner and a session that spell another owner",
      key("a"),
      { session: "b s" },
      key("a b"),
      { session: "s" },
    ],
  ])("is not shared by %s", async (_, first, one, second, other) => {
    expect([await spend(first, one), await spend(second, other)]).toEqual([true, true]);
  });

  it("never exceeds the limit by calls at once, whatever their prices and outcomes", async () => {
    const call = fc.record({
      units: fc.integer({ min: 2, max: 500 }),
      outcome: fc.constantFrom(...OUTCOMES),
    });
    const calls = fc.array(call, { minLength: 2, maxLength: 20 });
    const limit = fc.integer({ min: 1, max: 1_500 });
    await fc.assert(
      fc.asyncProperty(calls, limit, fc.uuid(), async (asked, limitUnits, keyId) => {
        const limits = databaseSpending(db, { now: () => new Date(NOON) });
        const usd = (limitUnits / 1_000).toFixed(3);
        const header = (name: string) => (name === "x-spending-limit-usd" ? usd : undefined);
        let outstanding = 0;
        const make = async ({ units, outcome }: { units: number; outcome: (typeof OUTCOMES)[number] }) => {
          const charge = await limits.within(key(keyId), { header, units }, async () => {
            outstanding += units;
            expect(outstanding).toBeLessThanOrEqual(limitUnits);
            if (outcome !== "refused") return chargeOf(chargedOf(units, outcome), outcome === "owed");
            outstanding -= units;
            throw new Error("refused");
          });
          outstanding -= units - chargedOf(units, outcome);
          await (outcome === "failed" || outcome === "owed" ? charge.giveBack() : charge.keep(ANSWER));
        };
        await Promise.allSettled(asked.map(make));
        expect(await rows()).toEqual(outstanding === 0 ? [] : [{ tokens: outstanding }]);
        await clear();
      }),
      { numRuns: 40 },
    );
  });
});

describe("a limit of a payer", () => {
  const limited = (payment: unknown, limit: string) => ({ ...paid(payment), "x-spending-limit-usd": limit });

  it("refuses the call that it does not cover, before any charge, and takes the same payment under a higher one", async () => {
    const world = paymentWorld(db);
    const buy = async (limit: string, payment: unknown) => world.request("/cheap/1", limited(payment, limit));
    expect((await buy("0.015", await world.sign("/cheap/1"))).status).toBe(200);
    const payment = await world.sign("/cheap/1");
    const refused = await buy("0.015", payment);
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      {
        type: "/docs#problem-spending-limit-reached",
        detail:
          "This call costs at most 0.01 USD, and 0.01 of the 0.015 USD that you allow in X-Spending-Limit-Usd are spent. Nothing was charged.",
      },
    ]);
    expect([world.works.done, world.desk.settled.length, (await world.rows()).length]).toEqual([1, 1, 1]);
    expect((await buy("0.02", payment)).status).toBe(200);
  });

  it("counts nothing of a call without a payment, and refuses a malformed limit", async () => {
    const world = paymentWorld(db);
    const ask = async (limit: string) =>
      (await world.request("/cheap/1", { "x-spending-limit-usd": limit })).status;
    expect([await ask("9999999"), await ask("0"), await ask("5 USD")]).toEqual([402, 402, 400]);
    expect(await rows()).toEqual([]);
  });

  it("counts what an upto payment is charged, and what is owed once", async () => {
    const world = paymentWorld(db, {
      scheme: "upto",
      offered: ["exact", "exact-permit2", "upto"],
    });
    const metered = await world.request("/metered/40", limited(await world.sign("/metered/40"), "5.00"));
    expect([metered.status, metered.headers.get("x-charged-usd")]).toEqual([200, "0.040"]);
    expect(await rows()).toEqual([{ tokens: 40 }]);
    const other = paymentWorld(db);
    other.works.failure = new Error("the work fails");
    const owed = await other.request("/dear/1", limited(await other.sign("/dear/1"), "2.00"));
    const { claim = "" } = (await owed.json()) as { claim?: string };
    other.works.failure = null;
    const claimed = await other.request("/dear/1", {
      "x-payment-claim": claim,
      "x-spending-limit-usd": "2.00",
    });
    expect([owed.status, claimed.status]).toEqual([503, 200]);
    expect(await rows()).toEqual([{ tokens: 40 }, { tokens: 2_000 }]);
  });

  it("counts a failed call no longer, and one with an unknown settlement until its session ends", async () => {
    const world = paymentWorld(db);
    world.works.failure = new Error("the work fails");
    expect((await world.request("/cheap/1", limited(await world.sign("/cheap/1"), "1.00"))).status).toBe(500);
    expect(await rows()).toEqual([]);
    world.works.failure = null;
    world.desk.answers.settle = "silence";
    expect((await world.request("/cheap/1", limited(await world.sign("/cheap/1"), "1.00"))).status).toBe(503);
    expect(await rows()).toEqual([{ tokens: 10 }]);
  });
});

describe("a limit of a key", () => {
  it("is spent by its own outputs alone, and not by one that was there already", async () => {
    const world = intakeWorld(db);
    const [one, other] = [await world.key(), await world.key()];
    const limit = { "x-spending-limit-usd": "0.50", "mcp-session-id": "shared" };
    const submit = async (output: object, { headers }: { headers: Record<string, string> }) =>
      (await world.submit(output, { ...headers, ...limit })).status;
    const output = await world.output();
    expect(await submit(output, one)).toBe(200);
    expect([await submit(output, one), await submit(output, other)]).toEqual([200, 200]);
    const next = await world.output();
    expect([await submit(next, one), await submit(next, other)]).toEqual([403, 200]);
    expect(await rows()).toEqual([{ tokens: 500 }, { tokens: 500 }]);
  });

  it("counts one of twenty posts of an output at once", async () => {
    const world = intakeWorld(db);
    const { headers } = await world.key(20_000);
    const output = await world.output();
    const limit = { "x-spending-limit-usd": "20" };
    const posts = Array.from({ length: 20 }, () => world.submit(output, { ...headers, ...limit }));
    expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(await rows()).toEqual([{ tokens: 500 }]);
  });
});
