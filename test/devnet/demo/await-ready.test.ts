import type { Address } from "viem";
import { expect, it } from "vitest";
import { awaitPublished } from "../../../devnet/demo/await-ready.ts";
import type { Rising } from "../../../devnet/demo/start-chain.ts";
import { insertCurrentScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN = 31_337;
const FOLLOWED: Address = `0x${"aa".repeat(20)}`;
const LATER: Address = `0x${"bb".repeat(20)}`;
const db = useDatabase();

it("a start shows how far enriching is until the first score", async () => {
  const stop = new AbortController();
  await db.$client.query(`
    create schema chain_${CHAIN};
    create table chain_${CHAIN}.wallet (address text, followed_block numeric);
    create table chain_${CHAIN}.block (number numeric, hash text, timestamp numeric);
    create table chain_${CHAIN}._ponder_checkpoint (finalized_checkpoint text);
    insert into chain_${CHAIN}.wallet values ('${FOLLOWED}', 10);
    insert into chain_${CHAIN}.block values (70, '0x70', 1000);
    insert into chain_${CHAIN}._ponder_checkpoint values (repeat('0', 26) || lpad('70', 16, '0'));
    insert into ahs.enrich_cursor (chain_id, block, block_hash) values (${CHAIN}, 7, '0x${"07".repeat(32)}')`);
  const shown: string[] = [];
  const progress: Rising["progress"] = {
    show: (stage, done, total) => {
      shown.push(`${stage} ${done}/${total}`);
      if (stage === "score") stop.abort();
      else void db.$client.query("update ahs.enrich_cursor set block = 70");
    },
    end: () => undefined,
  };
  const waiting = awaitPublished({ progress, signal: stop.signal } as Rising, {
    db,
    chainId: CHAIN,
    head: 11n,
  });
  await expect(waiting).rejects.toThrow();
  expect([shown[0], shown.at(-1)]).toEqual(["enrich 7/70", "score 0/1"]);
  await db.$client.query(`drop schema chain_${CHAIN} cascade`);
});

it("a start is ready before a wallet is scored that was asked for meanwhile, and not before the others are published", async () => {
  await db.$client.query(`
    create schema chain_${CHAIN};
    create table chain_${CHAIN}.wallet (address text, followed_block numeric);
    create table chain_${CHAIN}.oracle_score (wallet text);
    insert into chain_${CHAIN}.wallet values ('${FOLLOWED}', 10), ('${LATER}', 12)`);
  await insertCurrentScore(db, { wallet: FOLLOWED });
  const stop = new AbortController();
  const shown: string[] = [];
  const progress: Rising["progress"] = {
    show: (stage, done, total) => {
      shown.push(`${stage} ${done}/${total}`);
      void db.$client.query(`insert into chain_${CHAIN}.oracle_score values ('${FOLLOWED}')`);
    },
    end: () => undefined,
  };
  const rising = { progress, signal: stop.signal } as Rising;
  await awaitPublished(rising, { db, chainId: CHAIN, head: 11n });
  expect([shown[0], shown.at(-1)]).toEqual(["publish 0/1", "publish 1/1"]);
});
