import { type Address, type Hex, numberToHex } from "viem";
import { describe, expect, it } from "vitest";
import { createOutcomeReader } from "../../../../service/reports/recovery/failed-calls.ts";
import { account, DAY, START } from "../../model/features/histories.ts";
import { enrichTo, followEnriched } from "../../model/features/index-tables.ts";
import { AGENT, OTHER, SCHEMA, useRowsWorld } from "../../scores/read/rows-world.ts";

const TARGET = account(0xd1);
const KNOWN: Hex = "0xa9059cbb";
const world = useRowsWorld();

type Sent = {
  readonly block: number;
  readonly ok: boolean;
  readonly input?: Hex;
  readonly from?: Address;
  readonly to?: Address | null;
  readonly own?: boolean;
  readonly place?: number;
  readonly hash?: Hex;
};

let nonce = 0;

/** Puts a transaction into the index; answers its hash. */
async function send({
  block,
  ok,
  input = "0xaabbccdd",
  from = AGENT,
  to = TARGET,
  own = true,
  place = 0,
  hash = numberToHex(nonce + 1, { size: 32 }),
}: Sent) {
  nonce += 1;
  const selector = input.length < 10 ? null : input.slice(0, 10);
  await world.client.query(
    `insert into ${SCHEMA}.transaction values
     ($1, $2, $3, $4, $5, $6, $7, 3, $8, $9, 90000, 24000, 1000000000, 7, $10, null, $11)`,
    [hash, block, place, START + block * DAY, from, to, nonce, input, selector, ok, own],
  );
  return hash;
}

async function read(listedDays = 30, recentDays = 14) {
  const outcomes = createOutcomeReader(world.db, 31_337);
  const found = await outcomes({ wallet: AGENT, listedDays, recentDays, knownSelectors: [KNOWN] });
  if (found === null) throw new Error("the index holds blocks");
  return found;
}

async function headBlock(): Promise<number> {
  return (await read()).head.number;
}

const hashes = (calls: readonly { readonly hash: Hex }[]) => calls.map(({ hash }) => hash);

