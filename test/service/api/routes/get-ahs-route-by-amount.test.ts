import { describe, expect, it } from "vitest";
import { PAYER, paidBy } from "../../access/paying-access.ts";
import {
  BACKING,
  bodyOf,
  fakeApp,
  fakeBacking,
  LISTING,
  SHOWN_BACKING,
  WALLET,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";
import { BY_KEY, policyApp } from "./policy-app.ts";

const PATH = `/ahs/route/${WALLET}`;
const GRADES = { instant_grades: ["A", "B"], escrow_grades: ["C"] };

/** One decision for an amount, and what it promised. */
async function route(amount: string, changes: Parameters<typeof fakeApp>[0] = {}) {
  const backing = fakeBacking();
  const { app, keys } = fakeApp({ backing: backing.ledger, ...changes });
  const response = await app.request(`${PATH}?amount_usd=${amount}`, WITH_KEY);
  return { response, keys, body: await bodyOf(response), promised: backing.amounts() };
}

describe("GET /ahs/route/{address} with an amount", () => {
  it.each(["30.5", "0.000001", "30.500000"])("settles %s of 30.5 available, as a promise", async (amount) => {
    const { body, promised, keys } = await route(amount);
    expect(body).toMatchObject({ action: "instant_settle", reason: "grade", backing: SHOWN_BACKING });
    expect(promised).toEqual([`key:key-1 ${BigInt(Math.round(Number(amount) * 1_000_000))}`]);
    expect(keys.states()).toEqual(["kept"]);
  });

  it.each(["30.500001", "31", "1000000000"])("sends %s to escrow, and promises nothing", async (amount) => {
    const { body, promised } = await route(amount);
    expect(body).toMatchObject({
      action: "escrow",
      routing_recommendation: "escrow",
      reason: "above_safe_amount",
      backing: SHOWN_BACKING,
    });
    expect(promised).toEqual([]);
  });

  it("sends every amount to escrow while the backing is unknown", async () => {
    const { body } = await route("0.01", { backing: fakeBacking(null).ledger });
    expect(body).toMatchObject({ action: "escrow", reason: "backing_unknown", backing: null });
  });

  it("sends every amount to escrow where nothing is safe", async () => {
    const nothing = { ...BACKING, safeMicroUsd: 0n, outstandingMicroUsd: 0n, availableMicroUsd: 0n };
    const { body } = await route("0.01", { backing: fakeBacking(nothing).ledger });
    expect(body).toMatchObject({
      action: "escrow",
      reason: "above_safe_amount",
      backing: { available_usd: 0 },
    });
  });

  it("counts every answer, also of the same caller and amount", async () => {
    const { app } = fakeApp({ backing: fakeBacking().ledger });
    const actions = [];
    for (let call = 0; call < 4; call += 1) {
      const { action } = await bodyOf(await app.request(`${PATH}?amount_usd=10`, WITH_KEY));
      actions.push(action);
    }
    expect(actions).toEqual(["instant_settle", "instant_settle", "instant_settle", "escrow"]);
  });

  it.each([
    ["", "string_pattern_mismatch"],
    ["-1", "string_pattern_mismatch"],
    ["%2B1", "string_pattern_mismatch"],
    ["1e3", "string_pattern_mismatch"],
    [".5", "string_pattern_mismatch"],
    ["1,5", "string_pattern_mismatch"],
    ["0.0000001", "string_pattern_mismatch"],
    ["12345678901", "string_pattern_mismatch"],
    ["0", "value_error"],
    ["0.000000", "value_error"],
    ["1000000000.000001", "value_error"],
    ["1&amount_usd=2", "string_type"],
  ])("refuses %j as an amount, uncharged", async (amount, type) => {
    const { response, body, keys } = await route(amount);
    expect([response.status, body]).toMatchObject([
      422,
      { detail: [{ type, loc: ["query", "amount_usd"] }] },
    ]);
    expect(keys.states()).toEqual([]);
  });

  it("names what it expected of an amount out of range", async () => {
    const { body } = await route("0");
    expect(body).toEqual({
      detail: [
        {
          type: "value_error",
          loc: ["query", "amount_usd"],
          msg: "Value error, expected a decimal from 0.000001 to 1000000000, got 0",
          input: "0",
          ctx: { error: "expected a decimal from 0.000001 to 1000000000, got 0" },
        },
      ],
    });
  });

  it("takes no promise for an answer that is repeated by its Idempotency-Key, and charges it once", async () => {
    const backing = fakeBacking();
    const { app, keys } = fakeApp({ backing: backing.ledger });
    const headers = { ...WITH_KEY.headers, "Idempotency-Key": "0123456789abcdef012345" };
    const texts = [];
    // The same amount in another form is the same request.
    for (const amount of ["10", "10.00", "10"])
      texts.push(await (await app.request(`${PATH}?amount_usd=${amount}`, { headers })).text());
    expect(new Set(texts).size).toBe(1);
    expect([backing.amounts(), keys.balance()]).toEqual([["key:key-1 10000000"], 4990]);
    const other = await app.request(`${PATH}?amount_usd=11`, { headers });
    expect([other.status, backing.amounts()]).toEqual([422, ["key:key-1 10000000"]]);
  });

  it("takes no promise from callers who do not pay", async () => {
    const backing = fakeBacking();
    const { app } = fakeApp({ backing: backing.ledger });
    expect((await app.request(`${PATH}?amount_usd=10`)).status).toBe(401);
    expect((await app.request(`${PATH}?amount_usd=10`, { ...WITH_KEY, method: "HEAD" })).status).toBe(405);
    expect(backing.amounts()).toEqual([]);
  });

  it("settles a payment before it promises, and without an amount after the work", async () => {
    const backing = fakeBacking();
    const { route: routeTo, taken } = policyApp({ backing: backing.ledger });
    await routeTo(`${WALLET}?amount_usd=10`, paidBy(1));
    await routeTo(WALLET, paidBy(2));
    expect(taken.map(({ settlement, outcome }) => [settlement, outcome])).toEqual([
      ["before", "kept"],
      ["after", "kept"],
    ]);
    expect(backing.amounts()).toEqual([`wallet:${PAYER} 10000000`]);
  });

  it("takes no promise while the ledger fails, and charges nothing", async () => {
    const promise = async () => {
      throw Object.assign(new Error("canceling statement"), { code: "57014" });
    };
    const { response, keys } = await route("10", { backing: { ...fakeBacking().ledger, promise } });
    expect([response.status, keys.states()]).toEqual([503, ["returned"]]);
  });

  it("releases a promise whose answer misses the deadline", async () => {
    const { ledger, amounts } = fakeBacking();
    const promise: typeof ledger.promise = async (request) => {
      const outcome = await ledger.promise(request);
      await new Promise((resolve) => setTimeout(resolve, 60));
      return outcome;
    };
    const { response, keys } = await route("10", { backing: { ...ledger, promise }, deadlineMs: 20 });
    expect([response.status, keys.states()]).toEqual([503, ["returned"]]);
    expect(amounts()).toHaveLength(1);
    await expect.poll(amounts).toEqual([]);
  });
});

describe("GET /ahs/route/{address} with an amount, by the caller's policy", () => {
  it.each<readonly [string, object, Parameters<typeof walletSnapshot>[0], string, string, string]>([
    ["max_instant_usd", { max_instant_usd: 5 }, {}, "5.01", "escrow", "above_max_instant"],
    ["max_instant_usd up to it", { max_instant_usd: "5" }, {}, "5", "instant_settle", "grade"],
    ["safe_amount_multiple", { safe_amount_multiple: 0.5 }, {}, "15.26", "escrow", "above_safe_amount"],
    ["safe_amount_multiple above 1", { safe_amount_multiple: "1.5" }, {}, "45.75", "instant_settle", "grade"],
    ["safe_amount_multiple 0", { safe_amount_multiple: 0 }, {}, "0.01", "escrow", "above_safe_amount"],
    [
      "min_confidence_for_instant",
      { min_confidence_for_instant: "HIGH" },
      levelled("MEDIUM"),
      "1",
      "escrow",
      "confidence_below_minimum",
    ],
    ["no escrow", { escrow_disabled: true }, {}, "31", "reject", "escrow_disabled"],
    ["the allowlist", { allowlist: [WALLET] }, {}, "31", "instant_settle", "allowlist"],
    ["sanctions", { allowlist: [WALLET] }, { sanctions: [LISTING] }, "1", "reject", "sanctioned"],
  ])("decides by %s", async (_name, policy, known, amount, action, reason) => {
    const { ledger, amounts } = fakeBacking();
    const { put, route: routeTo } = policyApp({ snapshot: known, backing: ledger });
    expect((await put({ ...GRADES, ...policy })).status).toBe(200);
    const body = await (await routeTo(`${WALLET}?amount_usd=${amount}`, BY_KEY)).json();
    expect(body).toMatchObject({ action, reason, policy_applied: true });
    // The allowlist is the caller's own decision, which takes nothing from others.
    const isPromised = action === "instant_settle" && reason !== "allowlist";
    expect(amounts()).toHaveLength(isPromised ? 1 : 0);
  });

  it("asks for confidence without an amount as well", async () => {
    const { put, route: routeTo } = policyApp({ snapshot: levelled("LOW") });
    await put({ ...GRADES, min_confidence_for_instant: "MEDIUM" });
    expect(await (await routeTo(WALLET)).json()).toMatchObject({
      action: "escrow",
      reason: "confidence_below_minimum",
    });
  });
});

function levelled(confidenceLevel: "MEDIUM" | "LOW"): Parameters<typeof walletSnapshot>[0] {
  const { score } = walletSnapshot();
  if (score === null) throw new Error("the fake standing has a score");
  return { score: { ...score, confidenceLevel } };
}
