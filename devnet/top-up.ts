import { type Address, encodeFunctionData, type Hex } from "viem";
import { localTokenAbi } from "./abi/local-token.ts";
import type { JsonRpc } from "./json-rpc.ts";
import type { LivingActor } from "./live-actors.ts";
import { type AgentContext, habitsOf, own, planned } from "./population/agent.ts";
import { ALLOWED_DOLLARS } from "./population/onboarding.ts";
import type { PlannedCall } from "./population/plan-types.ts";
import { seededRandom } from "./population/random.ts";
import { approveToken, sendCoin, sendToken } from "./population/token-deeds.ts";
import type { Token } from "./population/world.ts";

const LEAST_WEI = 10n ** 18n;
const LEAST_DOLLARS = 2_000n;
const GIFT_WEI = 5n * 10n ** 18n;
const GIFT_DOLLARS = 20_000n;

/** Supplies that keep actors going as long as the chain lives: gifts of exchanges, and new allowances for pools. */
export async function topUps(rpc: JsonRpc, actors: readonly LivingActor[], at: number) {
  const calls: PlannedCall[] = [];
  for (const { context } of actors) {
    const { wallet, world, pools } = context;
    const funder = seededRandom(`${wallet.address}/${at}`).pick(world.exchanges).address;
    const exchange = { address: funder, habits: habitsOf(seededRandom(funder)) };
    const coins = BigInt((await rpc.request("eth_getBalance", wallet.address, "latest")) as Hex);
    if (coins < LEAST_WEI) calls.push(planned(exchange, at, sendCoin(wallet.address, GIFT_WEI)));
    for (const token of new Set([world.usdc, ...pools.flatMap((pool) => pool.tokens)])) {
      const held = await balanceOf(rpc, token, wallet.address);
      // Who never held a token needs none.
      if (held === 0n || held >= LEAST_DOLLARS * token.perDollar) continue;
      const gift = sendToken(token.address, wallet.address, GIFT_DOLLARS * token.perDollar);
      calls.push(planned(exchange, at, gift("success")));
    }
    calls.push(...(await renewedAllowances(rpc, context, at)));
  }
  return calls;
}

/** Approvals anew of what pools have nearly used up; a limit that was lifted never runs down. */
async function renewedAllowances(rpc: JsonRpc, context: AgentContext, at: number): Promise<PlannedCall[]> {
  const { pools, wallet, world } = context;
  const calls: PlannedCall[] = [];
  for (const pool of [...pools, ...world.junkPools]) {
    for (const token of pool.tokens) {
      const allowed = await allowanceOf(rpc, token, [wallet.address, pool.address]);
      // Whom nothing was ever allowed needs nothing.
      if (allowed === 0n || allowed >= LEAST_DOLLARS * token.perDollar) continue;
      calls.push(
        own(context, at, approveToken(token.address, pool.address, ALLOWED_DOLLARS * token.perDollar)),
      );
    }
  }
  return calls;
}

async function allowanceOf(rpc: JsonRpc, token: Token, args: readonly [owner: Address, spender: Address]) {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "allowance", args });
  return BigInt((await rpc.request("eth_call", { to: token.address, data }, "latest")) as Hex);
}

async function balanceOf(rpc: JsonRpc, token: Token, wallet: Address): Promise<bigint> {
  const data = encodeFunctionData({ abi: localTokenAbi, functionName: "balanceOf", args: [wallet] });
  return BigInt((await rpc.request("eth_call", { to: token.address, data }, "latest")) as Hex);
}