describe("the outcome of a wallet's transactions", () => {
  it("is its own failures of the listed days, newest first, with all that they were sent with", async () => {
    const head = await headBlock();
    const old = await send({ block: head - 29, ok: false });
    const newer = await send({ block: head - 1, ok: false, input: "0x" });
    await send({ block: head - 31, ok: false });
    await send({ block: head - 2, ok: true });
    await send({ block: head - 2, ok: false, from: OTHER, place: 1 });
    const { failures, failuresFound, nextNonce } = await read();
    expect(hashes(failures)).toEqual([newer, old]);
    expect(failures[1]).toEqual({
      hash: old,
      block: head - 29,
      transactionIndex: 0,
      timestamp: START + (head - 29) * DAY,
      to: TARGET,
      nonce: expect.any(Number),
      value: 3n,
      input: "0xaabbccdd",
      selector: "0xaabbccdd",
      gasLimit: 90_000n,
      gasUsed: 24_000n,
      gasPrice: 1_000_000_000n,
      l1Fee: null,
    });
    expect([failuresFound, nextNonce]).toEqual([2, Number(failures[0]?.nonce) + 1]);
  });

  it("holds the newest success of each calldata and of each method that failed lately, and every one of a known method", async () => {
    const head = await headBlock();
    await send({ block: head - 9, ok: false });
    await send({ block: head - 8, ok: true });
    const newest = await send({ block: head - 7, ok: true });
    const known = await send({ block: head - 6, ok: true, input: `${KNOWN}01` });
    const other = await send({ block: head - 5, ok: true, input: `${KNOWN}02` });
    await send({ block: head - 5, ok: true, input: "0xaabbccdd01", place: 2 });
    const method = await send({ block: head - 4, ok: true, input: "0xaabbccdd02", place: 2 });
    await send({ block: head - 4, ok: true, to: account(0xd2) });
    await send({ block: head - 3, ok: true, input: "0x12345678" });
    await send({ block: head - 10, ok: true, input: `${KNOWN}03` });
    const { successes, completeFrom } = await read();
    expect(hashes(successes)).toEqual([method, other, known, newest]);
    expect(completeFrom).toBeNull();
  });

  it("matches creations, which have no account, with one another", async () => {
    const head = await headBlock();
    await send({ block: head - 2, ok: false, to: null });
    const made = await send({ block: head - 1, ok: true, to: null });
    expect(hashes((await read()).successes)).toEqual([made]);
  });

  it("reads no success where nothing failed lately, and no nonce where nothing was sent", async () => {
    const head = await headBlock();
    expect((await read()).nextNonce).toBeNull();
    await send({ block: head - 20, ok: false });
    await send({ block: head - 1, ok: true });
    expect((await read()).successes).toEqual([]);
  });

  it("counts the failures beyond the 200 that it lists", async () => {
    const head = await headBlock();
    for (let place = 0; place < 203; place += 1) await send({ block: head - 1, ok: false, place });
    const { failures, failuresFound } = await read();
    expect([failures.length, failuresFound]).toEqual([200, 203]);
  });

  it("looks at the newest 20,000 transactions and calls alone", async () => {
    const head = await headBlock();
    await send({ block: head - 2, ok: false, input: "0x11111111" });
    await world.client.query(
      `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value,
         ok, gas_limit, gas_used, gas_price_wei, fee_wei)
       select 31337, $1, $2::int - 1, n, 5, 'executed' || n, 'safe', 'enrich', $3, 0, n > 0, 1, 1, 1, 1
       from generate_series(0, 20000) n`,
      [AGENT, head, START + (head - 1) * DAY],
    );
    await world.client.query(
      `insert into ${SCHEMA}.transaction
       select 'sent' || n, $2::int - 1, n, $3, $1, $4, 1000 + n, 0, '0x22222222', '0x22222222', 1, 1, 1, 1, n > 0, null, true
       from generate_series(0, 20000) n`,
      [AGENT, head, START + (head - 1) * DAY, TARGET],
    );
    expect(await read()).toMatchObject({ failures: [], failuresFound: 0, executions: [], successes: [] });
    await world.client.query(`delete from ${SCHEMA}.transaction where hash = 'sent20000'`);
    await world.client.query("delete from ahs.own_call where hash = 'executed20000'");
    const found = await read();
    expect([hashes(found.failures), hashes(found.executions)]).toEqual([["sent0"], ["executed0"]]);
  });

  it("names the block from which successes are complete once there are too many to read", async () => {
    const head = await headBlock();
    await send({ block: head - 9, ok: false });
    await world.client.query(
      `insert into ${SCHEMA}.transaction
       select '0x' || lpad(to_hex(n + 500000), 64, '0'), $1::int - 8 + n / 1000, n, $2, $3, $4, n, 0,
         '${KNOWN}' || lpad(to_hex(n), 8, '0'), '${KNOWN}', 90000, 24000, 1, 7, true, null, true
       from generate_series(0, 2500) n`,
      [head, START + head * DAY, AGENT, TARGET],
    );
    const { successes, completeFrom } = await read();
    expect([successes.length, completeFrom]).toEqual([2000, head - 7]);
  });

  it("reads long calldata up to a bound, and says from which block on successes are complete", async () => {
    const head = await headBlock();
    const long = (start: Hex, bytes: number): Hex => `${start}${"ab".repeat(bytes)}`;
    await send({ block: head - 9, ok: false });
    await world.client.query(
      `insert into ${SCHEMA}.transaction
       select 'long' || n, $1::int - n / 32, n, $2, $3, $4, n, 0, '${KNOWN}' || lpad(to_hex(n), 8, '0') || repeat('ab', 20000),
         '${KNOWN}', 90000, 24000, 1, 7, true, null, true
       from generate_series(0, 199) n`,
      [head, START + head * DAY, AGENT, TARGET],
    );
    const found = await read();
    expect([found.successes.length, found.completeFrom]).toEqual([128, head - 3]);
    for (const place of [0, 1, 2])
      await send({ block: head - 8, ok: false, place, input: long("0x11223344", 500_000) });
    const { failures, failuresFound } = await read();
    expect([failures.length, failuresFound]).toEqual([2, 4]);
  });

  it("compares calldata up to a bound, and calls what is older incomplete", async () => {
    const head = await headBlock();
    await send({ block: head - 9, ok: false });
    const missed = await send({ block: head - 8, ok: true });
    const seen = await send({ block: head - 1, ok: true, input: "0xaabbccdd01" });
    await world.client.query(
      `insert into ${SCHEMA}.transaction
       select 'huge' || n, $1::int - 5, n, $2, $3, $4, n, 0, '0x55555555' || repeat('ab', 100000),
         '0x55555555', 90000, 24000, 1, 7, true, null, true
       from generate_series(0, 199) n`,
      [head, START + (head - 5) * DAY, AGENT, TARGET],
    );
    const again = await send({ block: head - 4, ok: false });
    const { failures, successes, completeFrom } = await read();
    expect(hashes(failures)).toContain(again);
    expect(hashes(successes)).toEqual([seen]);
    expect(hashes(successes)).not.toContain(missed);
    expect(completeFrom).toBe(head - 4);
  });

  it("has the newest call of the wallet itself, from any sender, and the block up to which executions are known", async () => {
    const head = await headBlock();
    expect(await read()).toMatchObject({ selfCall: null, enrichedBlock: null });
    await send({ block: head - 9, ok: true, to: AGENT });
    const relayed = await send({ block: head - 8, ok: true, to: AGENT, from: OTHER, own: false, place: 1 });
    await send({ block: head - 7, ok: false, to: AGENT, place: 2 });
    await send({ block: head - 6, ok: true, to: AGENT, input: "0x", place: 3 });
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await enrichTo(world.client, SCHEMA, head - 3);
    expect(await read()).toMatchObject({
      selfCall: { hash: relayed, block: head - 8, transactionIndex: 1 },
      enrichedBlock: head - 3,
    });
    await world.client.query("update ahs.enrich_wallet set past_next = 12, past_until = 20");
    expect((await read()).enrichedBlock).toBe(11);
  });

  it.each<[string, string, string | null, bigint | null]>([
    ["what a rollup charged", "77", "none", 77n],
    ["nothing where the receipt shows no such fee", "null", "none", 0n],
    ["that it is not known where no receipt was read", "null", null, null],
  ])("adds to a failure %s", async (_name, l1Fee, effect, expected) => {
    const head = await headBlock();
    const hash = await send({ block: head - 1, ok: false });
    await world.client.query(
      `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp,
         "to", selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, l1_fee_wei, effect)
       values (31337, $1, $2, 0, 0, $3, 'transaction', 'enrich', $4, $5, '0xaabbccdd', 0, false, 0, 0, 0, 0, ${l1Fee}, $6)`,
      [AGENT, head - 1, hash, START + (head - 1) * DAY, TARGET, effect],
    );
    expect((await read()).failures.map((failure) => failure.l1Fee)).toEqual([expected]);
  });

  it("holds what a smart account executed: failures one by one, successes by method", async () => {
    const head = await headBlock();
    const execute = (block: number, ok: boolean) =>
      world.client.query(
        `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp,
           "to", selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei)
         values (31337, $1, $2, 0, 4, $3, 'transaction', 'enrich', $4, $5, '0xaabbccdd', 0, $6, 0, 0, 0, 0)`,
        [AGENT, block, numberToHex(9, { size: 32 }), START + block * DAY, TARGET, ok],
      );
    await execute(head - 1, false);
    await execute(head - 5, true);
    await execute(head - 3, true);
    await execute(head - 20, true);
    const { executions, executed } = await read();
    expect(executed).toEqual([{ to: TARGET, selector: "0xaabbccdd", block: head - 3 }]);
    expect(executions).toEqual([
      {
        hash: numberToHex(9, { size: 32 }),
        position: 4,
        block: head - 1,
        timestamp: START + (head - 1) * DAY,
        to: TARGET,
        selector: "0xaabbccdd",
      },
    ]);
  });
});

