import { type Address, encodeFunctionData, numberToHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { spamTokenAbi } from "../../../../devnet/abi/spam-token.ts";
import type { ChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { TRANSFER } from "../../../../service/chain/node/rpc-answers.ts";
import { allRows, createEnrichWorld, type EnrichWorld, enrichAll } from "./enrich-world.ts";

const ROUNDS = 12;
/** Of the first stretch genesis, which is read for its tip without a request. */
const FEW_SAMPLES = { everyBlocks: 1_000_000, blocks: 1 };
/** Transfers to strangers in one transaction. */
const DROPPED = 60;
const AIRDROPPER = accountOf(0xd0);
const RECEIVERS = Array.from({ length: DROPPED }, (_, index) => accountOf(0x1000 + index));

const worlds: EnrichWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function accountOf(seed: number): Address {
  return `0x${seed.toString(16).padStart(40, "0")}`;
}

type Crowd = { readonly wallets: number; readonly airdropsPerBlock: number };

/** Enriches a chain on which, in every block of a wallet's transfer, strangers log as many as they like. */
async function enrichAmong({ wallets, airdropsPerBlock }: Crowd) {
  const world = await createEnrichWorld();
  worlds.push(world);
  const { rpc, contracts, send } = world.chain;
  const followed = Array.from({ length: wallets }, (_, index) => accountOf(0xa0_0000 + index));
  for (const wallet of followed) {
    await world.follow(wallet);
    await world.mint(contracts.usdc, wallet, 1_000n);
  }
  const first = Number(await rpc.request("eth_blockNumber"));
  await rpc.request("anvil_setBalance", AIRDROPPER, numberToHex(10n ** 21n));
  await rpc.request("anvil_impersonateAccount", AIRDROPPER);
  const airdrop = encodeFunctionData({ abi: spamTokenAbi, functionName: "airdrop", args: [RECEIVERS, 1n] });
  const fees = {
    gas: numberToHex(2_500_000n),
    maxFeePerGas: numberToHex(10n ** 11n),
    maxPriorityFeePerGas: "0x1",
  };
  const pay = encodeFunctionData({
    abi: localTokenAbi,
    functionName: "transfer",
    args: [accountOf(0xbeef), 1n],
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let count = 0; count < airdropsPerBlock; count += 1)
      await rpc.request("eth_sendTransaction", {
        from: AIRDROPPER,
        to: contracts.spamToken,
        data: airdrop,
        ...fees,
      });
    const wallet = followed[round % followed.length] as Address;
    const { status } = await send({ from: wallet, to: contracts.usdc, data: pay });
    expect(status).toBe("success");
  }
  await world.index();
  let logsReceived = 0;
  const counting = (real: ChainReader): ChainReader => ({
    ...real,
    logs: async (filter) => {
      const found = await real.logs(filter);
      logsReceived += found.length;
      return found;
    },
  });
  const deployment = { ...world.chain.deployment, sample: FEW_SAMPLES };
  const { requests } = await enrichAll(world, {
    limits: { maxWallets: 4, receiptsPercent: 10_000 },
    wrap: counting,
    deployment,
  });
  const filter = { fromBlock: numberToHex(first), toBlock: "latest", topics: [TRANSFER] };
  const logs = (await rpc.request("eth_getLogs", filter)) as { address: Address }[];
  const strangers = logs.filter((log) => log.address === contracts.spamToken.toLowerCase()).length;
  const rows = Object.entries(await allRows(world)).map(([table, found]) => [table, found.length]);
  return {
    share: strangers / logs.length,
    strangers,
    requests: countByName(requests),
    logsReceived,
    rows: Object.fromEntries(rows),
  };
}

function countByName(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

test("where strangers make 95 % of the Transfer logs, ten times the strangers cost not a row and not a request more", async () => {
  const few = await enrichAmong({ wallets: 8, airdropsPerBlock: 1 });
  const many = await enrichAmong({ wallets: 8, airdropsPerBlock: 10 });
  expect(few.share).toBeGreaterThanOrEqual(0.95);
  expect(many.strangers).toBe(10 * few.strangers);
  expect(many.rows).toEqual(few.rows);
  expect(many.requests).toEqual(few.requests);
  expect(many.logsReceived).toBe(few.logsReceived);
  expect(few.logsReceived).toBe(8 + ROUNDS);
  expect(few.rows).toEqual({
    own_call: ROUNDS,
    contact: 8,
    sampled_contact: 0,
    enrich_block: 1,
    enrich_transfer: 8 + ROUNDS,
    enrich_approval: 0,
    enrich_user_operation: 0,
  });
});

test("requests grow with the wallets: five a chunk of them, and one a call", async () => {
  const four = await enrichAmong({ wallets: 4, airdropsPerBlock: 1 });
  const twelve = await enrichAmong({ wallets: 12, airdropsPerBlock: 1 });
  // Besides: the answers of the price feeds, once, and at the end each wallet's code.
  const [feeds, answers] = [3, 1];
  const always = { eth_getBlockByNumber: 1, eth_getTransactionReceipt: ROUNDS, eth_call: 3 * feeds };
  expect(four.requests).toEqual({ ...always, eth_getLogs: 5 + answers, eth_getCode: 4 });
  expect(twelve.requests).toEqual({ ...always, eth_getLogs: 15 + answers, eth_getCode: 12 });
});

test("of a crowd that uses a wallet's counterparty the first eight of each sample are stored", async () => {
  const world = await createEnrichWorld();
  worlds.push(world);
  const { rpc } = world.chain;
  const [wallet, shop, crowd] = [accountOf(0xa0_0000), accountOf(0xbeef), 100];
  await world.follow(wallet);
  await rpc.request("anvil_autoImpersonateAccount", true);
  const fees = {
    maxFeePerGas: numberToHex(10n ** 11n),
    maxPriorityFeePerGas: "0x1",
    gas: numberToHex(21_000n),
  };
  const strangers = Array.from({ length: crowd }, (_, index) => accountOf(0x2000 + index));
  for (const from of strangers) await rpc.request("anvil_setBalance", from, numberToHex(10n ** 18n));
  for (let round = 0; round < 2; round += 1) {
    for (const from of strangers)
      await rpc.request("eth_sendTransaction", { from, to: shop, value: "0x1", ...fees });
    const { status } = await world.chain.send({ from: wallet, to: shop, value: 1n });
    expect(status).toBe("success");
  }
  await world.index();
  await enrichAll(world);
  const { contact = [], sampled_contact = [] } = await allRows(world);
  expect(contact).toMatchObject([{ counterparty: shop, account: wallet, calls: 2 }]);
  const users = strangers.slice(0, 8).map((account) => ({ counterparty: shop, account, calls: 2 }));
  expect(sampled_contact.filter((row) => Reflect.get(Object(row), "counterparty") === shop)).toMatchObject(
    users,
  );
});
