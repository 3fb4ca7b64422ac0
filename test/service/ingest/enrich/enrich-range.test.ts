import { type Address, encodeFunctionData, type Hex, maxUint256, numberToHex, pad, toHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { spamTokenAbi } from "../../../../devnet/abi/spam-token.ts";
import {
  APPROVAL,
  APPROVAL_FOR_ALL,
  TRANSFER,
  TRANSFER_SINGLE,
} from "../../../../service/chain/node/rpc-answers.ts";
import { readSnapshot } from "../../../../service/db/index-snapshot.ts";
import { readLiveApprovals } from "../../../../service/ingest/enrich/enrich-approvals.ts";
import { CHAIN_ID, createEnrichWorld, type EnrichWorld, enrichAll, rowsOf } from "./enrich-world.ts";
import { logCall, placeLogEmitter } from "./log-emitter.ts";

const WALLET: Address = `0x${"a1".repeat(20)}`;
const OTHER: Address = `0x${"b2".repeat(20)}`;
const STRANGER: Address = `0x${"c3".repeat(20)}`;
const EMITTER: Address = `0x${"ee".repeat(20)}`;
const TIP = 100_000_000n;

const word = (value: bigint): Hex => toHex(value, { size: 32 });
const lower = (address: Address) => address.toLowerCase();

let world: EnrichWorld;

beforeAll(async () => {
  world = await createEnrichWorld();
  await placeLogEmitter(world.chain, EMITTER);
  await world.chain.rpc.request("anvil_setBalance", STRANGER, numberToHex(10n ** 20n));
  await world.follow(WALLET);
  await world.follow(OTHER);
});
afterAll(() => world.close());

/** Rows of one table about one transaction. */
async function rowsAbout(table: string, hash: Hex): Promise<readonly Record<string, unknown>[]> {
  await world.index();
  await enrichAll(world);
  const column = table === "own_call" ? "hash" : "transaction_hash";
  return (await rowsOf(world, table)).filter((row) => row[column] === hash);
}

function approve(token: Address, spender: Address, amount: bigint) {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "approve", args: [spender, amount] });
  return world.chain.send({ from: WALLET, to: token, data });
}

function transfer(token: Address, to: Address, amount: bigint) {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "transfer", args: [to, amount] });
  return world.chain.send({ from: WALLET, to: token, data });
}

function log(from: Address, topics: [Hex, Hex, Hex, Hex], data: Hex) {
  return world.chain.send({ from, to: EMITTER, data: logCall(topics, data) });
}

test("an own call that logs: its contracts, no L1 fee on this chain, and what its block paid", async () => {
  const { keeperTarget1 } = world.chain.contracts;
  const { hash, blockNumber } = await world.chain.succeed(WALLET);
  const receipt = (await world.chain.rpc.request("eth_getTransactionReceipt", hash)) as {
    gasUsed: Hex;
    effectiveGasPrice: Hex;
  };
  const [gasUsed, gasPrice] = [BigInt(receipt.gasUsed), BigInt(receipt.effectiveGasPrice)];
  expect(await rowsAbout("own_call", hash)).toEqual([
    {
      chain_id: CHAIN_ID,
      hash,
      block: String(blockNumber),
      transaction_index: 0,
      position: 0,
      wallet: WALLET,
      origin: "transaction",
      source: "enrich",
      timestamp: expect.stringMatching(/^\d{10}$/),
      to: lower(keeperTarget1),
      selector: expect.stringMatching(/^0x[0-9a-f]{8}$/),
      value: "0",
      ok: true,
      gas_limit: "500000",
      gas_used: String(gasUsed),
      gas_price_wei: String(gasPrice),
      fee_wei: String(gasUsed * gasPrice),
      l1_fee_wei: null,
      recipient: null,
      amount: null,
      // Alone in its block, it paid what the market did.
      market_price_wei: String(gasPrice),
      effect: "other",
      logs: 2,
      emitters: [lower(keeperTarget1)],
      moves: [],
      line: expect.stringMatching(
        new RegExp(`^${hash} ${blockNumber} 0 0 .* other ${lower(keeperTarget1)} -$`),
      ),
    },
  ]);
  const block = (await world.chain.rpc.request("eth_getBlockByNumber", numberToHex(blockNumber), false)) as {
    hash: Hex;
    timestamp: Hex;
    baseFeePerGas: Hex;
  };
  const stored = (await rowsOf(world, "enrich_block")).find((row) => row.block === String(blockNumber));
  expect(stored).toEqual({
    chain_id: CHAIN_ID,
    block: String(blockNumber),
    hash: block.hash,
    timestamp: String(Number(block.timestamp)),
    base_fee_wei: String(BigInt(block.baseFeePerGas)),
    median_tip_wei: String(TIP),
    transactions: 1,
    source: "block_receipts",
  });
});

