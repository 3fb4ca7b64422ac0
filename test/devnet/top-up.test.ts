import { expect, test } from "vitest";
import { contractAddresses } from "../../devnet/contract-list.ts";
import type { JsonRpc } from "../../devnet/json-rpc.ts";
import { livingActors } from "../../devnet/live-actors.ts";
import { seededRandom } from "../../devnet/population/random.ts";
import { createRoster } from "../../devnet/population/roster.ts";
import { createWorld } from "../../devnet/population/world.ts";
import { topUps } from "../../devnet/top-up.ts";

const world = createWorld(contractAddresses(), "top-up", 14);
const actors = livingActors(world, [], "top-up").draw(seededRandom("draw")).slice(0, 1);
const COIN = 10n ** 18n;
/** allowance(address,address) */
const ALLOWANCE = "0xdd62ed3e";

test("an actor with enough of everything gets nothing", async () => {
  expect(await topUps(nodeWith({ coins: 2n * COIN, tokens: 10n ** 30n }), actors, 1)).toEqual([]);
});

test("an actor low in coins gets coins from an exchange", async () => {
  const calls = await topUps(nodeWith({ coins: COIN / 2n, tokens: 10n ** 30n }), actors, 1);
  expect(calls.map((call) => [call.to, call.value])).toEqual([
    [actors[0]?.context.wallet.address, 5n * COIN],
  ]);
  expect(world.exchanges.map((exchange) => exchange.address)).toContain(calls[0]?.from);
});

test("a trader allows its pools anew what they have nearly used up", async () => {
  const trader = createRoster(world, "top-up", 30).find(({ context }) => context.pools.length > 0);
  if (trader === undefined) throw new Error("nobody trades");
  const { context } = trader;
  const { wallet, pools } = context;
  const calls = await topUps(
    nodeWith({ coins: 2n * COIN, tokens: 10n ** 30n, allowances: 1n }),
    [{ context, step: () => [] }],
    1,
  );
  expect(calls.map((call) => call.from)).toContain(wallet.address);
  for (const token of pools.flatMap((pool) => pool.tokens)) {
    expect(calls.map((call) => call.to)).toContain(token.address);
  }
});

test("an actor low in a token it holds gets that token, and none of a token it never held", async () => {
  const low = await topUps(nodeWith({ coins: 2n * COIN, tokens: 1n }), actors, 1);
  expect(low.map((call) => call.to)).toContain(world.usdc.address);
  expect(await topUps(nodeWith({ coins: 2n * COIN, tokens: 0n }), actors, 1)).toEqual([]);
});

type Holdings = { readonly coins: bigint; readonly tokens: bigint; readonly allowances?: bigint };

function nodeWith({ coins, tokens, allowances = 10n ** 30n }: Holdings): JsonRpc {
  return {
    url: "",
    batch: async () => [],
    request: async (method, call) => {
      if (method === "eth_getBalance") return `0x${coins.toString(16)}`;
      const isAllowance = (call as { readonly data: string }).data.startsWith(ALLOWANCE);
      return `0x${(isAllowance ? allowances : tokens).toString(16)}`;
    },
  };
}
