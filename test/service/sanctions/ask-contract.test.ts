import pino from "pino";
import { Registry } from "prom-client";
import { type Address, type Hex, zeroAddress } from "viem";
import { beforeEach, expect, test } from "vitest";
import {
  askingFirst,
  askRound,
  runAsking,
  type SanctionsContract,
} from "../../../service/sanctions/ask-contract.ts";
import { createReadingMetrics } from "../../../service/sanctions/metrics.ts";
import { readSanctionsEntries } from "../../../service/sanctions/sanctions.ts";
import { readSanctionsSources } from "../../../service/sanctions/sources.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createIndexTables } from "../db/index-tables.ts";
import { clearSanctions } from "./clear-sanctions.ts";
import { evmAddress } from "./sdn-file.ts";

const CHAIN_ID = 31_337;
const CHAIN = { chainId: CHAIN_ID, sanctionsList: { address: zeroAddress, startBlock: 0 } };
const NOW = new Date("2026-11-20T10:00:00Z");

const db = useDatabase();

beforeEach(async () => {
  await clearSanctions(db);
  await createIndexTables(db, CHAIN_ID);
  await mine(100);
});

const hashOf = (block: number, fork = "a"): Hex => `0x${fork}${block.toString(16).padStart(63, "0")}`;

async function mine(block: number, fork = "a"): Promise<void> {
  await db.$client.query("insert into chain_31337.block values ($1, $2, $3, 1)", [
    block,
    hashOf(block, fork),
    1_790_000_000 + block,
  ]);
}

async function follow(...numbers: number[]): Promise<void> {
  for (const number of numbers)
    await db.$client.query(
      "insert into chain_31337.wallet values ($1, 'registered', 1, 0, 0, null, null, null, 1)",
      [evmAddress(number)],
    );
}

async function event(number: number, block: number, listed: boolean): Promise<void> {
  await db.$client.query("insert into chain_31337.sanctions_change values ($1, $2, $3, $4, 0, $5, '0x01')", [
    `${block}-${number}`,
    evmAddress(number),
    listed,
    block,
    1_790_000_000 + block,
  ]);
}

/** A contract that lists these wallets; `asked` holds what it was asked. */
function contractOf(listed: readonly number[], changes: Partial<SanctionsContract> = {}) {
  const asked: [Address, number | "latest"][] = [];
  let open = 0;
  let mostOpen = 0;
  const contract: SanctionsContract = {
    async isSanctioned(wallet, block) {
      asked.push([wallet, block]);
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return listed.map(evmAddress).includes(wallet as `0x${string}`);
    },
    blockHash: async (block) => hashOf(block),
    ...changes,
  };
  return { contract, asked, mostOpen: () => mostOpen };
}

const contextOf = (contract: SanctionsContract) => ({
  db,
  chainId: CHAIN_ID,
  contract,
  metrics: createReadingMetrics(new Registry()),
  logger: pino({ level: "silent" }),
  now: () => NOW,
});

async function listedNow(asOfBlock = 1_000): Promise<readonly (readonly [Address, string])[]> {
  const entries = await readSanctionsEntries(db.$client, {
    chainId: CHAIN_ID,
    asOfBlock,
  });
  return entries.map(({ address, reference }) => [address, reference]);
}

const unchecked = async () => (await readSanctionsSources(db, CHAIN))[0]?.unchecked;

test("every wallet without an event is asked about once, a few at a time, at the newest indexed block", async () => {
  await follow(...Array.from({ length: 30 }, (_, number) => number));
  await event(3, 50, true);
  await event(4, 50, false);
  const { contract, asked, mostOpen } = contractOf([3, 7]);
  const context = contextOf(contract);
  expect(await unchecked()).toBe(28);
  expect(await askRound(context)).toBe(28);
  expect(new Set(asked.map(([wallet]) => wallet)).size).toBe(28);
  expect(new Set(asked.map(([, block]) => block))).toEqual(new Set([100]));
  expect(mostOpen()).toBeLessThanOrEqual(8);
  expect([await unchecked(), await askRound(context)]).toEqual([0, 0]);
  expect(await listedNow()).toEqual([
    [evmAddress(3), "0x01"],
    [evmAddress(7), "isSanctioned at block 100"],
  ]);
});

test("a wallet that begins to be followed, or is scored on demand, is asked about as well", async () => {
  await follow(1);
  const { contract, asked } = contractOf([2]);
  const context = contextOf(contract);
  await askRound(context);
  await follow(2);
  await db.$client.query(
    "insert into ahs.enrolment (chain_id, wallet, state, requested_at) values ($1, $2, 'x', now())",
    [CHAIN_ID, evmAddress(3)],
  );
  expect(await askRound(context)).toBe(2);
  expect(asked.map(([wallet]) => wallet).sort()).toEqual([1, 2, 3].map(evmAddress));
});