test("a reverted own call is there, without logs", async () => {
  const { hash, status } = await world.chain.revert(WALLET);
  expect(status).toBe("reverted");
  expect(await rowsAbout("own_call", hash)).toMatchObject([
    { ok: false, effect: "none", logs: 0, emitters: [], moves: [] },
  ]);
});

test("the tip of a block is the median of everybody's, not that of the own call", async () => {
  const { rpc } = world.chain;
  const gas = { gas: numberToHex(50_000n), maxFeePerGas: numberToHex(10n ** 11n) };
  const tips = [5n, 9n, 7n].map((gwei) => gwei * 10n ** 9n);
  for (const [index, tip] of tips.entries()) {
    const from = index === 0 ? WALLET : STRANGER;
    await rpc.request("anvil_impersonateAccount", from);
    const sent = { from, to: OTHER, value: "0x1", ...gas, maxPriorityFeePerGas: numberToHex(tip) };
    await rpc.request("eth_sendTransaction", sent);
  }
  await world.chain.tick();
  const head = await world.index();
  await enrichAll(world);
  expect((await rowsOf(world, "enrich_block")).find((row) => row.block === String(head))).toMatchObject({
    median_tip_wei: String(7n * 10n ** 9n),
    transactions: 3,
  });
});

test("tokens that the wallet moves, and those that a stranger drops on it, differ by who sent the transaction", async () => {
  const { usdc, spamToken } = world.chain.contracts;
  const minted = await world.mint(usdc, WALLET, 500n);
  const sent = await transfer(usdc, OTHER, 200n);
  const args = [[WALLET, STRANGER, OTHER], 9n] as const;
  const data = encodeFunctionData({ abi: spamTokenAbi, functionName: "airdrop", args });
  const dropped = await world.chain.send({ from: STRANGER, to: spamToken, data });
  const row = { standard: "erc20", token_id: null, item: 0 };
  expect(await rowsAbout("enrich_transfer", minted.hash)).toMatchObject([
    { ...row, token: lower(usdc), from: `0x${"00".repeat(20)}`, to: WALLET, amount: "500", sender: null },
  ]);
  expect(await rowsAbout("enrich_transfer", sent.hash)).toMatchObject([
    { ...row, token: lower(usdc), from: WALLET, to: OTHER, amount: "200", sender: WALLET },
  ]);
  expect(await rowsAbout("enrich_transfer", dropped.hash)).toMatchObject([
    { ...row, token: lower(spamToken), to: WALLET, amount: "9", log_index: 0, sender: null },
    { ...row, token: lower(spamToken), to: OTHER, amount: "9", log_index: 2, sender: null },
  ]);
});

test("tokens with ids are found wherever their event has the wallet", async () => {
  const single: Hex = `${word(7n)}${word(3n).slice(2)}`;
  const nft = await log(STRANGER, [TRANSFER, pad(STRANGER), pad(WALLET), word(7n)], "0x");
  const sent = await log(WALLET, [TRANSFER_SINGLE, pad(WALLET), pad(WALLET), pad(STRANGER)], single);
  const received = await log(STRANGER, [TRANSFER_SINGLE, pad(STRANGER), pad(STRANGER), pad(WALLET)], single);
  const operated = await log(STRANGER, [TRANSFER_SINGLE, pad(WALLET), pad(STRANGER), pad(STRANGER)], single);
  const id = { token: EMITTER, token_id: "7" };
  expect(await rowsAbout("enrich_transfer", nft.hash)).toMatchObject([
    { ...id, standard: "erc721", to: WALLET, amount: null, sender: null },
  ]);
  expect(await rowsAbout("enrich_transfer", sent.hash)).toMatchObject([
    { ...id, standard: "erc1155", from: WALLET, amount: "3", sender: WALLET },
  ]);
  expect(await rowsAbout("enrich_transfer", received.hash)).toMatchObject([
    { ...id, standard: "erc1155", to: WALLET, amount: "3", sender: null },
  ]);
  expect(await rowsAbout("enrich_transfer", operated.hash)).toEqual([]);
});

