import { decodePaymentResponseHeader } from "@x402/fetch";
import type { Address } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { readOwed } from "../../../service/access/payments/payments-due.ts";
import { Problem } from "../../../service/access/problems.ts";
import { useDatabase } from "../../support/test-database.ts";
import { CHAIN_ID, type PaymentWorld, paid, paymentWorld, SETTLED } from "./payment-world.ts";

const db = useDatabase();
let world: PaymentWorld;

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  world = paymentWorld(db);
});

const DEAR = "/dear/1";
const SECRET = "/secret/1";

const owed = () =>
  readOwed(db, {
    chainId: CHAIN_ID,
    payers: [world.account.address.toLowerCase() as Address],
    now: world.clock.now(),
    limit: 10,
  });
const reportOf = ({ headers }: Response) =>
  decodePaymentResponseHeader(headers.get("payment-response") ?? "");

/** The headers of a payment whose work has failed after its settlement. */
async function failed(path: string): Promise<Record<string, string>> {
  const headers = paid(await world.sign(path));
  world.works.failure = new Error("broken");
  expect((await world.request(path, headers)).status).toBe(503);
  world.works.failure = null;
  return headers;
}

describe("work that fails after its settlement", () => {
  it.each([
    ["a fault of ours", new Error("broken"), "answer-owed"],
    ["a wallet that is gone", new Problem("not-indexed", "gone meanwhile"), "answer-owed"],
    ["a passing failure", new Problem("scoring-unavailable", "later"), "scoring-unavailable"],
  ])("by %s is a 503 with Retry-After, a claim and the settlement", async (_name, failure, code) => {
    world.works.failure = failure;
    const response = await world.request(DEAR, paid(await world.sign(DEAR)));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(reportOf(response)).toMatchObject({ success: true, transaction: SETTLED });
    expect(await response.json()).toMatchObject({
      type: `/docs#problem-${code}`,
      claim: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it("is listed as owed to its payer alone, until it is answered", async () => {
    const headers = await failed(DEAR);
    expect(await owed()).toEqual([
      {
        ...{ endpoint: "GET /dear/{id}", resource: DEAR, scheme: "exact", amount: 2_000_000n },
        payer: world.account.address.toLowerCase(),
        transactionHash: SETTLED,
        settledAt: expect.any(Date),
      },
    ]);
    const others = { chainId: CHAIN_ID, payers: [], now: world.clock.now(), limit: 10 };
    expect(await readOwed(db, others)).toEqual([]);
    expect((await world.request(DEAR, headers)).status).toBe(200);
    expect(await owed()).toEqual([]);
  });
});

describe("an owed answer", () => {
  it("is answered to the same payment, for its own request, once", async () => {
    const headers = await failed(DEAR);
    expect((await world.request("/dear/2", headers)).status).toBe(402);
    const answered = await world.request(DEAR, headers);
    expect([answered.status, reportOf(answered).transaction]).toEqual([200, SETTLED]);
    expect((await world.request(DEAR, headers)).status).toBe(402);
    expect([world.works.done, world.desk.settled.length]).toEqual([2, 1]);
  });

  it.each([DEAR, SECRET])(
    "is answered to a new payment of the same wallet, which is not settled: %s",
    async (path) => {
      await failed(path);
      const again = paid(await world.sign(path));
      expect((await world.request(path, again)).status).toBe(200);
      expect(world.desk.settled).toHaveLength(1);
      // Then nothing is owed, and the new payment buys another answer.
      expect((await world.request(path, again)).status).toBe(200);
      expect(world.desk.settled).toHaveLength(2);
    },
  );

  it("is not answered to a new payment of another wallet, which pays for its own answer", async () => {
    await failed(DEAR);
    const stranger = paymentWorld(db);
    expect((await stranger.request(DEAR, paid(await stranger.sign(DEAR)))).status).toBe(200);
    expect([stranger.desk.settled.length, (await owed()).length]).toEqual([1, 1]);
  });

  it("is not answered to the same payment where the answer shows a secret", async () => {
    const headers = await failed(SECRET);
    expect((await world.request(SECRET, headers)).status).toBe(402);
    world.signedIn.address = world.account.address.toLowerCase() as Address;
    expect((await world.request(SECRET, { "sign-in-with-x": "signed" })).status).toBe(200);
  });

  it("leaves the payer its claim where others show the published payment", async () => {
    const headers = paid(await world.sign(DEAR));
    world.works.failure = new Error("broken");
    const { claim } = (await (await world.request(DEAR, headers)).json()) as { claim: string };
    const copied = await world.request(DEAR, headers);
    expect([copied.status, await copied.json()]).toEqual([
      503,
      expect.not.objectContaining({ claim: expect.anything() }),
    ]);
    world.works.failure = null;
    expect((await world.request(DEAR, headers)).status).toBe(200);
    const claimed = await world.request(DEAR, { "x-payment-claim": claim });
    expect([claimed.status, reportOf(claimed).transaction]).toEqual([200, SETTLED]);
    expect([world.works.done, world.desk.settled.length]).toEqual([3, 1]);
  });

  it("frees the Idempotency-Key of a request that died once its payment's lease has ended", async () => {
    const headers = { ...paid(await world.sign(DEAR)), "idempotency-key": "k".repeat(22) };
    // The server that works on it never comes back.
    world.works.gate = new Promise(() => undefined);
    void world.request(DEAR, headers);
    await expect.poll(() => world.works.done).toBe(1);
    const running = await world.request(DEAR, headers);
    expect(running.status).toBe(409);
    world.works.gate = Promise.resolve();
    world.pass(61_000);
    expect((await world.request(DEAR, headers)).status).toBe(200);
    expect(world.desk.settled).toHaveLength(1);
  });

  it("reports its settlement while another request works on it", async () => {
    const { "PAYMENT-SIGNATURE": _, ...none } = await failed(DEAR);
    const gate = Promise.withResolvers<void>();
    world.works.gate = gate.promise;
    world.signedIn.address = world.account.address.toLowerCase() as Address;
    const signedIn = { ...none, "sign-in-with-x": "signed" };
    const working = world.request(DEAR, signedIn);
    await expect.poll(() => world.works.done).toBe(2);
    const second = await world.request(DEAR, signedIn);
    expect([second.status, reportOf(second).transaction]).toEqual([409, SETTLED]);
    gate.resolve();
    expect((await working).status).toBe(200);
  });
});
