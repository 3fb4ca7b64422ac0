import type { PaymentRequired } from "@x402/core/types";
import { beforeEach, describe, expect, it } from "vitest";
import { useDatabase } from "../../../support/test-database.ts";
import { type PaymentWorld, paid, paymentWorld } from "../payment-world.ts";

const db = useDatabase();
let world: PaymentWorld;

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  world = paymentWorld(db);
});

const CHEAP = "/cheap/1";
const DEAR = "/dear/1";
const TRANSFER = `0x${"cd".repeat(32)}` as const;

describe("an authorization that others carry out while it is verified", () => {
  beforeEach(() => {
    world.desk.answers.verify = { kind: "invalid", reason: "settlement_needs_too_much_gas" };
  });

  it.each([CHEAP, DEAR])("has paid for %s, which is served without another settlement", async (path) => {
    const header = paid(await world.sign(path));
    world.desk.meanwhile.verify = () => Object.assign(world.chain, { used: true, transfer: TRANSFER });
    const response = await world.request(path, header);
    expect([response.status, reportOf(response)]).toMatchObject([200, { transaction: TRANSFER }]);
    expect([await states(), world.desk.settled]).toEqual([["answered"], []]);
  });

  it("is owed where the work then fails, with a claim", async () => {
    const header = paid(await world.sign(CHEAP));
    world.desk.meanwhile.verify = () => Object.assign(world.chain, { used: true, transfer: TRANSFER });
    world.works.failure = new Error("broken");
    const failed = await world.request(CHEAP, header);
    const { claim } = (await failed.json()) as { claim: string };
    expect([failed.status, await states()]).toEqual([503, ["owed"]]);
    world.works.failure = null;
    world.pass(1_000);
    expect((await world.request(CHEAP, { "x-payment-claim": claim })).status).toBe(200);
  });

  it.each([
    ["pending", { usedInPending: true }],
    ["newest", { used: true }],
  ])("is a 503 with a claim while the %s block alone shows it", async (_block, use) => {
    const header = paid(await world.sign(CHEAP));
    world.desk.meanwhile.verify = () => Object.assign(world.chain, use);
    const response = await world.request(CHEAP, header);
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { type: "/docs#problem-settlement-pending", claim: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await states()).toEqual(["reserved"]);
  });

  it("is refused without a row once a final block shows that it paid another account", async () => {
    const header = paid(await world.sign(CHEAP));
    world.desk.meanwhile.verify = () => Object.assign(world.chain, { used: true, usedInFinal: true });
    expect([(await world.request(CHEAP, header)).status, await states()]).toEqual([402, []]);
  });
});

describe("an authorization that was used before the request", () => {
  it("is refused, since its sender may have read it on the chain", async () => {
    const header = paid(await world.sign(CHEAP));
    Object.assign(world.chain, { used: true, transfer: TRANSFER });
    const response = await world.request(CHEAP, header);
    expect([response.status, await errorOf(response), await states()]).toEqual([
      402,
      expect.stringContaining("payment_already_used"),
      [],
    ]);
  });
});

describe("a duplicate of a payment under way", () => {
  it("that fails verification for the first one's sake is a 409 with Retry-After", async () => {
    const header = paid(await world.sign(CHEAP));
    world.desk.answers.verify = { kind: "invalid", reason: "settlement_needs_too_much_gas" };
    // The first one reserves, and is broadcast, after the second one has looked for the row.
    const first = paymentWorld(db);
    first.desk.answers.settle = "silence";
    const verify = world.desk.facilitator.verify;
    world.desk.facilitator.verify = async (payment) => {
      await first.request(CHEAP, header);
      Object.assign(world.chain, { usedInPending: true });
      return verify(payment);
    };
    const response = await world.request(CHEAP, header);
    expect([response.status, response.headers.get("retry-after")]).toEqual([409, expect.any(String)]);
  });
});

describe("a payment whose settlement is too dear now", () => {
  it("is a 503 with Retry-After of its own kind, and leaves no row", async () => {
    const detail = "Settling this payment costs too much.";
    world.desk.answers.verify = { kind: "dear", detail, retryAfterSeconds: 60 };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect([response.status, response.headers.get("retry-after"), await response.json()]).toMatchObject([
      503,
      "60",
      { type: "/docs#problem-settlement-too-dear", detail },
    ]);
    expect(await states()).toEqual([]);
  });
});

describe("a wallet without the money", () => {
  it("is refused for that, and leaves neither a payment nor a key nor a bucket behind", async () => {
    world.chain.balance = 9_999n;
    const headers = { ...paid(await world.sign(CHEAP)), "idempotency-key": "order-1" };
    const response = await world.request(CHEAP, headers);
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("insufficient_funds: the payer has 9999"),
    ]);
    expect(response.headers.get("ratelimit")).toBeNull();
    expect([await states(), world.works.done]).toEqual([[], 0]);
  });

  it("whose money moved to us meanwhile is served for it", async () => {
    const header = paid(await world.sign(CHEAP));
    world.chain.balance = 0n;
    world.desk.answers.verify = { kind: "invalid", reason: "insufficient_funds" };
    world.chain.transfer = TRANSFER;
    let asked = 0;
    world.chainSteps.isUsed = () => {
      asked += 1;
      world.chain.used = asked > 1;
    };
    expect((await world.request(CHEAP, header)).status).toBe(200);
  });
});

async function states(): Promise<string[]> {
  return (await world.rows()).map(({ kind }) => kind);
}

async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as PaymentRequired).error ?? "";
}

function reportOf(response: Response): unknown {
  return JSON.parse(Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString());
}
