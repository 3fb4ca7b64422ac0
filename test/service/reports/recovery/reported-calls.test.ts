import { type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { createOutcomeReader } from "../../../../service/reports/recovery/failed-calls.ts";
import { account, DAY, START } from "../../model/features/histories.ts";
import { AGENT, SCHEMA, useRowsWorld } from "../../scores/read/rows-world.ts";

const TARGET = account(0xd1);
const FRIEND = account(0xf1);
const HEAD = 400;
const world = useRowsWorld();

type Told = {
  readonly block: number;
  readonly ok: boolean;
  readonly selector?: Hex;
  readonly recipient?: string;
  readonly source?: string;
};

let told = 0;

/** Puts a transaction into the told history; answers its hash. */
async function tell({ block, ok, selector = "0xaabbccdd", recipient, source = "explorer" }: Told) {
  told += 1;
  const hash = numberToHex(0xf000 + told, { size: 32 });
  await world.client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp,
       "to", selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, recipient)
     values (31337, $1, $2, 1, 0, $3, 'transaction', $4, $5, $6, $7, 3, $8, 90000, 24000, 1000000000, 0, $9)`,
    [AGENT, block, hash, source, START + block * DAY, TARGET, selector, ok, recipient ?? null],
  );
  return hash;
}

/** Puts a transaction of the calldata 0xaabbccdd01 into the index. */
async function send(block: number, ok: boolean, hash = numberToHex(0xa000 + block, { size: 32 })) {
  await world.client.query(
    `insert into ${SCHEMA}.transaction values
     ($1, $2, 0, $3, $4, $5, 1, 3, '0xaabbccdd01', '0xaabbccdd', 90000, 24000, 1000000000, 7, $6, null, true)`,
    [hash, block, START + block * DAY, AGENT, TARGET, ok],
  );
  return hash;
}

/** The index follows the wallet from a block on, and the source told up to another. */
async function follow(fromBlock: number, toldTo: number) {
  await world.client.query(
    `insert into ${SCHEMA}.wallet values ($1, 'requested', $2, 0, 0, null, null, null, 1)`,
    [AGENT, fromBlock],
  );
  await world.client.query(
    `insert into ahs.kept_history (chain_id, wallet, source, from_block, from_timestamp, to_block, to_hash, complete)
     values (31337, $1, 'explorer', 0, 0, $2, '0x01', true)`,
    [AGENT, toldTo],
  );
}

async function read() {
  const outcomes = createOutcomeReader(world.db, 31_337);
  const found = await outcomes({ wallet: AGENT, listedDays: 30, recentDays: 14, knownSelectors: [] });
  if (found === null) throw new Error("the index holds blocks");
  return found;
}

describe("what a history source reported the time before the index followed a wallet", () => {
  it("is failures of the listed days that the index lacks, newest first", async () => {
    await follow(HEAD, HEAD - 1);
    const old = await tell({ block: HEAD - 29, ok: false });
    const newer = await tell({ block: HEAD - 3, ok: false });
    await tell({ block: HEAD - 31, ok: false });
    await tell({ block: HEAD - 2, ok: false, source: "enrich" });
    await send(HEAD - 1, false, await tell({ block: HEAD - 1, ok: false }));
    const { reported, failures } = await read();
    expect(reported.failures.map(({ hash }) => hash)).toEqual([newer, old]);
    expect(reported.failures[0]).toEqual({
      hash: newer,
      block: HEAD - 3,
      transactionIndex: 1,
      timestamp: START + (HEAD - 3) * DAY,
      to: TARGET,
      value: 3n,
      selector: "0xaabbccdd",
      gasLimit: 90_000n,
      gasUsed: 24_000n,
      gasPrice: 1_000_000_000n,
      l1Fee: 0n,
    });
    expect([reported.failuresFound, failures.length]).toEqual([2, 1]);
  });

  it("is the newest recent success of each method, account and recipient", async () => {
    await tell({ block: HEAD - 9, ok: true });
    const newest = await tell({ block: HEAD - 8, ok: true });
    const paid = await tell({ block: HEAD - 7, ok: true, selector: "0xa9059cbb", recipient: FRIEND });
    const other = await tell({ block: HEAD - 6, ok: true, selector: "0xa9059cbb", recipient: TARGET });
    await tell({ block: HEAD - 20, ok: true, selector: "0x12345678" });
    const { successes, completeFrom } = (await read()).reported;
    expect(successes.map(({ hash, recipient }) => [hash, recipient])).toEqual([
      [other, TARGET],
      [paid, FRIEND],
      [newest, null],
    ]);
    expect(completeFrom).toBeNull();
  });

  it.each<[string, number, boolean]>([
    ["meets the index where it ends one block before", 299, true],
    ["leaves a gap where it ends earlier", 298, false],
  ])("%s", async (_name, toldTo, meets) => {
    await follow(300, toldTo);
    expect((await read()).reported.meetsIndex).toBe(meets);
  });

  it("makes the index's later successes of its failed methods count, though nothing failed in the index", async () => {
    await tell({ block: HEAD - 5, ok: false });
    const later = await send(HEAD - 1, true);
    await send(HEAD - 6, true);
    expect((await read()).successes.map(({ hash }) => hash)).toEqual([later]);
  });
});
