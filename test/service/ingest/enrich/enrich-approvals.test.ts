import type { Address } from "viem";
import { beforeEach, expect, test } from "vitest";
import { readSnapshot } from "../../../../service/db/index-snapshot.ts";
import type { enrichApproval } from "../../../../service/db/tables/enrich.ts";
import {
  MAX_APPROVALS,
  readLiveApprovals,
  storeApprovals,
} from "../../../../service/ingest/enrich/enrich-approvals.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN = 31_337;
const VICTIM: Address = `0x${"00".repeat(19)}01`;
const NEIGHBOUR: Address = `0x${"b2".repeat(20)}`;
const SPENDER: Address = `0x${"5e".repeat(20)}`;
const account = (prefix: string, number: number): Address =>
  `0x${prefix}${number.toString(16).padStart(40 - prefix.length, "0")}`;

type Row = typeof enrichApproval.$inferInsert;

const db = useDatabase();

beforeEach(async () => {
  await db.execute("truncate ahs.enrich_approval, ahs.enrich_wallet");
  await db.execute(`insert into ahs.enrich_wallet values (${CHAIN}, '${VICTIM}', 0, null, null)`);
});

function approval(block: number, parts: Partial<Row> = {}): Row {
  const spender = parts.spender ?? SPENDER;
  return {
    ...{ chainId: CHAIN, owner: VICTIM, token: account("7", 1), kind: "amount", subject: spender, own: true },
    ...{
      block,
      logIndex: 0,
      transactionHash: "0x01",
      timestamp: block,
      spender,
      amount: 100n,
      approved: true,
    },
    ...parts,
  };
}

const store = (rows: readonly Row[], pastOf: readonly Address[] = []) =>
  db.transaction((tx) => storeApprovals(tx, CHAIN, { rows, pastOf }));
const live = (...wallets: readonly Address[]) =>
  readSnapshot(db, (client) => readLiveApprovals(client, { chainId: CHAIN, wallets }));
const stored = async () =>
  (await db.execute("select * from ahs.enrich_approval order by 1, 2, 3, 4, 5, 6")).rows;

test("300,000 forged approvals leave no row, and say nothing of those that the wallet gave", async () => {
  await store([approval(1), approval(2, { owner: NEIGHBOUR })]);
  const forged = Array.from({ length: 300_000 }, (_, index) =>
    approval(3, {
      own: false,
      logIndex: index,
      spender: account("f", index),
      token: account("7", index % 100),
    }),
  );
  const drawn = approval(3, { own: false, logIndex: 400_000, amount: 40n });
  expect(await store([...forged, drawn])).toEqual({ count: 1, leftOut: 0 });
  expect(await stored()).toHaveLength(3);
  expect(await live(VICTIM, NEIGHBOUR)).toMatchObject([
    { owner: VICTIM, amount: 40n, block: 1 },
    { owner: NEIGHBOUR, amount: 100n },
  ]);
});

test("of news of one approval the newest is stored, and none once the owner gave it anew", async () => {
  await store([approval(1)]);
  for (const block of [3, 2, 5, 4]) await store([approval(block, { own: false, amount: BigInt(block) })]);
  expect(await stored()).toHaveLength(2);
  expect(await live(VICTIM)).toMatchObject([{ amount: 5n }]);
  await store([approval(6)]);
  expect(await stored()).toHaveLength(1);
  expect(await live(VICTIM)).toMatchObject([{ amount: 100n, block: 6 }]);
});

test("a past that is read late gives the rows that reading on gives", async () => {
  const token = account("7", 9);
  const history = [
    approval(1),
    approval(2, { token }),
    approval(3, { own: false, amount: 40n }),
    approval(4, { token, own: false, approved: false, amount: 0n }),
    approval(5, { own: false, spender: account("f", 1) }),
    approval(6, { token }),
    approval(7, { own: false, amount: 30n }),
  ];
  for (const row of history) await store([row]);
  const whole = await stored();
  expect(whole).toHaveLength(3);

  await db.execute("truncate ahs.enrich_approval");
  await db.execute("update ahs.enrich_wallet set past_next = 1, past_until = 4");
  for (const row of history.slice(4)) await store([row]);
  await store(history.slice(0, 2), [VICTIM]);
  await db.execute("update ahs.enrich_wallet set past_next = null, past_until = null");
  await store(history.slice(2, 4), [VICTIM]);
  expect(await stored()).toEqual(whole);
});

test("a wallet keeps the approvals that it gave last, and none that others forge while its past is read beyond as many", async () => {
  const given = Array.from({ length: MAX_APPROVALS + 500 }, (_, index) =>
    approval(index + 1, { spender: account("5", index) }),
  );
  expect(await store(given)).toEqual({ count: given.length, leftOut: 500 });
  await db.execute("update ahs.enrich_wallet set past_next = 1, past_until = 4");
  const forged = Array.from({ length: 10_000 }, (_, index) =>
    approval(9_999, { own: false, logIndex: index, spender: account("f", index) }),
  );
  await store(forged);
  expect(await stored()).toHaveLength(2 * MAX_APPROVALS);
  expect(await live(VICTIM)).toHaveLength(MAX_APPROVALS);
  await db.execute("update ahs.enrich_wallet set past_next = null, past_until = null");
  await store([], [VICTIM]);
  expect(await stored()).toHaveLength(MAX_APPROVALS);
});
