import { expect, test } from "vitest";
import {
  type AuthorizationId,
  enqueueSettlement,
  findSettlement,
  payerOf,
  payerOfCall,
  readPayerGas,
} from "../../../service/sender/payments-sender.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN_ID = 31_337;
const TOKEN = `0x${"05".repeat(20)}` as const;
const KEYS = [`0x${"f0".repeat(20)}`, `0x${"f1".repeat(20)}`] as const;

const db = useDatabase();

const authorizationOf = (digit: string): AuthorizationId => ({
  scheme: "exact",
  asset: TOKEN,
  payer: `0x${"c1".repeat(20)}`,
  nonce: `0x${digit.repeat(64)}`,
});

test.each([
  ["the first", 0],
  ["the second", 1],
])(
  "of two keys' orders for one authorization, that of %s alone failed: the other one counts",
  async (_what, place) => {
    const authorization = authorizationOf(String(place));
    const order = { authorization, to: TOKEN, data: "0x" } as const;
    const ids: number[] = [];
    for (const sender of KEYS) ids.push(await enqueueSettlement(db, { chainId: CHAIN_ID, sender }, order));
    await db.$client.query("update ahs.sender_transaction set state = 'failed' where id = $1", [ids[place]]);
    expect(await findSettlement(db, CHAIN_ID, authorization)).toMatchObject({ state: "queued" });
  },
);

test("a payer's settlements are summed by their end, and not with what collects or returns its money, or with others'", async () => {
  const key = { chainId: CHAIN_ID, sender: KEYS[0] };
  const ended = async (nonce: string, state: string, step?: "end" | "collect") => {
    const authorization = { ...authorizationOf(nonce), ...(step === undefined ? {} : { step }) };
    const id = await enqueueSettlement(db, key, { authorization, to: TOKEN, data: "0x" });
    await db.$client.query(
      "update ahs.sender_transaction set state = $2, gas_used = 70000, gas_limit = 90000 where id = $1",
      [id, state],
    );
    return id;
  };
  const old = await ended("20", "mined");
  await db.$client.query(
    "update ahs.sender_transaction set broadcast_at = now() - interval '2 days' where id = $1",
    [old],
  );
  await ended("21", "reverted");
  await ended("22", "mined", "end");
  const { asset, payer } = authorizationOf("20");
  const of = { chainId: CHAIN_ID, payer: payerOf(CHAIN_ID, { asset, payer }), now: new Date() };
  const before = await readPayerGas(db, of);
  expect(before).toMatchObject({ paid: 70_000n, reverted: 70_000n });
  const stranger = payerOf(CHAIN_ID, { asset, payer: `0x${"77".repeat(20)}` });
  expect(await readPayerGas(db, { ...of, payer: stranger })).toEqual({ paid: 0n, reverted: 0n, today: 0n });
});

test.each([
  ["", true],
  ["/upto", true],
  ["/auth-capture", true],
  ["/auth-capture/end", false],
  ["/batch-settlement/collect", false],
  ["/batch-settlement/settle", false],
])("a reference that ends with %s takes a payer's money: %s", (suffix, takes) => {
  const reference = `x402:8453:0xaa:0xbb:0xcc${suffix}`;
  expect(payerOfCall({ purpose: "x402", reference })).toBe(takes ? "x402:8453:0xaa:0xbb:" : null);
});

const REVERTED =
  "update ahs.sender_transaction set state = 'reverted', final = $2, nonce = 4, hashes = '{0x01}', mined_hash = '0x01', mined_block = 9, gas_used = 50000 where id = $1";
const rowOf = async (id: number) => {
  const text = "select state, nonce, hashes, mined_hash, gas_used from ahs.sender_transaction where id = $1";
  return (await db.$client.query(text, [id])).rows[0];
};

test.each(["end", "settle"] as const)(
  "a later step (%s) that reverted in a final block is sent again, and one in a block that may go is not",
  async (step) => {
    const key = { chainId: CHAIN_ID, sender: KEYS[0] };
    const order = { authorization: { ...authorizationOf("4"), step }, to: TOKEN, data: "0x" } as const;
    const id = await enqueueSettlement(db, key, order);
    await db.$client.query(REVERTED, [id, false]);
    expect(await enqueueSettlement(db, key, order)).toBe(id);
    expect(await rowOf(id)).toMatchObject({ state: "reverted", nonce: "4" });
    await db.$client.query(REVERTED, [id, true]);
    expect(await enqueueSettlement(db, key, order)).toBe(id);
    const fresh = { state: "queued", nonce: null, hashes: [], mined_hash: null, gas_used: null };
    expect(await rowOf(id)).toEqual(fresh);
  },
);

test("a payer's settlement that reverted in a final block is not sent again", async () => {
  const key = { chainId: CHAIN_ID, sender: KEYS[0] };
  const order = { authorization: authorizationOf("5"), to: TOKEN, data: "0x" } as const;
  const id = await enqueueSettlement(db, key, order);
  await db.$client.query(REVERTED, [id, true]);
  await enqueueSettlement(db, key, order);
  expect(await rowOf(id)).toMatchObject({ state: "reverted", gas_used: "50000" });
});
