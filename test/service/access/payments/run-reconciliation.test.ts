import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { PresentedPayment } from "../../../../service/access/access.ts";
import { createPaymentMetrics } from "../../../../service/access/payments/metrics.ts";
import type { PaymentChain } from "../../../../service/access/payments/payment-chain.ts";
import { createPaymentStore } from "../../../../service/access/payments/payments.ts";
import {
  type ReconciliationDeps,
  reconcilePayments,
} from "../../../../service/access/payments/run-reconciliation.ts";
import { SCHEMES } from "../../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../../support/a-reservation.ts";
import { CENT, openUsdcChain, type UsdcChain } from "../../../support/usdc-chain.ts";

let usdc: UsdcChain;
let offsetMs = 0;
const now = () => new Date(Date.now() + offsetMs);

beforeAll(async () => {
  usdc = await openUsdcChain();
});
afterEach(async () => {
  await usdc.stopSender();
  offsetMs = 0;
});
afterAll(() => usdc.close());

/** A process dies between two steps of a payment; reconciliation then settles or releases the payment. */
describe("a server killed", () => {
  it("after it reserved: the authorization is free again, and nothing was charged", async () => {
    const { payment, id } = await reserved();
    expect(await afterDeadline(id)).toBe("released");
    expect(await usdc.paymentChain.isUsed(payment)).toBe(false);
  });

  it("after it noted that it would settle: free again, since nothing was queued", async () => {
    const { id } = await reserved();
    await store().askSettlement(id, CENT);
    expect(await afterDeadline(id)).toBe("released");
  });

  it("after it queued the settlement: charged once, and owed", async () => {
    const before = await usdc.received();
    const { payment, id } = await reserved();
    await store().askSettlement(id, CENT);
    await usdc.facilitator({ settleDeadlineMs: 500 }).settle(payment);
    expect(await afterDeadline(id)).toBe("reserved");
    usdc.startSender();
    await expect.poll(() => usdc.paymentChain.isUsed(payment)).toBe(true);
    expect(await afterDeadline(id)).toBe("settled");
    expect((await usdc.received()) - before).toBe(CENT);
  });

  it("after the money moved, before it said so: owed", async () => {
    usdc.startSender();
    const { payment, id } = await reserved();
    await store().askSettlement(id, CENT);
    expect((await usdc.facilitator().settle(payment)).kind).toBe("settled");
    expect(await afterDeadline(id)).toBe("settled");
  });

  it("after the money moved: owed some seconds after its own order was mined, while a running request keeps its lease", async () => {
    usdc.startSender();
    const { payment, id } = await reserved();
    await store().askSettlement(id, CENT);
    expect((await usdc.facilitator().settle(payment)).kind).toBe("settled");
    expect(await reconcilePayments(deps())).toMatchObject({ settle: 0, wait: 0 });
    offsetMs += 10_000;
    expect(await reconcilePayments(deps())).toMatchObject({ settle: 1 });
    expect(await stateOf(id)).toBe("settled");
  });

  it("after it said so, before the answer: owed to one repeat, which is answered without a charge", async () => {
    usdc.startSender();
    const { payment, id } = await reserved();
    await store().askSettlement(id, CENT);
    const settled = await usdc.facilitator().settle(payment);
    if (settled.kind !== "settled") throw new Error("not settled");
    await store().settle(id, settled.transaction);
    expect(await store().reopen(id, null)).toBe(false);
    expect(await afterDeadline(id)).toBe("settled");
    expect(await store().reopen(id, null)).toBe(true);
    expect(await store().reopen(id, null)).toBe(false);
    expect(await store().answer(id, { contentType: "text/plain", body: "here" })).toBe(true);
  });

  it("while another carried out a released authorization: the money is owed, not lost", async () => {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 100);
    const { payment, id } = await reserved(await usdc.sign({ validBefore }));
    await store().release(id, "the work failed");
    await usdc.carryOut(payment);
    expect(await afterDeadline(id)).toBe("settled");
  });

  it("before any transaction carried it out: a released authorization is dropped once it has expired", async () => {
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 7);
    const { id } = await reserved(await usdc.sign({ validBefore }));
    await store().release(id, "the work failed");
    await usdc.chain.moveTime(60);
    await usdc.chain.mine(40, 1);
    expect(await afterDeadline(id)).toBeNull();
  });
});

