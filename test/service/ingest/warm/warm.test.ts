import { Registry } from "prom-client";
import { type Address, encodeFunctionData, type Hex, maxUint256, numberToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { localTokenAbi } from "../../../../devnet/abi/local-token.ts";
import { createRpcSource } from "../../../../service/ingest/history/rpc-source.ts";
import { createWarmMetrics, newWarmState, warmOnce } from "../../../../service/ingest/warm/run-warm.ts";
import type { WarmContext } from "../../../../service/ingest/warm/warm-context.ts";
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
  await act(6);
  late = (await chain.head()) + 1;
  await act(2);
  for (const wallet of WALLETS) await world.followSince(wallet, 1);
  await world.index();
  await enrichAll(world);
  live = await storedRows();
  await forgetAll(world);
  await forgetIndexBefore(late);
  for (const wallet of WALLETS) await world.followSince(wallet, late);
  await world.index();
  await enrichAll(world, { warms: true });
});
afterAll(() => world.close());

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

/** What wallets and others do in some rounds: calls, failures, tokens, approvals that others draw on, contracts, coin. */
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

function warmContext(signal = new AbortController().signal): WarmContext {
  return {
    enrich: contextOf(world, (real) => real, { tasks: ["warm"] }),
    source: createRpcSource({ url: world.chain.rpcUrl, l1Fee: "none" }),
    random: () => 0.5,
    now: () => new Date("2026-11-23T00:00:00Z"),
    signal,
  };
}

async function warmAll(context: WarmContext): Promise<number> {
  const state = newWarmState(context.source);
  const metrics = createWarmMetrics(new Registry());
  let slices = 0;
  while (await warmOnce(context, state, metrics)) slices += 1;
  return slices;
}

test("warmed wallets have the rows of wallets that were followed live, and the coverage of the past", async () => {
  expect(await warmAll(warmContext())).toBeGreaterThan(2);
  expect(await storedRows()).toEqual(live);
  expect(await rowsOf(world, "kept_history")).toMatchObject(
    WALLETS.map((wallet) => ({
      ...{ chain_id: CHAIN_ID, wallet, source: "rpc", complete: true, from_nonce: "0" },
      ...{ from_block: "0", from_timestamp: "0", to_block: String(late) },
    })),
  );
  expect(await rowsOf(world, "enrich_wallet")).toMatchObject(
    WALLETS.map((wallet) => ({ wallet, warm_open: false })),
  );
});
