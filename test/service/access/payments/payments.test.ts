import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { createPaymentStore, type PaymentStore } from "../../../../service/access/payments/payments.ts";
import {
  countPayments,
  dropDue,
  dropOldAnswers,
  postponeDue,
  readDuePayments,
  releaseDue,
  settleDue,
} from "../../../../service/access/payments/payments-due.ts";
import { aReservation } from "../../../support/a-reservation.ts";
import { useDatabase } from "../../../support/test-database.ts";

const HASH = `0x${"ab".repeat(32)}` as const;
const START = new Date("2026-11-20T10:00:00Z");
const KEY = aReservation().payment;

const db = useDatabase();
let store: PaymentStore;
let now = START;
const pass = (ms: number) => {
  now = new Date(now.getTime() + ms);
};

beforeEach(async () => {
  now = START;
  await db.$client.query("truncate ahs.payment");
  store = createPaymentStore({ db, chainId: 31_337, now: () => now, randomUuid: randomUUID });
});

async function reserve(): Promise<string> {
  const id = await store.reserve(aReservation());
  if (id === null) throw new Error("not reserved");
  return id;
}

async function state(): Promise<string | undefined> {
  return (await store.find(KEY))?.state;
}

describe("an authorization", () => {
  it("is held by one of fifty that want it at once", async () => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => store.reserve(aReservation())));
    expect(ids.filter((id) => id !== null)).toHaveLength(1);
  });

  it("can be held again once it was released, and the earlier request has lost it", async () => {
    const first = await reserve();
    await store.release(first, "the work failed");
    const second = await reserve();
    expect(second).not.toBe(first);
    expect(await store.askSettlement(first, 10_000n)).toBeNull();
    expect(await store.settle(first, HASH)).toBe(false);
    await store.release(first, "late");
    expect(await state()).toBe("reserved");
    expect(await store.askSettlement(second, 10_000n)).toBe(10_000n);
  });

  it("is settled once, and answered once", async () => {
    const id = await reserve();
    const settled = await Promise.all([1, 2, 3].map(() => store.settle(id, HASH)));
    expect(settled.filter(Boolean)).toHaveLength(1);
    await store.release(id, "too late");
    expect(await state()).toBe("settled");
    const answered = await Promise.all(
      ["a", "b"].map((body) => store.answer(id, { contentType: "text/plain", body })),
    );
    expect(answered.filter(Boolean)).toHaveLength(1);
    expect(await store.reserve(aReservation())).toBeNull();
  });

  it("cannot be settled by a request that took longer than any may", async () => {
    const id = await reserve();
    pass(120_001);
    expect(await store.askSettlement(id, 10_000n)).toBeNull();
  });

  it("is found by its claim and by what its payer asked for, unless it is free", async () => {
    const id = await reserve();
    const { payer } = KEY;
    expect((await store.findByClaim("c"))?.id).toBe(id);
    expect((await store.findBought(payer, "f"))?.id).toBe(id);
    expect(await store.findByClaim("d")).toBeNull();
    await store.release(id, "the work failed");
    expect([await store.findByClaim("c"), await store.findBought(payer, "f")]).toEqual([null, null]);
  });

  it("whose settlement was asked for goes to the same request alone, and its first proofs stay", async () => {
    const first = await store.reserve(aReservation({ idempotencyKeyHash: "k", paymentIdentifierHash: null }));
    if (first === null) throw new Error("not reserved");
    await store.askSettlement(first, 10_000n);
    await store.release(first, "refused");
    expect(await store.reserve(aReservation({ fingerprint: "g" }))).toBeNull();
    const repeat = { idempotencyKeyHash: "l", paymentIdentifierHash: "p", claimHash: "d" };
    expect(await store.reserve(aReservation(repeat))).not.toBeNull();
    expect(await store.find(KEY)).toMatchObject({
      state: "reserved",
      claimHash: "d",
      idempotencyKeyHash: "k",
      paymentIdentifierHash: "p",
      settleAskedAt: START,
    });
  });

  it("whose settlement was never asked for goes to any request, with its proofs", async () => {
    const first = await store.reserve(aReservation({ idempotencyKeyHash: "k" }));
    if (first === null) throw new Error("not reserved");
    await store.release(first, "the work failed");
    expect(await store.reserve(aReservation({ fingerprint: "g", idempotencyKeyHash: null }))).not.toBeNull();
    expect(await store.find(KEY)).toMatchObject({ fingerprint: "g", idempotencyKeyHash: null });
  });

  it("that was answered more than a day ago is bought no more, so that its request can be paid again", async () => {
    const id = await store.reserve(aReservation({ idempotencyKeyHash: "k" }));
    if (id === null) throw new Error("not reserved");
    await store.settle(id, HASH);
    await store.answer(id, { contentType: "text/plain", body: "here" });
    const found = async () => [
      (await store.findRepeated(KEY.payer, "f", "k"))?.id,
      (await store.findBought(KEY.payer, "f"))?.id,
    ];
    expect(await found()).toEqual([id, id]);
    pass(24 * 3_600_000);
    expect(await found()).toEqual([undefined, undefined]);
  });
});

