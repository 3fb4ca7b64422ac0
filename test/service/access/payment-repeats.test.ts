import type { PaymentRequired } from "@x402/core/types";
import { appendPaymentIdentifierToExtensions } from "@x402/extensions/payment-identifier";
import { beforeEach, describe, expect, it } from "vitest";
import { Problem } from "../../../service/access/problems.ts";
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
const LONG_KEY = "k".repeat(22);

async function states(): Promise<string[]> {
  return (await world.rows()).map(({ state }) => state);
}

async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as PaymentRequired).error ?? "";
}

describe("one authorization", () => {
  it("presented 20 times at once is served once; the others are 409 with Retry-After", async () => {
    let open = () => {};
    world.works.gate = new Promise((resolve) => {
      open = resolve;
    });
    const header = paid(await world.sign(CHEAP));
    const all = Array.from({ length: 20 }, () => world.request(CHEAP, header));
    await expect.poll(() => world.works.done).toBe(1);
    const refused = await Promise.race(all);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([409, "2"]);
    await expect.poll(() => world.registry.metrics()).toContain('outcome="in_flight"} 19');
    open();
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    expect([world.works.done, world.desk.settled.length]).toEqual([1, 1]);
  });

  it("that was used proves nothing by itself", async () => {
    const header = paid(await world.sign(CHEAP));
    await world.request(CHEAP, header);
    const again = await world.request(CHEAP, header);
    expect([again.status, await errorOf(again)]).toEqual([
      402,
      expect.stringContaining("payment_already_used"),
    ]);
    expect(world.desk.settled).toHaveLength(1);
  });

  it("that was used is answered again to its Idempotency-Key, a payment identifier or a sign-in", async () => {
    const payload = await world.sign(CHEAP);
    const extensions = { ...payload.extensions };
    appendPaymentIdentifierToExtensions(extensions, "order-0123456789abcdef");
    const identified = paid({ ...payload, extensions });
    await world.request(CHEAP, { ...identified, "idempotency-key": LONG_KEY });
    const plain = paid(payload);
    world.signedIn.address = world.account.address.toLowerCase() as `0x${string}`;
    const repeats = [
      { ...plain, "idempotency-key": LONG_KEY },
      { ...plain, "idempotency-key": `"${LONG_KEY}"` },
      identified,
      { ...plain, "sign-in-with-x": "signed" },
      { "sign-in-with-x": "signed" },
    ];
    for (const headers of repeats) {
      const again = await world.request(CHEAP, headers);
      expect([again.status, await again.json()]).toEqual([200, { id: "1", number: 1 }]);
    }
    expect([world.works.done, world.desk.settled.length]).toEqual([1, 1]);
  });

  it("that was used does not serve a caller that guesses a short Idempotency-Key", async () => {
    const header = { ...paid(await world.sign(DEAR)), "idempotency-key": "order-1" };
    expect((await world.request(DEAR, header)).status).toBe(200);
    const guessed = await world.successor().request(DEAR, header);
    expect([guessed.status, await errorOf(guessed)]).toEqual([
      402,
      expect.stringContaining("Idempotency-Key of at least 22 characters"),
    ]);
    expect(world.works.done).toBe(1);
  });

  it("is no good to another wallet's sign-in, nor for another resource", async () => {
    const { resource: _resource, ...payload } = await world.sign(CHEAP);
    const header = { ...paid(payload), "idempotency-key": "first" };
    await world.request(CHEAP, header);
    world.signedIn.address = "0x00000000000000000000000000000000000000ff";
    const stranger = await world.request(CHEAP, { ...paid(payload), "sign-in-with-x": "signed" });
    world.signedIn.address = world.account.address.toLowerCase() as `0x${string}`;
    const elsewhere = await world.request("/cheap/2", { ...paid(payload), "sign-in-with-x": "signed" });
    for (const response of [stranger, elsewhere])
      expect([response.status, await errorOf(response)]).toEqual([
        402,
        expect.stringContaining("payment_already_used"),
      ]);
    expect(world.works.done).toBe(1);
  });

  it("is answered again after it has expired, and for a day", async () => {
    const header = { ...paid(await world.sign(CHEAP)), "sign-in-with-x": "signed" };
    world.signedIn.address = world.account.address.toLowerCase() as `0x${string}`;
    await world.request(CHEAP, header);
    world.pass(23 * 3_600_000);
    expect((await world.request(CHEAP, header)).status).toBe(200);
  });
});

