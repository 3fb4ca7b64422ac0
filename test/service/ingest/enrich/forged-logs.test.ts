import { type Address, encodeFunctionData, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import { APPROVAL, TRANSFER } from "../../../../service/chain/node/rpc-answers.ts";
import { readSnapshot } from "../../../../service/db/index-snapshot.ts";
import { gatherAccountFacts } from "../../../../service/ingest/enrich/account-facts.ts";
import { readLiveApprovals } from "../../../../service/ingest/enrich/enrich-approvals.ts";
import { sweepExpired } from "../../../../service/ingest/enrich/run-enrich.ts";
import {
  CHAIN_ID,
  contextOf,
  createEnrichWorld,
  type EnrichWorld,
  enrichAll,
  forgetAll,
  rowsOf,
} from "./enrich-world.ts";
import { contextWith, ignorant } from "./facts-world.ts";
import { floodCall, placeLogFlood } from "./log-emitter.ts";

const VICTIM: Address = `0x${"a1".repeat(20)}`;
const NEIGHBOUR: Address = `0x${"b2".repeat(20)}`;
const ATTACKER: Address = `0x${"bad0".repeat(10)}`;
const FORGER: Address = `0x${"ee".repeat(20)}`;
const PAYEE: Address = `0x${"fe".repeat(20)}`;
const FORGED = 5_000;

let world: EnrichWorld;
let usdc: Address;

/** In one block: thousands of forged logs, payments to both wallets, and a call of each. */
beforeAll(async () => {
  world = await createEnrichWorld();
  const { rpc, contracts, send } = world.chain;
  usdc = contracts.usdc.toLowerCase() as Address;
  await placeLogFlood(world.chain, FORGER);
  await rpc.request("anvil_setBalance", ATTACKER, numberToHex(10n ** 21n));
  await rpc.request("anvil_autoImpersonateAccount", true);
  for (const wallet of [VICTIM, NEIGHBOUR]) await world.follow(wallet);
  const [owner] = (await rpc.request("eth_accounts")) as [Address];
  const fees = { maxFeePerGas: numberToHex(10n ** 11n), maxPriorityFeePerGas: "0x1" };
  for (const event of [APPROVAL, TRANSFER])
    await rpc.request("eth_sendTransaction", {
      ...{ from: ATTACKER, to: FORGER, data: floodCall(event, VICTIM, FORGED) },
      ...{ gas: numberToHex(11_000_000n), ...fees },
    });
  for (const wallet of [VICTIM, NEIGHBOUR]) {
    const data = encodeFunctionData({ abi: localTokenAbi, functionName: "mint", args: [wallet, 100n] });
    await rpc.request("eth_sendTransaction", {
      ...{ from: owner, to: usdc, data },
      ...{ gas: numberToHex(200_000n), ...fees },
    });
  }
  for (const from of [VICTIM, NEIGHBOUR]) {
    const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [PAYEE, 7n] });
    await send({ from, to: usdc, data });
  }
  await world.index();
});
afterAll(() => world.close());
beforeEach(() => forgetAll(world));

const paid = async (wallet: Address) =>
  (await rowsOf(world, "enrich_transfer")).filter(({ token, to }) => token === usdc && to === wallet);
const live = () =>
  readSnapshot(world.db, (client) =>
    readLiveApprovals(client, { chainId: CHAIN_ID, wallets: [VICTIM, NEIGHBOUR] }),
  );

async function expectWhole(): Promise<void> {
  expect(await live()).toMatchObject([
    { owner: VICTIM, token: usdc, spender: PAYEE, amount: 7n },
    { owner: NEIGHBOUR, token: usdc, spender: PAYEE, amount: 7n },
  ]);
  expect(await rowsOf(world, "enrich_approval")).toHaveLength(2);
  for (const wallet of [VICTIM, NEIGHBOUR]) expect(await paid(wallet)).toMatchObject([{ amount: "100" }]);
  expect(await rowsOf(world, "own_call")).toHaveLength(2);
}

test("thousands of logs that a contract forges in one block leave a bounded number of rows, and are counted", async () => {
  const { metrics } = await enrichAll(world);
  await expectWhole();
  const claimed = (await rowsOf(world, "enrich_transfer")).filter(({ token }) => token === FORGER);
  expect(claimed).toHaveLength(8);
  const { values } = await metrics.leftOut.get();
  expect(values.find(({ labels }) => labels.what === "transfer")).toMatchObject({ value: FORGED - 8 });
});

test("requests facts of counterparties, and of no account that a forged log names", async () => {
  await enrichAll(world);
  const asked: Address[] = [];
  while ((await gatherAccountFacts(contextWith(world, ignorant(asked)))).more);
  expect(new Set(asked)).toEqual(new Set([VICTIM, NEIGHBOUR, usdc, PAYEE]));
});

test("reads payments in listed tokens, and all logs of other wallets, from a node that cannot return the flood", async () => {
  const narrow = (real: ChainReader): ChainReader => ({
    ...real,
    logs: async (filter) => {
      const logs = await real.logs(filter);
      if (logs.length > 100) throw new NodeFailure("too_many_results", "as the test wishes");
      return logs;
    },
  });
  const { metrics } = await enrichAll(world, { wrap: narrow });
  await expectWhole();
  expect((await rowsOf(world, "enrich_transfer")).filter(({ token }) => token === FORGER)).toEqual([]);
  const { values } = await metrics.leftOut.get();
  expect(values.find(({ labels }) => labels.what === "logs")).toMatchObject({ value: 1 });
  const [cursor] = await rowsOf(world, "enrich_cursor");
  expect(Number(cursor?.block)).toBe(await world.chain.head());
});

test("drops expired claims of others, and keeps transfers of listed tokens", async () => {
  const { metrics } = await enrichAll(world);
  const context = contextOf(world, (real) => real, { metrics });
  expect(await sweepExpired(context)).toBe(false);
  const before = await rowsOf(world, "enrich_transfer");
  await world.client.query("update ahs.enrich_transfer set stored_until = 1 where stored_until is not null");
  expect(await sweepExpired(context)).toBe(false);
  const after = await rowsOf(world, "enrich_transfer");
  expect(after).toEqual(before.filter(({ stored_until }) => stored_until === null));
  expect(after).toHaveLength(before.length - 8);
  expect((await metrics.dropped.get()).values).toMatchObject([{ value: 8 }, { value: 0 }]);
});
