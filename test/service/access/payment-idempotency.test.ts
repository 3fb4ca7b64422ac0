import { beforeEach, describe, expect, it } from "vitest";
import { useDatabase } from "../../support/test-database.ts";
import { type PaymentWorld, paid, paymentWorld } from "./payment-world.ts";

const db = useDatabase();
let world: PaymentWorld;

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  world = paymentWorld(db);
});

const CHEAP = "/cheap/1";
const DEAR = "/dear/1";

/** A payment that was signed anew, as clients do for each attempt, under the same Idempotency-Key. */
async function attempt(path: string): Promise<Record<string, string>> {
  return { ...paid(await world.sign(path)), "idempotency-key": "order-1" };
}

describe("another payment under the same Idempotency-Key", () => {
  it("gets the answer that the first one bought, and is not settled", async () => {
    const first = await world.request(CHEAP, await attempt(CHEAP));
    const second = await world.request(CHEAP, await attempt(CHEAP));
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await second.text()).toBe(await first.text());
    expect([world.works.done, world.desk.settled.length]).toEqual([1, 1]);
  });

  it("does so as well where the server died before it could keep the answer under the key", async () => {
    const first = await world.request(CHEAP, await attempt(CHEAP));
    const successor = paymentWorld(db);
    const second = await successor.request(CHEAP, await attempt(CHEAP));
    expect([second.status, await second.text()]).toEqual([200, await first.text()]);
    expect(successor.desk.settled).toEqual([]);
  });

  it("has the work that the first one is owed done, and is not settled", async () => {
    world.works.failure = new Error("broken");
    expect((await world.request(DEAR, await attempt(DEAR))).status).toBe(503);
    world.works.failure = null;
    world.pass(1_000);
    const second = await world.request(DEAR, await attempt(DEAR));
    expect([second.status, world.desk.settled.length]).toEqual([200, 1]);
  });

  it("is worked for as the first one, so that what is bought by it is bought once", async () => {
    world.works.failure = new Error("broken");
    await world.request(DEAR, await attempt(DEAR));
    world.works.failure = null;
    world.pass(1_000);
    await world.request(DEAR, await attempt(DEAR));
    const [row] = await world.rows();
    expect(world.works.callers.map((caller) => caller.kind === "payer" && caller.payment.nonce)).toEqual([
      row?.nonce,
      row?.nonce,
    ]);
  });

  it("is settled again once the first one's answer is a day old", async () => {
    await world.request(CHEAP, await attempt(CHEAP));
    world.pass(25 * 3_600_000);
    const validBefore = String(Math.floor(world.clock.now().getTime() / 1000) + 300);
    const payload = await world.resign(await world.sign(CHEAP), { validBefore });
    const successor = world.successor();
    const response = await successor.request(CHEAP, { ...paid(payload), "idempotency-key": "order-1" });
    expect([response.status, successor.desk.settled.length]).toEqual([200, 1]);
  });

  it("is refused with 422 where it asks for something else", async () => {
    await world.request(CHEAP, await attempt(CHEAP));
    const other = { ...paid(await world.sign("/cheap/2")), "idempotency-key": "order-1" };
    expect((await world.request("/cheap/2", other)).status).toBe(422);
    expect(world.desk.settled).toHaveLength(1);
  });
});
