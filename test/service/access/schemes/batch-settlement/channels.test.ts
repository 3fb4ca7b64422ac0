import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import type { Address, Hex } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import type { PresentedPayment } from "../../../../../service/access/access.ts";
import { createPaymentMetrics } from "../../../../../service/access/payments/metrics.ts";
import { createPaymentStore } from "../../../../../service/access/payments/payments.ts";
import { reconcilePayments } from "../../../../../service/access/payments/run-reconciliation.ts";
import type { SeenChannel } from "../../../../../service/access/schemes/batch-settlement/channel-contract.ts";
import {
  createChannelStore,
  MOST_CHANNELS,
} from "../../../../../service/access/schemes/batch-settlement/channels.ts";
import { SCHEMES } from "../../../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../../../support/a-reservation.ts";
import { useDatabase } from "../../../../support/test-database.ts";

const CHAIN_ID = 31_337;
const PAYER: Address = "0x00000000000000000000000000000000000000aa";
const CHANNEL: Hex = `0x${"c4".repeat(32)}`;
const MINUTE_MS = 60_000;
const EMPTY: SeenChannel = {
  balance: 100_000n,
  collected: 0n,
  withdrawing: 0n,
  withdrawAskedAt: null,
  seenBlock: 10,
};

const db = useDatabase();
let now = new Date("2026-11-20T10:00:00Z");
let seen = EMPTY;
let reads = 0;
const channels = createChannelStore({
  db,
  chainId: CHAIN_ID,
  readSeen: async () => {
    reads += 1;
    return seen;
  },
  now: () => now,
});
const payments = createPaymentStore({ db, chainId: CHAIN_ID, now: () => now, randomUuid: randomUUID });

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment, ahs.payment_channel");
  [now, seen, reads] = [new Date("2026-11-20T10:00:00Z"), EMPTY, 0];
});

describe("a channel is charged", () => {
  it("once, where many vouchers over the same sum are charged at once", async () => {
    await pay(10_000n, 10_000n);
    const prices = Array.from({ length: 8 }, (_, index) => BigInt(index + 1) * 1_000n);
    const outcomes = await Promise.all(prices.map((price) => pay(10_000n + price, price)));
    expect(outcomes.toSorted()).toEqual(["charged", ...prices.slice(1).map(() => "mismatch")]);
    const { rows } = await db.$client.query<{ charged: string; paid: string; settled: string }>(
      `select charged::text, (select sum(charged_amount)::text from ahs.payment where state = 'settled') as paid,
         (select count(*)::text from ahs.payment where state = 'settled') as settled from ahs.payment_channel`,
    );
    expect(rows).toEqual([{ charged: rows[0]?.paid, paid: rows[0]?.charged, settled: "2" }]);
  });

  it.each<[string, bigint, Partial<SeenChannel>, string]>([
    ["up to its money", 100_000n, {}, "charged"],
    ["not beyond it", 100_001n, {}, "short"],
    ["up to what is left by a withdrawal", 40_000n, { withdrawing: 60_000n, withdrawAskedAt: 1 }, "charged"],
    ["not beyond that", 40_001n, { withdrawing: 60_000n, withdrawAskedAt: 1 }, "short"],
    ["over what was claimed before its first row", 70_000n, { collected: 60_000n }, "charged"],
    ["not over less", 70_000n, { collected: 50_000n }, "mismatch"],
  ])("%s", async (_name, amount, changes, outcome) => {
    seen = { ...EMPTY, ...changes };
    const price = amount - (changes.collected === 50_000n ? 60_000n : seen.collected);
    expect(await pay(amount, price)).toBe(outcome);
  });

  it("not for a request that has lost its payment, and its reserved row goes with the next reconciliation", async () => {
    const { id, payment } = await reserve(10_000n, 10_000n);
    now = new Date(now.getTime() + 3 * MINUTE_MS);
    expect(await charge(id, payment)).toBe("gone");
    await reconcile();
    expect(await payments.find(payment)).toBeNull();
    expect((await channels.read(CHANNEL)).isStored).toBe(false);
  });

  it("by what was seen of it within a minute, then by the chain", async () => {
    await pay(10_000n, 10_000n);
    reads = 0;
    now = new Date(now.getTime() + 0.9 * MINUTE_MS);
    expect([await pay(20_000n, 10_000n), reads]).toEqual(["charged", 0]);
    now = new Date(now.getTime() + 0.2 * MINUTE_MS);
    seen = { ...EMPTY, withdrawing: 90_000n, withdrawAskedAt: 1, seenBlock: 11 };
    expect([await pay(30_000n, 10_000n), reads]).toEqual(["short", 1]);
    const { rows } = await db.$client.query<{ due: boolean }>(
      "select look_at <= $1 as due from ahs.payment_channel",
      [now],
    );
    expect(rows).toEqual([{ due: true }]);
  });

  it("never by an older block than was seen, and after a restore from what the chain shows as claimed", async () => {
    await pay(10_000n, 10_000n);
    seen = { ...EMPTY, balance: 1n, seenBlock: 9 };
    expect(await channels.read(CHANNEL, { fresh: true })).toMatchObject({
      balance: 100_000n,
      charged: 10_000n,
    });
    seen = { ...EMPTY, collected: 30_000n, seenBlock: 11 };
    expect(await channels.read(CHANNEL, { fresh: true })).toMatchObject({
      charged: 30_000n,
      signature: null,
    });
    expect(await pay(40_000n, 10_000n)).toBe("charged");
  });

  it("of at most fifty of a payer", async () => {
    for (let number = 1; number < MOST_CHANNELS; number += 1) await pay(1_000n, 1_000n, idOf(number));
    expect(await channels.isFull(PAYER)).toBe(false);
    await pay(1_000n, 1_000n);
    expect(await channels.isFull(PAYER)).toBe(true);
  });
});

const idOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;

async function pay(amount: bigint, price: bigint, channelId = CHANNEL) {
  const { id, payment } = await reserve(amount, price, channelId);
  return charge(id, payment, channelId);
}

async function charge(id: string, payment: PresentedPayment, channelId = CHANNEL) {
  const channel = await channels.read(channelId);
  return channels.charge(id, payment, { channel, transaction: null });
}

async function reserve(amount: bigint, price: bigint, channelId = CHANNEL) {
  const reservation = aReservation();
  const account = reservation.payment.payTo;
  const payment: PresentedPayment = {
    ...reservation.payment,
    scheme: "batch-settlement",
    payer: PAYER,
    nonce: `0x${(amount + BigInt(channelId) * 2n ** 32n).toString(16).slice(-64).padStart(64, "0")}`,
    amount: price,
    payload: {
      ...reservation.payment.payload,
      payload: {
        type: "voucher",
        channelConfig: {
          ...{ payer: PAYER, payerAuthorizer: PAYER, receiver: account, receiverAuthorizer: account },
          ...{ token: reservation.payment.asset, withdrawDelay: 86_400, salt: idOf(1) },
        },
        voucher: { channelId, maxClaimableAmount: String(amount), signature: `0x${"5e".repeat(65)}` },
      },
    },
  };
  const id = await payments.reserve({ ...reservation, payment });
  if (id === null) throw new Error("it is reserved already");
  return { id, payment };
}

async function reconcile(): Promise<void> {
  const unasked = () => Promise.reject(new Error("vouchers are not looked for on the chain"));
  await reconcilePayments({
    ...{ db, chainId: CHAIN_ID, ownSender: true, now: () => now },
    schemes: SCHEMES,
    chain: {
      ...{ isUsed: unasked, fundsOf: unasked, findTransfer: unasked, minedIn: unasked },
      finalBlock: async () => ({ number: 1n, timestamp: 0n }),
    },
    metrics: createPaymentMetrics(new Registry()),
    logger: pino({ level: "silent" }),
  });
}
