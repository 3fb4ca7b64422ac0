import type { PaymentPayload } from "@x402/core/types";
import { appendPaymentIdentifierToExtensions } from "@x402/extensions/payment-identifier";
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
/** The shortest that the extension allows. */
const ID = "order_0123456789";
const LONG_ID = "pay_7d5d747be160e280504c099d984bcfe0";

/** A fresh payment under an identifier, put there by the official helper. */
async function payload(path: string, id = ID, shop = world): Promise<PaymentPayload> {
  const signed = await shop.sign(path);
  const extensions = structuredClone((await shop.terms(path)).extensions ?? {});
  appendPaymentIdentifierToExtensions(extensions, id);
  return { ...signed, extensions };
}

describe("a payment identifier", () => {
  it("is charged once however many payments come with it for one request, and each gets the first answer", async () => {
    const answers = [];
    for (let time = 0; time < 3; time += 1)
      answers.push(await world.request(CHEAP, paid(await payload(CHEAP))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first, ...others] = await Promise.all(
      answers.map(async (answer) => [await answer.text(), answer.headers.get("payment-response")]),
    );
    expect(others).toEqual([first, first]);
    expect([world.desk.settled.length, world.works.done]).toEqual([1, 1]);
  });

  it("of another request is a 409, and neither is charged for it", async () => {
    await world.request(CHEAP, paid(await payload(CHEAP)));
    for (const path of ["/cheap/2", DEAR]) {
      const response = await world.request(path, paid(await payload(path)));
      expect([response.status, await response.json()]).toMatchObject([
        409,
        { type: "/docs#problem-payment-identifier-reused" },
      ]);
    }
    expect(world.desk.settled).toHaveLength(1);
  });

  it("names the payment as well where the answer was owed, on any server", async () => {
    world.works.failure = new Error("broken");
    expect((await world.request(DEAR, paid(await payload(DEAR)))).status).toBe(503);
    world.works.failure = null;
    world.pass(1_000);
    const successor = world.successor();
    const other = await successor.request("/dear/2", paid(await payload("/dear/2", ID, world)));
    expect(other.status).toBe(409);
    const again = await world.request(DEAR, paid(await payload(DEAR)));
    expect([again.status, world.desk.settled.length]).toEqual([200, 1]);
  });

  it("is charged once beside another Idempotency-Key for each attempt", async () => {
    for (const key of ["one", "two"]) {
      const headers = { ...paid(await payload(CHEAP)), "idempotency-key": key };
      expect((await world.request(CHEAP, headers)).status).toBe(200);
    }
    expect(world.desk.settled).toHaveLength(1);
  });

  it("whose first request is under way is a 409 with Retry-After", async () => {
    const gate = Promise.withResolvers<void>();
    world.works.gate = gate.promise;
    const first = world.request(CHEAP, paid(await payload(CHEAP)));
    await expect.poll(() => world.works.done).toBe(1);
    const second = await world.request(CHEAP, paid(await payload(CHEAP)));
    gate.resolve();
    expect([second.status, second.headers.get("retry-after")]).toEqual([409, expect.any(String)]);
    expect((await first).status).toBe(200);
  });

  it("opens nothing with a signature that is not the payer's", async () => {
    await world.request(CHEAP, paid(await payload(CHEAP)));
    const stranger = paymentWorld(db);
    const { payload: signed, ...rest } = await payload(CHEAP, ID, stranger);
    const { authorization, signature } = signed as { authorization: object; signature: string };
    const forged = { ...authorization, from: world.account.address };
    const response = await world.request(
      CHEAP,
      paid({ ...rest, payload: { authorization: forged, signature } }),
    );
    expect(response.status).toBe(402);
  });

  it("of another payer is one of its own", async () => {
    await world.request(CHEAP, paid(await payload(CHEAP)));
    const stranger = paymentWorld(db);
    expect((await stranger.request(CHEAP, paid(await payload(CHEAP, ID, stranger)))).status).toBe(200);
    expect(stranger.desk.settled).toHaveLength(1);
  });

  it("gets the answer by the very same payload only where it cannot be guessed", async () => {
    const guessable = await payload(CHEAP);
    await world.request(CHEAP, paid(guessable));
    expect((await world.request(CHEAP, paid(guessable))).status).toBe(402);
    const secret = await payload("/cheap/2", LONG_ID);
    const first = await world.request("/cheap/2", paid(secret));
    const again = await world.request("/cheap/2", paid(secret));
    expect([again.status, again.headers.get("payment-response"), await again.text()]).toEqual([
      200,
      first.headers.get("payment-response"),
      await first.text(),
    ]);
    expect(world.desk.settled).toHaveLength(2);
  });

  it.each([
    ["too short", { required: false, id: "short" }],
    ["too long", { required: false, id: "x".repeat(129) }],
    ["of other characters", { required: false, id: "order 0123456789" }],
    ["a number", { required: false, id: 1_234_567_890_123_456 }],
    ["an object", { required: false, id: {} }],
    ["without `required`", { id: ID }],
  ])("that is %s is a 400, and nothing is settled", async (_fault, info) => {
    const signed = await world.sign(CHEAP);
    const extensions = { "payment-identifier": { info, schema: {} } };
    const response = await world.request(CHEAP, paid({ ...signed, extensions }));
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: "/docs#problem-payment-malformed" },
    ]);
    expect(world.desk.settled).toEqual([]);
  });

  it("never has a schema of the client's compiled", async () => {
    const signed = await world.sign(CHEAP);
    const schema = { $ref: "https://elsewhere.example/schema", pattern: "(a+)+$" };
    const extensions = { "payment-identifier": { info: { required: false, id: ID }, schema } };
    expect((await world.request(CHEAP, paid({ ...signed, extensions }))).status).toBe(200);
  });
});

describe("an answer given again", () => {
  it("by Idempotency-Key, claim or the same payment reports the settlement of the first", async () => {
    const key = "0123456789abcdefghijkl";
    const signed = paid(await world.sign(CHEAP));
    const first = await world.request(CHEAP, { ...signed, "idempotency-key": key });
    const report = first.headers.get("payment-response");
    expect(report).not.toBeNull();
    const same = await world.request(CHEAP, { ...signed, "idempotency-key": key });
    const fresh = await world.request(CHEAP, { ...paid(await world.sign(CHEAP)), "idempotency-key": key });
    world.signedIn.address = world.account.address.toLowerCase() as never;
    const signedIn = await world.request(CHEAP, { "sign-in-with-x": "yes" });
    expect(
      [same, fresh, signedIn].map(({ status, headers }) => [status, headers.get("payment-response")]),
    ).toEqual([
      [200, report],
      [200, report],
      [200, report],
    ]);
  });
});
