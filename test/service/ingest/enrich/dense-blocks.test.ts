import { type Address, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { APPROVAL, TRANSFER } from "../../../../service/chain/node/rpc-answers.ts";
import { fail, type Rows } from "./busy-world.ts";
import { allRows, createEnrichWorld, type EnrichWorld, enrichAll, forgetAll } from "./enrich-world.ts";
import { floodCall, placeLogFlood } from "./log-emitter.ts";

const VICTIM: Address = `0x${"a1".repeat(20)}`;
const ATTACKER: Address = `0x${"bad0".repeat(10)}`;
const FORGER: Address = `0x${"ee".repeat(20)}`;
const BLOCKS = 40;
/** Of each event in each block. */
const FORGED = 20;
/** Empty ones before them. */
const QUIET_BLOCKS = 30;
const LOGS = 2 * FORGED * BLOCKS;

let world: EnrichWorld;
let whole: Rows;

/** Many blocks with as many forged logs each. */
beforeAll(async () => {
  world = await createEnrichWorld();
  const { rpc, tick } = world.chain;
  await placeLogFlood(world.chain, FORGER);
  await rpc.request("anvil_setBalance", ATTACKER, numberToHex(10n ** 21n));
  await rpc.request("anvil_autoImpersonateAccount", true);
  await world.follow(VICTIM);
  await world.chain.mine(QUIET_BLOCKS);
  for (let block = 0; block < BLOCKS; block += 1) {
    for (const event of [APPROVAL, TRANSFER])
      await rpc.request("eth_sendTransaction", {
        ...{ from: ATTACKER, to: FORGER, data: floodCall(event, VICTIM, FORGED) },
        ...{ gas: numberToHex(200_000n), maxFeePerGas: numberToHex(10n ** 11n), maxPriorityFeePerGas: "0x1" },
      });
    await tick();
  }
  await world.index();
  await enrichAll(world);
  whole = await allRows(world);
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

test("blocks with more logs than one range takes are read little more than once, and give the same rows", async () => {
  let read = 0;
  const counted = (real: ChainReader): ChainReader => ({
    ...real,
    logs: async (filter) => {
      const logs = await real.logs(filter);
      read += logs.length;
      return logs;
    },
  });
  const { metrics } = await enrichAll(world, { limits: { maxLogs: 3 * FORGED }, wrap: counted });
  expect(await allRows(world)).toEqual(whole);
  expect((await metrics.failures.get()).values).toEqual([]);
  // All of them once in the first range, which has no known size.
  expect(read).toBeLessThan(2.2 * LOGS);
});

test("a node that refuses several blocks at once is rarely asked for them again", async () => {
  const narrow = (real: ChainReader): ChainReader => ({
    ...real,
    logs: (filter) => (filter.to > filter.from ? fail("too_many_results")() : real.logs(filter)),
  });
  const { metrics } = await enrichAll(world, { wrap: narrow });
  expect(await allRows(world)).toEqual(whole);
  const [refused] = (await metrics.failures.get()).values;
  // Six halvings of all blocks, then one trial in sixteen reads.
  expect(refused?.value).toBeLessThan(12);
});