test("a malformed log of any contract leaves nothing", async () => {
  const { hash } = await log(WALLET, [TRANSFER, pad(WALLET), pad(STRANGER), word(7n)], word(1n));
  expect(await rowsAbout("enrich_transfer", hash)).toEqual([]);
  expect(await rowsAbout("own_call", hash)).toMatchObject([{ logs: 1, emitters: [EMITTER] }]);
});

test("counts the newest approval, none that was taken back, and none that a stranger forged", async () => {
  const { usdc, weth, usdcWethPool, usdcDaiPool } = world.chain.contracts;
  await approve(usdc, usdcWethPool, 5n);
  const unlimited = await approve(usdc, usdcWethPool, maxUint256);
  await approve(weth, usdcDaiPool, 5n);
  expect(await rowsAbout("own_call", unlimited.hash)).toMatchObject([
    { effect: "approval", emitters: [lower(usdc)] },
  ]);
  const live = () =>
    readSnapshot(world.db, (client) => readLiveApprovals(client, { chainId: CHAIN_ID, wallets: [WALLET] }));
  const usdcApproval = { token: lower(usdc), spender: lower(usdcWethPool), amount: maxUint256 };
  const wethApproval = { token: lower(weth), amount: 5n };
  expect(await live()).toMatchObject([wethApproval, usdcApproval].toSorted(byToken));
  await approve(weth, usdcDaiPool, 0n);
  const forged = await log(STRANGER, [APPROVAL, pad(WALLET), pad(STRANGER), word(3n)], "0x");
  const ofOther = await log(OTHER, [APPROVAL, pad(OTHER), pad(STRANGER), word(3n)], "0x");
  expect(await rowsAbout("enrich_approval", forged.hash)).toEqual([]);
  expect(await rowsAbout("enrich_approval", ofOther.hash)).toMatchObject([{ owner: OTHER, own: true }]);
  expect(await live()).toMatchObject([usdcApproval]);
});

test("an operator of all tokens is stored until it is dismissed", async () => {
  const emit = (approved: bigint) =>
    world.chain.rpc.request("anvil_setCode", EMITTER, threeTopicCode()).then(() =>
      world.chain.send({
        from: OTHER,
        to: EMITTER,
        data: `${APPROVAL_FOR_ALL}${pad(OTHER).slice(2)}${pad(STRANGER).slice(2)}${word(approved).slice(2)}`,
      }),
    );
  const all = async () => {
    const live = await readSnapshot(world.db, (client) =>
      readLiveApprovals(client, { chainId: CHAIN_ID, wallets: [OTHER] }),
    );
    return live.filter((approval) => approval.kind === "all").map((approval) => approval.spender);
  };
  const given = await emit(1n);
  expect(await rowsAbout("enrich_approval", given.hash)).toMatchObject([{ kind: "all", amount: null }]);
  expect(await all()).toEqual([STRANGER]);
  const taken = await emit(0n);
  await placeLogEmitter(world.chain, EMITTER);
  expect(await rowsAbout("enrich_approval", taken.hash)).toMatchObject([
    { kind: "all", approved: false, amount: null },
  ]);
  expect(await all()).toEqual([]);
});

test("moves the cursor to the newest finalized block, with its hash", async () => {
  const head = await world.index();
  await enrichAll(world);
  const block = (await world.chain.rpc.request("eth_getBlockByNumber", numberToHex(head), false)) as {
    hash: Hex;
  };
  expect(await rowsOf(world, "enrich_cursor")).toEqual([
    { chain_id: CHAIN_ID, block: String(head), block_hash: block.hash },
  ]);
});

/** Logs three topics and then a word, as contracts of ERC-20 do. */
function threeTopicCode(): Hex {
  return "0x606036036060600037604035602035600035606036036000a300";
}

function byToken(a: { token: string }, b: { token: string }): number {
  return a.token < b.token ? -1 : 1;
}