describe("a payment that cannot be looked at", () => {
  it("is postponed, and does not keep the others waiting", async () => {
    const bad = await reserved();
    const good = await reserved();
    await store().askSettlement(bad.id, CENT);
    offsetMs += 200_000;
    const chain: PaymentChain = {
      ...usdc.paymentChain,
      isUsed: async (authorization, block) => {
        if (authorization.nonce === bad.payment.nonce) throw new Error("query exceeds the range");
        return usdc.paymentChain.isUsed(authorization, block);
      },
    };
    const tally = await reconcilePayments({ ...deps(), chain });
    expect(tally.failed).toBe(1);
    expect([await stateOf(good.id), await stateOf(bad.id)]).toEqual(["released", "reserved"]);
    expect((await reconcilePayments({ ...deps(), chain })).failed).toBe(0);
  });
});

describe("a settlement that was seen in a block", () => {
  it("is confirmed once that block is final", async () => {
    const { payment, id } = await answered();
    await usdc.chain.mine(40, 1);
    offsetMs += 61_000;
    expect(await reconcilePayments(deps())).toMatchObject({ confirmed: 1, lost: 0 });
    expect(await stateOf(id)).toBe("answered");
    expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
  });

  it("is lost where a reorg took it away and the payer withdrew", async () => {
    const before = await usdc.client.request({ method: "evm_snapshot" } as never);
    const { payment, id } = await answered();
    await usdc.client.request({ method: "evm_revert", params: [before] } as never);
    await usdc.cancel(payment);
    await usdc.chain.mine(40, 1);
    offsetMs += 61_000;
    expect(await reconcilePayments(deps())).toMatchObject({ confirmed: 0, lost: 0 });
    offsetMs += 301_000;
    expect(await reconcilePayments(deps())).toMatchObject({ lost: 1 });
    expect(await stateOf(id)).toBe("lost");
  });

  it("is not lost where a node misses its receipt and its logs once, however often that is", async () => {
    const { payment, id } = await answered();
    await usdc.chain.mine(40, 1);
    const missing: PaymentChain = {
      ...usdc.paymentChain,
      minedIn: async () => null,
      findTransfer: async () => null,
      isUsed: async () => true,
    };
    const lagging: PaymentChain = { ...missing, findTransfer: usdc.paymentChain.findTransfer };
    for (const chain of [missing, lagging, missing]) {
      offsetMs += 301_000;
      expect(await reconcilePayments({ ...deps(), chain })).toMatchObject({ confirmed: 0, lost: 0 });
    }
    offsetMs += 301_000;
    expect(await reconcilePayments(deps())).toMatchObject({ lost: 0 });
    expect(await stateOf(id)).toBe("answered");
    expect(await usdc.paymentChain.isUsed(payment)).toBe(true);
  });
});

/** A payment that was carried out on the chain and answered by the server. */
async function answered() {
  const { payment, id } = await reserved();
  await store().askSettlement(id, CENT);
  await store().settle(id, await usdc.carryOut(payment));
  await store().answer(id, { contentType: "text/plain", body: "here" });
  return { payment, id };
}

/** The state of a row once its deadline has passed and it was compared with the chain; null when it is gone. */
async function afterDeadline(id: string): Promise<string | null> {
  offsetMs += 200_000;
  await reconcilePayments(deps());
  return stateOf(id);
}

async function stateOf(id: string): Promise<string | null> {
  const { rows } = await usdc.db.$client.query<{ state: string }>(
    "select state from ahs.payment where id = $1",
    [id],
  );
  return rows[0]?.state ?? null;
}

function deps(): ReconciliationDeps {
  return {
    db: usdc.db,
    chainId: 31_337,
    schemes: SCHEMES,
    chain: usdc.paymentChain,
    ownSender: true,
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
    now,
  };
}

async function reserved(payment?: PresentedPayment) {
  const presented = payment ?? (await usdc.sign());
  const id = await store().reserve(aReservation({ payment: presented }));
  if (id === null) throw new Error("not reserved");
  return { payment: presented, id };
}

function store() {
  return createPaymentStore({ db: usdc.db, chainId: 31_337, now, randomUuid: randomUUID });
}