describe("owed work", () => {
  it("is taken up by one of many, after the request before has ended", async () => {
    const id = await reserve();
    await store.settle(id, HASH);
    expect(await store.reopen(id, null)).toBe(false);
    await store.lapse(id);
    const reopened = await Promise.all([1, 2, 3].map(() => store.reopen(id, null)));
    expect(reopened.filter(Boolean)).toHaveLength(1);
  });
});

describe("reconciliation", () => {
  const due = () => readDuePayments(db, { chainId: 31_337, now, limit: 10 });

  it("sees payments past their deadline, and none that a request works on", async () => {
    await reserve();
    expect(await due()).toEqual([]);
    pass(120_001);
    expect(await due()).toHaveLength(1);
  });

  it("changes nothing that has changed since it looked", async () => {
    const id = await reserve();
    pass(120_001);
    const [row] = await due();
    if (row === undefined) throw new Error("nothing due");
    await store.settle(id, HASH);
    expect([
      await settleDue(db, row, { transaction: HASH, now }),
      await releaseDue(db, row, { error: "x", until: now, now }),
      await postponeDue(db, row, { until: now, now }),
      await dropDue(db, row),
    ]).toEqual([false, false, false, false]);
    expect(await state()).toBe("settled");
  });

  it("makes what it finds settled owed at once", async () => {
    const id = await reserve();
    pass(120_001);
    const [row] = await due();
    if (row === undefined) throw new Error("nothing due");
    expect(await settleDue(db, row, { transaction: HASH, now })).toBe(true);
    expect(await countPayments(db, 31_337, now)).toEqual({
      reserved: 0,
      stuck: 0,
      escrowed: 0,
      settled: 0,
      owed: 1,
      lost: 0,
      unclaimed: 0,
    });
    expect(await store.reopen(id, null)).toBe(true);
  });

  it("counts as stuck what no request can still be working on, however often it was looked at", async () => {
    await reserve();
    const counted = async () => {
      const { reserved, stuck } = await countPayments(db, 31_337, now);
      return [reserved, stuck];
    };
    pass(299_999);
    expect(await counted()).toEqual([1, 0]);
    const [row] = await due();
    if (row === undefined) throw new Error("nothing due");
    pass(1);
    await postponeDue(db, row, { until: new Date(now.getTime() + 300_000), now });
    expect(await counted()).toEqual([0, 1]);
  });
});

describe("an answer", () => {
  it("is stored for a day, the payment for good", async () => {
    const id = await reserve();
    await store.settle(id, HASH);
    await store.answer(id, { contentType: "text/plain", body: "here" });
    pass(24 * 3_600_000 - 1);
    expect(await dropOldAnswers(db, now)).toBe(0);
    expect((await store.find(KEY))?.answerBody?.toString()).toBe("here");
    pass(1);
    expect(await dropOldAnswers(db, now)).toBe(1);
    expect(await store.find(KEY)).toMatchObject({ state: "answered", answerBody: null, answerType: null });
  });
});

describe("statements about payments", () => {
  it.each([
    ["by claim", "select * from ahs.payment where claim_hash = 'c'", "payment_claim"],
    [
      "for old answers",
      "update ahs.payment set answer_body = null where answer_body is not null and answered_at <= now()",
      "payment_answer",
    ],
    ["for what is to be confirmed", "select * from ahs.payment where confirm_at <= now()", "payment_confirm"],
  ])("%s need not read them all", async (_name, statement, index) => {
    const client = await db.$client.connect();
    try {
      await client.query("set enable_seqscan = off");
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${statement}`);
      expect(rows.map((row) => row["QUERY PLAN"]).join(" ")).toContain(index);
    } finally {
      client.release(true);
    }
  });

  it("are given up where the database does not answer", async () => {
    const client = await db.$client.connect();
    try {
      await client.query("begin");
      await client.query("lock table ahs.payment in access exclusive mode");
      await expect(store.find(KEY)).rejects.toThrow();
    } finally {
      client.release(true);
    }
  });
});
