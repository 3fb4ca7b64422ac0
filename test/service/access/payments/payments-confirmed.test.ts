import { randomBytes, randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { creditPayer } from "../../../../service/access/api-keys.sql.ts";
import { buyApiKey, readApiKey, topUpApiKey } from "../../../../service/access/api-keys.ts";
import { createPaymentStore, type PaymentStore } from "../../../../service/access/payments/payments.ts";
import {
  confirm,
  listPayments,
  losePayment,
  readUnconfirmed,
} from "../../../../service/access/payments/payments-due.ts";
import { aReservation } from "../../../support/a-reservation.ts";
import { useDatabase } from "../../../support/test-database.ts";

const HASH = `0x${"ab".repeat(32)}` as const;
const NOW = new Date("2026-11-20T10:00:00Z");
const LATER = new Date(NOW.getTime() + 60_000);
const PAYER = "0x00000000000000000000000000000000000000aa";

const db = useDatabase();
let store: PaymentStore;
beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  store = createPaymentStore({ db, chainId: 31_337, now: () => NOW, randomUuid: randomUUID });
});

async function settled(): Promise<string> {
  const id = await store.reserve(aReservation());
  if (id === null) throw new Error("not reserved");
  await store.settle(id, HASH);
  return id;
}

const unconfirmed = (now: Date) => readUnconfirmed(db, { chainId: 31_337, now, limit: 10 });

function buy(creditId: string) {
  const purchase = {
    creditId,
    name: "x",
    boughtBy: PAYER,
    units: 5_000,
    ratePerMinute: 600,
    now: NOW,
  } as const;
  return buyApiKey(db, purchase, { randomBytes });
}

describe("a payment whose money moved", () => {
  it("is to be confirmed a minute later, once, whether or not it is answered", async () => {
    const id = await settled();
    expect(await unconfirmed(NOW)).toEqual([]);
    await store.answer(id, { contentType: "text/plain", body: "x" });
    expect((await unconfirmed(LATER)).map((row) => row.id)).toEqual([id]);
    await confirm(db, id);
    expect(await unconfirmed(LATER)).toEqual([]);
  });

  it("is listed as lost, once, and no longer owed", async () => {
    const id = await settled();
    const lost = { error: "gone", creditId: randomUUID(), now: LATER };
    expect(await losePayment(db, id, lost)).toBe(true);
    expect(await losePayment(db, id, lost)).toBe(false);
    const listed = await listPayments(db, { kind: "lost", now: LATER, limit: 10 });
    expect(listed.map((row) => [row.id, row.error])).toEqual([[id, "gone"]]);
    expect([await store.findBought(PAYER, "f"), await store.reopen(id, null)]).toEqual([null, false]);
  });

  it("and is lost takes the key with it that it bought", async () => {
    const creditId = randomUUID();
    const { key } = await buy(creditId);
    await losePayment(db, await settled(), { error: "gone", creditId, now: LATER });
    expect((await readApiKey(db, key.id))?.revokedAt).toEqual(LATER);
  });

  it("and is lost takes its returned price with it", async () => {
    const paymentId = await settled();
    await db.transaction((tx) => creditPayer(tx, { paymentId, units: 500, now: NOW }));
    expect(await readApiKey(db, paymentId)).toMatchObject({ balanceUnits: 500, revokedAt: null });
    await losePayment(db, paymentId, { error: "gone", creditId: randomUUID(), now: LATER });
    expect((await readApiKey(db, paymentId))?.revokedAt).toEqual(LATER);
  });

  it("and is lost takes its credits off the key that it topped up, and no more than are left", async () => {
    const { key } = await buy(randomUUID());
    const creditId = randomUUID();
    await topUpApiKey(db, { creditId, keyId: key.id, units: 2_000, now: NOW });
    const lost = { error: "gone", creditId, now: LATER };
    await losePayment(db, await settled(), lost);
    expect(await readApiKey(db, key.id)).toMatchObject({ balanceUnits: 5_000, revokedAt: null });
    await db.$client.query("update ahs.api_key set balance_units = 1_500 where id = $1", [key.id]);
    await db.$client.query("truncate ahs.payment");
    await losePayment(db, await settled(), lost);
    expect((await readApiKey(db, key.id))?.balanceUnits).toBe(0);
  });
});
