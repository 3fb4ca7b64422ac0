import { expect, test } from "vitest";
import {
  type AuthorizationId,
  enqueueSettlement,
  findSettlement,
  readRevertedGas,
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

test("a payer's reverted settlements count against its further ones, and not against what collects or returns its money", async () => {
  const key = { chainId: CHAIN_ID, sender: KEYS[0] };
  const order = { authorization: authorizationOf("2"), to: TOKEN, data: "0x" } as const;
  const reverted = await enqueueSettlement(db, key, order);
  await db.$client.query(
    "update ahs.sender_transaction set state = 'reverted', gas_used = 2000000 where id = $1",
    [reverted],
  );
  const steps = [undefined, "end", "collect", "settle"] as const;
  const gas = await Promise.all(
    steps.map(async (step) => {
      const authorization = { ...authorizationOf("3"), ...(step === undefined ? {} : { step }) };
      const id = await enqueueSettlement(db, key, { ...order, authorization });
      const { rows } = await db.$client.query("select reference from ahs.sender_transaction where id = $1", [
        id,
      ]);
      const [{ reference }] = rows;
      return readRevertedGas(db, { ...key, purpose: "x402", reference, now: new Date() });
    }),
  );
  expect(gas).toEqual([2_000_000n, 0n, 0n, 0n]);
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
