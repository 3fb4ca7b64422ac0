import { createPublicClient, custom, numberToHex } from "viem";
import { expect, it } from "vitest";
import { readNewestBlock } from "../../../../service/verification/escrow/escrow-node.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN_ID = 31_337;
const db = useDatabase();

/** A node whose newest block that is. */
function nodeAt(number: number) {
  const block = {
    number: numberToHex(number),
    hash: `0x${"11".repeat(32)}`,
    timestamp: "0x1",
    transactions: [],
  };
  return createPublicClient({ transport: custom({ request: async () => block }) });
}

const newest = (number: number) => readNewestBlock({ db, client: nodeAt(number) }, CHAIN_ID);

it("a node that lags behind the index does not make a registration older than it is", async () => {
  expect(await newest(90)).toBe(90n);
  await db.$client.query(`
    create schema "chain_${CHAIN_ID}";
    create table "chain_${CHAIN_ID}".block (number numeric(78) primary key, "timestamp" numeric(78) not null);
    create table "chain_${CHAIN_ID}".job ();
    create table "chain_${CHAIN_ID}".verdict_event ();
    insert into "chain_${CHAIN_ID}".block values (99, 1), (100, 2)`);
  expect(await newest(90)).toBe(100n);
  expect(await newest(101)).toBe(101n);
});
