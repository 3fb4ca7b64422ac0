import { Registry } from "prom-client";
import { type Address, encodeFunctionData, type Hex, maxUint256, numberToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import type {
  BatchSource,
  BatchTransaction,
  WalletsBlock,
} from "../../../../service/ingest/history/batch-source.ts";
import { createRpcSource } from "../../../../service/ingest/history/rpc-source.ts";
import { createWarmMetrics, newWarmState, warmOnce } from "../../../../service/ingest/warm/run-warm.ts";
import type { WarmContext } from "../../../../service/ingest/warm/warm-context.ts";
import { ENOUGH_CALLS } from "../../../../service/ingest/warm/warm-state.sql.ts";
import { compareCalls, formatCall } from "../../../../service/model/features/call-line.ts";
import { readOwnCalls, scanBlocks } from "../../../../service/scores/verify/read-own-calls.ts";
import {
  allRows,
  CHAIN_ID,
  contextOf,
  createEnrichWorld,
  type EnrichWorld,
  enrichAll,
  forgetAll,
  rowsOf,
  SCHEMA,
} from "../enrich/enrich-world.ts";

const WALLETS = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const satisfies readonly Address[];
const STRANGER: Address = `0x${"c3".repeat(20)}`;

let world: EnrichWorld;
/** Rows of the chain as they are with every wallet followed from its first block on. */
let live: Record<string, readonly unknown[]>;
/** A contract that the first wallet created, which calls another. */
let own: Address | null = null;
/** Block from which on the warmed wallets are followed. */
let late: number;

beforeAll(async () => {
  world = await createEnrichWorld();
  const { chain } = world;
  for (const account of [...WALLETS, STRANGER])
    await chain.rpc.request("anvil_setBalance", account, numberToHex(10n ** 20n));
  await act(3);
  late = (await chain.head()) + 1;
  await act(2);
  for (const wallet of WALLETS) await world.followSince(wallet, 1);
  await world.index();
  await enrichAll(world);
  live = await storedRows();
  await followLate();
});
afterAll(() => world.close());

/** Begins anew with an index that follows the wallets from `late` on. */
async function followLate(): Promise<void> {
  await forgetAll(world);
  await world.client.query("truncate ahs.stored_history, ahs.quarantine");
  await forgetIndexBefore(late);
  for (const wallet of WALLETS) await world.followSince(wallet, late);
  await world.index();
  await enrichAll(world, { warms: true });
}

async function forgetIndexBefore(block: number): Promise<void> {
  await world.client.query(`delete from ${SCHEMA}.block where number < ${block}`);
  await world.client.query(`delete from ${SCHEMA}.transaction where block < ${block}`);
  await world.client.query(`delete from ${SCHEMA}.wallet`);
}

/** Runtime code that calls a contract with its own calldata, behind the code that creates it. */
function forwarderTo(contract: Address): Hex {
  return `0x6027600c60003960276000f3${"366000600037600060003660006000"}73${contract.slice(2)}5af100`;
}

/** Creates a contract as a wallet; its address. */
async function create(from: Address, data: Hex): Promise<Address> {
  const { rpc } = world.chain;
  await rpc.request("anvil_impersonateAccount", from);
  const gas = numberToHex(500_000n);
  const hash = await rpc.request("eth_sendTransaction", { from, data, gas });
  await world.chain.tick();
  const receipt = (await rpc.request("eth_getTransactionReceipt", hash)) as { contractAddress: Address };
  return receipt.contractAddress.toLowerCase() as Address;
}

/** Has wallets and others act in some rounds: calls, failures, tokens, approvals that others draw on, contracts, coin. */
async function act(rounds: number): Promise<void> {
  const { chain } = world;
  const { usdc, weth, usdcWethPool, keeperTarget2 } = chain.contracts;
  own ??= await create(WALLETS[0], forwarderTo(keeperTarget2));
  for (let round = 0; round < rounds; round += 1) {
    for (const [place, wallet] of WALLETS.entries()) {
      const other = WALLETS[1 - place] ?? STRANGER;
      await chain.succeed(wallet);
      await chain.revert(wallet);
      await world.mint(usdc, wallet, 1_000n);
      await chain.send({
        from: wallet,
        to: usdc,
        data: token("transfer", [round % 2 === 0 ? other : STRANGER, 5n]),
      });
      await chain.send({
        from: wallet,
        to: round === 0 ? usdc : weth,
        data: token("approve", [usdcWethPool, maxUint256]),
      });
      await chain.send({ from: STRANGER, to: wallet, value: 10n ** 15n });
    }
    await chain.succeed(STRANGER);
    await chain.succeed(WALLETS[0], own);
  }
}

function token(functionName: "transfer" | "approve", args: readonly [Address, bigint]) {
  return encodeFunctionData({ abi: localTokenAbi, functionName, args });
}

/** All rows of the wallets and the chain; which day's prices were asked for when is left out. */
async function storedRows() {
  const prices = await rowsOf(world, "feed_price");
  const facts = await rowsOf(world, "account_fact");
  return { ...(await allRows(world)), prices: prices.map(({ block: _, ...price }) => price), facts };
}

/** A source that gives its blocks otherwise. */
function changing(source: BatchSource, change: (block: WalletsBlock) => WalletsBlock | null): BatchSource {
  return {
    ...source,
    readWallets: async function* (request, signal) {
      for await (const answer of source.readWallets(request, signal)) {
        if (answer.kind === "failed") yield answer;
        else yield { ...answer, blocks: answer.blocks.map(change).filter((block) => block !== null) };
      }
    },
  };
}

function warmContext(change: (block: WalletsBlock) => WalletsBlock | null = (block) => block): WarmContext {
  return {
    enrich: contextOf(world, (real) => real, { tasks: ["warm"] }),
    source: changing(createRpcSource({ url: world.chain.rpcUrl, l1Fee: "none" }), change),
    mostCalls: 2 * ENOUGH_CALLS,
    random: Math.random,
    now: () => new Date("2026-11-23T00:00:00Z"),
    signal: new AbortController().signal,
  };
}

/** Warms until nothing is left, or so many slices. */
async function warmAll(context: WarmContext, most = 100): Promise<number> {
  const state = newWarmState(context.source);
  const metrics = createWarmMetrics(new Registry());
  let slices = 0;
  while (slices < most && (await warmOnce(context, state, metrics))) slices += 1;
  return slices;
}

/** Forgets what was warmed: the wallets are open again. */
async function forgetPast(): Promise<void> {
  await world.client.query(`
    truncate ahs.stored_history, ahs.quarantine;
    update ahs.enrich_wallet set warm_open = true;
    delete from ahs.own_call where block < ${late};
    delete from ahs.enrich_transfer where block < ${late}`);
}

async function readStored() {
  const { rows } = await world.client.query(`
    select wallet, complete, from_nonce::int as "fromNonce", from_block > 0 as cut from ahs.stored_history order by wallet`);
  return rows;
}

async function readQuarantined() {
  const { rows } = await world.client.query("select subject, error from ahs.quarantine order by subject");
  return rows;
}

test("warmed wallets have the rows of wallets that were followed live, and the coverage of the past", async () => {
  expect(await warmAll(warmContext())).toBeGreaterThan(2);
  expect(await storedRows()).toEqual(live);
  expect(await rowsOf(world, "stored_history")).toMatchObject(
    WALLETS.map((wallet) => ({
      ...{ chain_id: CHAIN_ID, wallet, source: "rpc", complete: true, from_nonce: "0" },
      ...{ from_block: "0", from_timestamp: "0", to_block: String(late) },
    })),
  );
  expect(await rowsOf(world, "enrich_wallet")).toMatchObject(
    WALLETS.map((wallet) => ({ wallet, warm_open: false })),
  );
});

test("a verifier reads the same calls of a warmed wallet from a node alone", async () => {
  const { chain, client } = world;
  const { client: node, rule, entryPoints, market } = contextOf(world, (real) => real);
  const { rows: blocks } = await client.query(
    `select number::int as "blockNumber", hash as "blockHash", timestamp::int as timestamp
     from ${SCHEMA}.block order by number desc limit 1`,
  );
  const [asOf] = blocks;
  for (const wallet of WALLETS) {
    const calls = await readOwnCalls(node, scanBlocks(node), {
      ...{ wallet, asOf, fromBlock: 0, fromTimestamp: 0, rule, entryPoints, tokens: market.listed },
      wrappedNative: chain.contracts.weth.toLowerCase() as Address,
      isUntraced: () => false,
    });
    const { rows } = await client.query(
      "select line from ahs.own_call where wallet = $1 order by block, transaction_index, position",
      [wallet],
    );
    expect(calls.toSorted(compareCalls).map(formatCall)).toEqual(rows.map(({ line }) => line));
  }
});

test("a source that cannot be believed leaves no coverage, and every wallet in quarantine", async () => {
  const faults: readonly [RegExp, (block: WalletsBlock) => WalletsBlock | null][] = [
    [/hash of block/, (block) => ({ ...block, header: { ...block.header, hash: `0x${"ab".repeat(32)}` } })],
    [
      /the value of transaction/,
      changed((one) => ({ ...one, transaction: { ...one.transaction, value: 7n } })),
    ],
    [/the used gas of transaction/, changed((one) => ({ ...one, receipt: { ...one.receipt, gasUsed: 1n } }))],
    [/a log of/, (block) => ({ ...block, logs: block.logs.map((log) => ({ ...log, data: "0x01" })) })],
    [
      /nonces/,
      (block) => ({
        ...block,
        transactions: block.transactions.filter(({ transaction }) => transaction.nonce % 7 !== 3),
      }),
    ],
  ];
  for (const [text, change] of faults) {
    await forgetPast();
    await warmAll(warmContext(change), 12);
    const quarantined = await readQuarantined();
    expect(quarantined.map(({ subject }) => subject)).toEqual(WALLETS);
    for (const { error } of quarantined) expect(error).toMatch(text);
    expect((await readStored()).every(({ cut }) => cut)).toBe(true);
  }
});

function changed(change: (one: BatchTransaction) => BatchTransaction) {
  return (block: WalletsBlock) => ({ ...block, transactions: block.transactions.map(change) });
}

test("blocks that were read before an interruption are not read again, and the end is the same", async () => {
  await forgetPast();
  expect(await warmAll(warmContext(), 2)).toBe(2);
  const [first] = await readStored();
  expect(first).toMatchObject({ wallet: WALLETS[0], cut: true });
  const asked: number[] = [];
  const context = warmContext();
  const { source } = context;
  const readWallets: BatchSource["readWallets"] = (request, signal) => {
    asked.push(request.to);
    return source.readWallets(request, signal);
  };
  await warmAll({ ...context, source: { ...source, readWallets } });
  const { rows } = await world.client.query(`select count(*)::int as calls from ahs.own_call`);
  expect(rows).toEqual([{ calls: live.own_call?.length }]);
  expect(Math.max(...asked)).toBeLessThan(late);
  expect(await readStored()).toEqual(
    WALLETS.map((wallet) => ({ wallet, complete: true, fromNonce: 0, cut: false })),
  );
});

test("a slice with too many calls of one wallet is read again in shorter ones, and nothing counts twice", async () => {
  await followLate();
  const whole = await warmAll(warmContext());
  await followLate();
  expect(await warmAll({ ...warmContext(), mostCalls: 1 })).toBeGreaterThan(whole);
  expect(await storedRows()).toEqual(live);
  expect(await readStored()).toEqual(
    WALLETS.map((wallet) => ({ wallet, complete: true, fromNonce: 0, cut: false })),
  );
});

test("a wallet with more calls than a record is made of is not read to the edge, and its coverage says so", async () => {
  await forgetPast();
  await world.client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, ok,
       gas_limit, gas_used, gas_price_wei, fee_wei)
     select ${CHAIN_ID}, $1, ${late}, 1000 + n, 0, '0x' || lpad(to_hex(n), 64, '0'), 'transaction', 'enrich', 1, true, 1, 1, 1, 1
     from generate_series(1, ${ENOUGH_CALLS}) n`,
    [WALLETS[0]],
  );
  await warmAll(warmContext());
  const stored = await readStored();
  expect(stored).toMatchObject([
    { wallet: WALLETS[0], complete: false, cut: true },
    { wallet: WALLETS[1], complete: true, cut: false },
  ]);
});
