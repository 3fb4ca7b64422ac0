import { expect, test } from "vitest";
import {
  type AuthorizationId,
  enqueueSettlement,
  findSettlement,
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
