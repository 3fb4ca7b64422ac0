import fc from "fast-check";
import { type Address, type Hex, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { dealingsOfSample } from "../../../../service/ingest/enrich/contacts.ts";
import {
  dropSampledContacts,
  fillSampled,
  type ReadBlocks,
} from "../../../../service/ingest/enrich/sampled-blocks.ts";
import type { SampledBlock } from "../../../../service/ingest/enrich/sampling.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN = 31_337;
const BLOCKS = 40;
const DAY = 86_400;
const db = useDatabase();
const accountOf = (number: number): Address => numberToHex(number, { size: 20 });

beforeAll(async () => {
  await db.$client.query("insert into ahs.chain_mark values ($1, 0, '0x', 'first', now())", [CHAIN]);
});

const seenCall = fc
  .tuple(fc.integer({ min: 1, max: 30 }), fc.option(fc.integer({ min: 25, max: 32 })))
  .map(([from, to]) => ({ from: accountOf(from), counterparty: to === null ? null : accountOf(to) }));

/** A chain of blocks with calls; some have no base fee, of some nothing is known. */
const chain = fc
  .array(
    fc.record({
      seen: fc.array(seenCall, { maxLength: 20 }),
      prices: fc.option(fc.array(fc.bigInt(0n, 9n))),
    }),
    {
      minLength: BLOCKS,
      maxLength: BLOCKS,
    },
  )
  .map((blocks) =>
    blocks.map(({ seen, prices }, number): SampledBlock => {
      const head = {
        number,
        hash: hashOf(number),
        timestamp: 1_000 + number,
        baseFeeWei: number % 9 === 0 ? null : 3n,
      };
      return { ...head, gasPrices: prices, seen, source: prices === null ? "header" : "block_receipts" };
    }),
  );

const rule = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))
  .map(([every, blocks]) => ({ everyBlocks: every, blocks: Math.min(every, blocks) }));

/** Ranges that are the whole chain together, in any order. */
const ranges = fc
  .uniqueArray(fc.integer({ min: 1, max: BLOCKS - 1 }), { maxLength: 8 })
  .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), BLOCKS])
  .map((edges) => edges.slice(1).map((end, place) => ({ from: edges[place] ?? 0, to: end - 1 })))
  .chain((parts) => fc.shuffledSubarray(parts, { minLength: parts.length }));

test("any partition of the chain, read in any order and more than once, gives the same rows", async () => {
  await fc.assert(
    fc.asyncProperty(chain, rule, ranges, async (blocks, sample, parts) => {
      const readBlocks: ReadBlocks = async (numbers) => numbers.flatMap((number) => blocks[number] ?? []);
      const fill = (samplesOf: { from: number; to: number }, tipsOf: readonly number[]) =>
        fillSampled(db, { chainId: CHAIN, generation: "first", rule: sample, samplesOf, tipsOf }, readBlocks);
      const rowsAfter = async (fillAll: () => Promise<void>) => {
        await db.$client.query("truncate ahs.enrich_block, ahs.sampled_contact");
        await fillAll();
        const read = (table: string) =>
          db.$client.query(`select * from ahs.${table} as stored order by stored`);
        return [(await read("enrich_block")).rows, (await read("sampled_contact")).rows];
      };
      const whole = await rowsAfter(
        async () => void (await fill({ from: 0, to: BLOCKS - 1 }, [0, BLOCKS - 1])),
      );
      const inParts = await rowsAfter(async () => {
        await fill({ from: 1, to: 0 }, [0]);
        for (const part of [...parts, ...parts.slice(0, 1)]) await fill(part, [part.to]);
        await fill({ from: 1, to: 0 }, [BLOCKS - 1]);
      });
      const firstsOf = new Set(parts.map(({ to }) => to - (to % sample.everyBlocks)));
      const isUnasked = (row: { block: string }) => firstsOf.has(Number(row.block));
      expect(inParts[1]).toEqual(whole[1]);
      expect(inParts[0]?.filter((row) => !isUnasked(row))).toEqual(
        whole[0]?.filter((row) => !isUnasked(row)),
      );
    }),
    { numRuns: 12 },
  );
});

test("a sample shows all calls of the first eight senders of each counterparty", () => {
  fc.assert(
    fc.property(chain, (blocks) => {
      const calls = blocks
        .flatMap(({ seen }) => seen)
        .filter(({ from, counterparty }) => counterparty !== from);
      const dealings = dealingsOfSample(blocks.toReversed());
      const senders = Map.groupBy(calls, ({ counterparty }) => counterparty);
      senders.delete(null);
      const first = [...senders].map(([counterparty, own]) => {
        const accounts = [...new Set(own.map(({ from }) => from))].slice(0, 8);
        return [counterparty, own.filter(({ from }) => accounts.includes(from)).length] as const;
      });
      const counted = Map.groupBy(dealings, ({ counterparty }) => counterparty);
      expect(new Map([...counted].map(([counterparty, own]) => [counterparty, own.length]))).toEqual(
        new Map(first),
      );
    }),
  );
});

test("nothing is stored of a chain that was replaced while its blocks were read", async () => {
  await db.$client.query("truncate ahs.enrich_block, ahs.sampled_contact");
  const head = { number: 0, hash: hashOf(0), timestamp: 1, baseFeeWei: 1n };
  const block: SampledBlock = { ...head, gasPrices: [2n], seen: [], source: "block_receipts" };
  const wanted = {
    ...{ chainId: CHAIN, rule: { everyBlocks: 1, blocks: 1 }, samplesOf: { from: 0, to: 0 }, tipsOf: [0] },
  };
  const fill = (generation: string) => fillSampled(db, { ...wanted, generation }, async () => [block]);
  expect(await fill("another")).toBeNull();
  expect((await db.$client.query("select from ahs.enrich_block")).rowCount).toBe(0);
  expect(await fill("first")).toEqual(new Map([[0, 1n]]));
});

test("users are stored as long as a score can count their last call", async () => {
  await db.$client.query("truncate ahs.sampled_contact");
  await db.$client.query(
    `insert into ahs.sampled_contact select $1, '0x01', '0x' || n, 1, 1, 0, 1, n * ${DAY} from generate_series(1, 3) n`,
    [CHAIN],
  );
  expect(await dropSampledContacts(db, CHAIN, 202 * DAY)).toEqual({ dropped: 1, more: false });
  const { rows } = await db.$client.query("select account from ahs.sampled_contact order by account");
  expect(rows).toEqual([{ account: "0x2" }, { account: "0x3" }]);
});

function hashOf(number: number): Hex {
  return numberToHex(number, { size: 32 });
}