type Reported = {
  readonly block: number;
  readonly ok: boolean;
  readonly selector?: Hex;
  readonly recipient?: string;
  readonly source?: string;
};

let reports = 0;

/** Puts a transaction into the reported history; answers its hash. */
async function report({ block, ok, selector = "0xaabbccdd", recipient, source = "explorer" }: Reported) {
  reports += 1;
  const hash = numberToHex(0xf000 + reports, { size: 32 });
  await world.client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp,
       "to", selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, recipient)
     values (31337, $1, $2, 1, 0, $3, 'transaction', $4, $5, $6, $7, 3, $8, 90000, 24000, 1000000000, 0, $9)`,
    [AGENT, block, hash, source, START + block * DAY, TARGET, selector, ok, recipient ?? null],
  );
  return hash;
}

/** The index follows the wallet from a block on, and the source reported up to another. */
async function follow(fromBlock: number, reportedTo: number) {
  await world.client.query(
    `insert into ${SCHEMA}.wallet values ($1, 'requested', $2, 0, 0, null, null, null, 1)`,
    [AGENT, fromBlock],
  );
  await world.client.query(
    `insert into ahs.stored_history (chain_id, wallet, source, from_block, from_timestamp, to_block, to_hash, complete)
     values (31337, $1, 'explorer', 0, 0, $2, '0x01', true)`,
    [AGENT, reportedTo],
  );
}

const FRIEND = account(0xf1);
const HEAD = 400;
const INDEXED = { input: "0xaabbccdd01" } as const;

describe("the report of a history source on the time before the index followed a wallet", () => {
  it("is failures of the listed days that the index lacks, newest first", async () => {
    await follow(HEAD, HEAD - 1);
    const old = await report({ block: HEAD - 29, ok: false });
    const newer = await report({ block: HEAD - 3, ok: false });
    await report({ block: HEAD - 31, ok: false });
    await report({ block: HEAD - 2, ok: false, source: "enrich" });
    const both = await report({ block: HEAD - 1, ok: false });
    await send({ ...INDEXED, block: HEAD - 1, ok: false, hash: both });
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
    await report({ block: HEAD - 9, ok: true });
    const newest = await report({ block: HEAD - 8, ok: true });
    const paid = await report({ block: HEAD - 7, ok: true, selector: "0xa9059cbb", recipient: FRIEND });
    const other = await report({ block: HEAD - 6, ok: true, selector: "0xa9059cbb", recipient: TARGET });
    await report({ block: HEAD - 20, ok: true, selector: "0x12345678" });
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
  ])("%s", async (_name, reportedTo, meets) => {
    await follow(300, reportedTo);
    expect((await read()).reported.meetsIndex).toBe(meets);
  });

  it("makes the index's later successes of its failed methods count, though nothing failed in the index", async () => {
    await report({ block: HEAD - 5, ok: false });
    const later = await send({ ...INDEXED, block: HEAD - 1, ok: true });
    await send({ ...INDEXED, block: HEAD - 6, ok: true });
    expect((await read()).successes.map(({ hash }) => hash)).toEqual([later]);
  });
});
