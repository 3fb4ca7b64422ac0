import { expect, test } from "vitest";
import { contractAddresses } from "../../devnet/contract-list.ts";
import type { JsonRpc } from "../../devnet/json-rpc.ts";
import { livingActors } from "../../devnet/live-actors.ts";
import { seededRandom } from "../../devnet/population/random.ts";
import { createWorld } from "../../devnet/population/world.ts";
import { topUps } from "../../devnet/top-up.ts";

const world = createWorld(contractAddresses(), "top-up", 14);
const actors = livingActors(world, [], "top-up").draw(seededRandom("draw")).slice(0, 1);
const COIN = 10n ** 18n;

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

test("an actor low in a token it holds gets that token, and none of a token it never held", async () => {
  const low = await topUps(nodeWith({ coins: 2n * COIN, tokens: 1n }), actors, 1);
  expect(low.map((call) => call.to)).toContain(world.usdc.address);
  expect(await topUps(nodeWith({ coins: 2n * COIN, tokens: 0n }), actors, 1)).toEqual([]);
});

function nodeWith({ coins, tokens }: { coins: bigint; tokens: bigint }): JsonRpc {
  return {
    url: "",
    batch: async () => [],
    request: async (method) => `0x${(method === "eth_getBalance" ? coins : tokens).toString(16)}`,
  };
}