describe("an authorization that was spent elsewhere", () => {
  it("is refused and leaves no trace that could be owed", async () => {
    world.chain.used = true;
    world.desk.answers.verify = { kind: "invalid", reason: "nonce_already_used" };
    const response = await world.request(DEAR, paid(await world.sign(DEAR)));
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("payment_already_used"),
    ]);
    expect(await states()).toEqual([]);
  });

  it("does not make its reader the payer of what was bought under an Idempotency-Key", async () => {
    const key = { "idempotency-key": "order-1" };
    world.works.failure = new Error("broken");
    expect((await world.request(DEAR, { ...paid(await world.sign(DEAR)), ...key })).status).toBe(503);
    world.works.failure = null;
    const spent = paid(await world.sign(DEAR));
    world.chain.used = true;
    const response = await world.request(DEAR, { ...spent, ...key });
    expect([response.status, world.works.done]).toEqual([402, 1]);
  });
});

describe("work that fails", () => {
  it("before settlement charges nothing and leaves the authorization usable", async () => {
    const header = paid(await world.sign(CHEAP));
    world.works.failure = new Problem("not-indexed", "gone meanwhile");
    expect((await world.request(CHEAP, header)).status).toBe(404);
    expect([world.desk.settled, await states()]).toEqual([[], ["released"]]);
    world.works.failure = null;
    expect((await world.request(CHEAP, header)).status).toBe(200);
  });

  it("in its free checks reserves nothing at all", async () => {
    const { resource: _resource, ...payload } = await world.sign(CHEAP);
    expect((await world.request("/cheap/gone", paid(payload))).status).toBe(404);
    expect(await states()).toEqual([]);
  });

  it("after settlement is owed: the claim gets it done without another charge", async () => {
    const header = paid(await world.sign(DEAR));
    world.works.failure = new Error("broken");
    const failed = await world.request(DEAR, header);
    const { claim } = (await failed.json()) as { claim: string };
    expect([failed.status, claim]).toEqual([503, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(await states()).toEqual(["settled"]);
    world.works.failure = null;
    const again = await world.request(DEAR, { ...header, "x-payment-claim": claim });
    expect([again.status, await again.json()]).toEqual([200, { id: "1", number: 2 }]);
    const alone = await world.request(DEAR, { "x-payment-claim": claim });
    expect([alone.status, await alone.json()]).toEqual([200, { id: "1", number: 2 }]);
    expect([world.desk.settled.length, await states()]).toEqual([1, ["answered"]]);
  });

  it("is owed to one repeat at a time", async () => {
    const header = paid(await world.sign(DEAR));
    world.works.failure = new Error("broken");
    const { claim } = (await (await world.request(DEAR, header)).json()) as { claim: string };
    world.works.failure = null;
    const repeats = Array.from({ length: 5 }, () => world.request(DEAR, { "x-payment-claim": claim }));
    const statuses = (await Promise.all(repeats)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect([world.works.done, world.desk.settled.length]).toEqual([2, 1]);
  });
});

describe("a request that is cancelled", () => {
  it.each([CHEAP, DEAR])("before its settlement gets no answer and pays nothing: %s", async (path) => {
    const header = paid(await world.sign(path));
    const response = await world.request(path, header, AbortSignal.abort());
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("request_cancelled"),
    ]);
    expect([world.desk.settled, await states()]).toEqual([[], ["released"]]);
  });
});

describe("a server that stops", () => {
  it.each([
    [CHEAP, 402, "released"],
    [DEAR, 503, "settled"],
  ])("answers work under way on %s with %i, and the payment is %s", async (path, status, state) => {
    const closing = new AbortController();
    const shop = paymentWorld(db, { stopping: closing.signal });
    const header = paid(await shop.sign(path));
    shop.works.gate = new Promise(() => undefined);
    const asked = shop.request(path, header);
    await expect.poll(() => shop.works.done).toBe(1);
    closing.abort();
    expect((await asked).status).toBe(status);
    expect((await shop.rows()).map((row) => row.state)).toEqual([state]);
  });
});

describe("a settlement", () => {
  it("that takes all the time of its request leaves the work a time of its own", async () => {
    const hasty = paymentWorld(db, { deadlineMs: 2_000, settleDeadlineMs: 60_000 });
    const header = paid(await hasty.sign(DEAR));
    const settle = hasty.desk.facilitator.settle;
    hasty.desk.facilitator.settle = async (payment) => {
      await new Promise((resolve) => setTimeout(resolve, 2_100));
      return settle(payment);
    };
    hasty.works.gate = new Promise((resolve) => setTimeout(resolve, 2_200));
    expect((await hasty.request(DEAR, header)).status).toBe(200);
  });

  it("that another account carried out has paid nevertheless", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "nonce_used" };
    world.desk.meanwhile.settle = () => {
      world.chain.used = true;
      world.chain.transfer = `0x${"cd".repeat(32)}`;
    };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect(response.status).toBe(200);
    expect((await world.rows())[0]).toMatchObject({
      state: "answered",
      transactionHash: world.chain.transfer,
    });
  });

  it("that was refused while its authorization is used, by an unknown transaction, is a 503 with a claim", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "nonce_used" };
    const header = paid(await world.sign(CHEAP));
    world.desk.meanwhile.settle = () => {
      world.chain.used = true;
    };
    const response = await world.request(CHEAP, header);
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { type: "/docs#problem-settlement-pending", claim: expect.any(String) },
    ]);
    expect(await states()).toEqual(["reserved"]);
  });

  it.each(["refused", "unavailable"] as const)(
    "that is %s while the pending block uses the authorization is a 503 with a claim",
    async (kind) => {
      world.desk.answers.settle =
        kind === "refused" ? { kind, reason: "nonce_used" } : { kind, cause: new Error("away") };
      world.desk.meanwhile.settle = () => {
        world.chain.usedInPending = true;
      };
      const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { type: "/docs#problem-settlement-pending", claim: expect.any(String) },
      ]);
      expect(await states()).toEqual(["reserved"]);
    },
  );

  it("says that nothing was charged only of an authorization that a final block shows spent elsewhere", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "nonce_used" };
    const open = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect([open.status, await errorOf(open)]).toEqual([402, expect.not.stringMatching(/nothing .*charged/)]);
    world.desk.meanwhile.settle = () => Object.assign(world.chain, { used: true, usedInFinal: true });
    const spent = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect([spent.status, await errorOf(spent)]).toEqual([
      402,
      expect.stringContaining("nothing was charged"),
    ]);
  });

  it("that cannot be ordered says nothing of the charge", async () => {
    world.desk.answers.settle = { kind: "unavailable", cause: new Error("away") };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    const { detail } = (await response.json()) as { detail: string };
    expect([response.status, detail]).toEqual([503, expect.not.stringContaining("charged")]);
  });

  it("that failed for want of money says so, whatever the facilitator calls it", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "transaction_failed" };
    world.desk.meanwhile.settle = () => {
      world.chain.balance = 0n;
    };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("insufficient_funds"),
    ]);
  });

  it("that was refused keeps the authorization for the request that asked for it", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "insufficient_funds" };
    const { resource: _resource, ...payload } = await world.sign(CHEAP);
    expect((await world.request(CHEAP, paid(payload))).status).toBe(402);
    const elsewhere = await world.request("/cheap/2", paid(payload));
    expect([elsewhere.status, await errorOf(elsewhere)]).toEqual([
      402,
      expect.stringContaining("presented for another request"),
    ]);
    expect((await world.rows()).map(({ state, resource }) => [state, resource])).toEqual([
      ["released", CHEAP],
    ]);
    world.desk.answers.settle = { kind: "settled", transaction: `0x${"ab".repeat(32)}` };
    expect((await world.request(CHEAP, paid(payload))).status).toBe(200);
  });

  it("that failed for good is a 402 without a leak", async () => {
    world.desk.answers.settle = { kind: "refused", reason: "nonce_used" };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    const report = Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString();
    expect(response.status).toBe(402);
    expect(JSON.parse(report)).toEqual({
      success: false,
      errorReason: "nonce_used",
      transaction: "",
      network: "eip155:31337",
      payer: world.account.address.toLowerCase(),
      amount: "10000",
    });
    expect(await response.text()).not.toContain('"number"');
  });

  it.each([CHEAP, DEAR])("without an answer is a 503 with a claim: %s", async (path) => {
    world.desk.answers.settle = "silence";
    const header = paid(await world.sign(path));
    const response = await world.request(path, header);
    const body = (await response.json()) as { claim: string };
    expect([response.status, body]).toMatchObject([
      503,
      { type: "/docs#problem-settlement-pending", claim: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await states()).toEqual(["reserved"]);
    expect((await world.request(path, header)).status).toBe(409);
    const asked = await world.request(path, { ...header, "x-payment-claim": body.claim });
    expect(asked.status).toBe(503);
    expect(world.desk.settled).toHaveLength(1);
  });
});