test("a later event overrides what the contract answered, and a reorg of the event brings the answer back", async () => {
  await follow(1);
  const { contract } = contractOf([1]);
  await askRound(contextOf(contract));
  await event(1, 120, false);
  expect(await listedNow()).toEqual([]);
  await db.execute("delete from chain_31337.sanctions_change");
  expect(await listedNow()).toEqual([[evmAddress(1), "isSanctioned at block 100"]]);
});

test("answers of a block that the node has replaced, or the index no longer holds, are not stored", async () => {
  await follow(1);
  const replaced = contractOf([1], { blockHash: async (block) => hashOf(block, "b") });
  const context = contextOf(replaced.contract);
  expect(await askRound(context)).toBe(0);
  const gone = contractOf([1], {
    blockHash: async (block) => {
      await db.execute(`update chain_31337.block set hash = '${hashOf(block, "c")}'`);
      return hashOf(block);
    },
  });
  expect(await askRound({ ...context, contract: gone.contract })).toBe(0);
  expect([await listedNow(), await unchecked()]).toEqual([[], 1]);
});

test("an event that came while the contract was asked counts, and the answer, which may be of after it, does not", async () => {
  await follow(1);
  const { contract } = contractOf([1], {
    blockHash: async (block) => {
      await event(1, 100, true);
      return hashOf(block);
    },
  });
  expect(await askRound(contextOf(contract))).toBe(0);
  expect(await listedNow()).toEqual([[evmAddress(1), "0x01"]]);
  // Were the answer kept, a reorg of the event would leave the wallet listed for ever.
  await db.execute("delete from chain_31337.sanctions_change");
  expect(await listedNow()).toEqual([]);
});

test("while the node is down what is known stays, the count of open questions shows, and it goes on by itself", async () => {
  await follow(1);
  let down = false;
  const fake = contractOf([1, 2]);
  const contract: SanctionsContract = {
    ...fake.contract,
    isSanctioned: (wallet, block) =>
      down ? Promise.reject(new Error("connect ECONNREFUSED")) : fake.contract.isSanctioned(wallet, block),
  };
  const context = contextOf(contract);
  await askRound(context);
  await follow(2);
  down = true;
  const stop = new AbortController();
  const running = runAsking(context, stop.signal);
  const failures = async () => (await context.metrics.failures.get()).values[0]?.value ?? 0;
  await expect.poll(failures).toBeGreaterThan(0);
  expect(await listedNow()).toEqual([[evmAddress(1), "isSanctioned at block 100"]]);
  expect(await unchecked()).toBe(1);
  down = false;
  await expect.poll(unchecked).toBe(0);
  expect(await listedNow()).toHaveLength(2);
  stop.abort();
  await running;
});

test("answers before a failure are stored", async () => {
  await follow(...Array.from({ length: 20 }, (_, number) => number));
  let answers = 0;
  const { contract } = contractOf([], {
    isSanctioned: async () => {
      answers += 1;
      if (answers === 10) throw new Error("429");
      return false;
    },
  });
  await expect(askRound(contextOf(contract))).rejects.toThrow("isSanctioned was not answered");
  expect(await unchecked()).toBe(5);
});

test("nothing is asked before there is an index", async () => {
  await db.execute("drop schema chain_31337 cascade");
  const { contract, asked } = contractOf([]);
  expect(await askRound(contextOf(contract))).toBe(0);
  expect(asked).toEqual([]);
});

test("a caller is answered only after the contract was asked about the wallet, which happens once", async () => {
  const answered: Address[] = [];
  const answer = async (wallet: Address) => {
    answered.push(wallet);
    return { kind: "stored" as const };
  };
  let down = true;
  const fake = contractOf([1]);
  const contract: SanctionsContract = {
    ...fake.contract,
    isSanctioned: (wallet, block) =>
      down ? Promise.reject(new Error("connect ECONNREFUSED")) : fake.contract.isSanctioned(wallet, block),
  };
  const ask = askingFirst(contextOf(contract), answer);
  expect(await ask(evmAddress(1))).toMatchObject({ kind: "unavailable", retryAfterSeconds: 10 });
  expect(answered).toEqual([]);
  down = false;
  expect([await ask(evmAddress(1)), await ask(evmAddress(1))]).toEqual([
    { kind: "stored" },
    { kind: "stored" },
  ]);
  expect(fake.asked).toHaveLength(1);
  expect(await listedNow()).toEqual([[evmAddress(1), "isSanctioned at block 100"]]);

  down = true;
  await event(2, 90, false);
  expect(await ask(evmAddress(2))).toEqual({ kind: "stored" });
  const replaced = contractOf([], { blockHash: async (block) => hashOf(block, "b") });
  const onFork = askingFirst({ ...contextOf(replaced.contract) }, answer);
  expect(await onFork(evmAddress(3))).toMatchObject({ kind: "unavailable" });
});
