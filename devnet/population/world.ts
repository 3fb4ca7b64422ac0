import type { Address } from "viem";
import { roleAccounts } from "../accounts.ts";
import { type Contracts, keeperTargets, priceFeeds } from "../contract-list.ts";
import { walletOf } from "./wallets.ts";

export type Pool = {
  readonly address: Address;
  readonly tokens: readonly [Token, Token];
};

export type Token = {
  readonly address: Address;
  /** Smallest units worth about one US dollar. */
  readonly perDollar: bigint;
};

/** Everything and everyone that agents deal with. */
export type World = ReturnType<typeof createWorld>;

const MERCHANT_SHARE = 0.2;
const CLIENT_SHARE = 0.2;
/** Fewer could not make the counterparties of so many kinds of agents independent of each of them. */
const LEAST_USERS = 80;
const SHOPS = 60;

/** The world of a seed with so many background users (at least 80). */
export function createWorld(contracts: Contracts, seed: string, userCount: number) {
  const users = Array.from({ length: Math.max(LEAST_USERS, userCount) }, (_, i) =>
    walletOf(seed, `user/${i}`),
  );
  const addresses = users.map((user) => user.address);
  const merchantCount = Math.round(users.length * MERCHANT_SHARE);
  const clientCount = Math.round(users.length * CLIENT_SHARE);
  const usdc = { address: contracts.usdc, perDollar: 1_000_000n };
  const weth = { address: contracts.weth, perDollar: 10n ** 18n / 2_000n };
  const dai = { address: contracts.dai, perDollar: 10n ** 18n };
  const pool = (address: Address, tokens: Pool["tokens"]): Pool => ({ address, tokens });
  const junk = (address: Address): Token => ({ address, perDollar: 100n * 10n ** 18n });
  return {
    seed,
    contracts,
    keeperTargets: keeperTargets(contracts),
    feeds: priceFeeds(contracts),
    usdc,
    weth,
    dai,
    pools: [
      pool(contracts.usdcWethPool, [usdc, weth]),
      pool(contracts.daiWethPool, [dai, weth]),
      pool(contracts.usdcDaiPool, [usdc, dai]),
    ],
    /** Pools of USDC with a token that nothing prices. */
    junkPools: [
      pool(contracts.usdcMoonPool, [usdc, junk(contracts.moonToken)]),
      pool(contracts.usdcFrogPool, [usdc, junk(contracts.frogToken)]),
    ],
    /** People who are no agents: they call the same contracts, get paid and order jobs. */
    users,
    /** Where other people than agents buy; more of them than anyone visits. */
    shops: Array.from({ length: SHOPS }, (_, i) => walletOf(seed, `shop/${i}`).address),
    /** The users who sell something. */
    merchants: addresses.slice(0, merchantCount),
    /** The users who order jobs. */
    clients: addresses.slice(-clientCount),
    evaluators: [0, 1].map((i) => walletOf(seed, `evaluator/${i}`)),
    /** Public funders: wallets get their first coins from one of them. */
    exchanges: [0, 1, 2].map((i) => walletOf(seed, `exchange/${i}`)),
    /** Sends the operations of smart accounts. */
    bundler: walletOf(seed, "bundler"),
    /** Sends the payments that others signed, by x402. */
    facilitator: walletOf(seed, "facilitator"),
    /** The agent from whom agents buy by x402: the first of its archetype. */
    x402Seller: walletOf(seed, "x402-seller/0").address,
    /** Drops worthless tokens and dust on wallets. */
    spammer: walletOf(seed, "spammer"),
    /** Breaks the repairable target for others. */
    saboteur: walletOf(seed, "saboteur"),
    /** Owns the sanctions list. */
    sanctionsOwner: roleAccounts().deployer.address,
  };
}
