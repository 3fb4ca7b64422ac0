import type { Address } from "viem";
import { roleAccounts } from "../accounts.ts";
import { type Contracts, keeperTargets, priceFeeds } from "../contract-list.ts";
import { type KeyedWallet, walletOf } from "./wallets.ts";

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
export type World = {
  readonly seed: string;
  readonly contracts: Contracts;
  readonly keeperTargets: readonly Address[];
  readonly feeds: readonly { readonly address: Address; readonly answer: bigint }[];
  readonly usdc: Token;
  readonly weth: Token;
  readonly dai: Token;
  readonly pools: readonly Pool[];
  /** Pools of USDC with a token that nothing prices. */
  readonly junkPools: readonly Pool[];
  /** People who are no agents: they call the same contracts, get paid and order jobs. */
  readonly users: readonly KeyedWallet[];
  /** The users who sell something. */
  readonly merchants: readonly Address[];
  /** Where other people than agents buy; more of them than anyone visits. */
  readonly shops: readonly Address[];
  /** The users who order jobs. */
  readonly clients: readonly Address[];
  readonly evaluators: readonly KeyedWallet[];
  /** Public funders: wallets get their first coins from one of them. */
  readonly exchanges: readonly KeyedWallet[];
  /** Sends the operations of smart accounts. */
  readonly bundler: KeyedWallet;
  /** Drops worthless tokens and dust on wallets. */
  readonly spammer: KeyedWallet;
  /** Breaks the repairable target for others. */
  readonly saboteur: KeyedWallet;
  /** Owns the sanctions list. */
  readonly sanctionsOwner: Address;
};

const MERCHANT_SHARE = 0.2;
const CLIENT_SHARE = 0.2;
/** Fewer could not make the counterparties of so many kinds of agents independent of each of them. */
const LEAST_USERS = 80;
const SHOPS = 60;

/** The world of a seed with so many background users (at least 80). */
export function createWorld(contracts: Contracts, seed: string, userCount: number): World {
  const users = Array.from({ length: Math.max(LEAST_USERS, userCount) }, (_, i) =>
    walletOf(seed, `user/${i}`),
  );
  const addresses = users.map((user) => user.address);
  const merchantCount = Math.round(users.length * MERCHANT_SHARE);
  const clientCount = Math.round(users.length * CLIENT_SHARE);
  const usdc = { address: contracts.usdc, perDollar: 1_000_000n };
  const weth = { address: contracts.weth, perDollar: 10n ** 18n / 2_000n };
  const dai = { address: contracts.dai, perDollar: 10n ** 18n };
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
      { address: contracts.usdcWethPool, tokens: [usdc, weth] },
      { address: contracts.daiWethPool, tokens: [dai, weth] },
      { address: contracts.usdcDaiPool, tokens: [usdc, dai] },
    ],
    junkPools: [
      { address: contracts.usdcMoonPool, tokens: [usdc, junk(contracts.moonToken)] },
      { address: contracts.usdcFrogPool, tokens: [usdc, junk(contracts.frogToken)] },
    ],
    users,
    shops: Array.from({ length: SHOPS }, (_, i) => walletOf(seed, `shop/${i}`).address),
    merchants: addresses.slice(0, merchantCount),
    clients: addresses.slice(-clientCount),
    evaluators: [0, 1].map((i) => walletOf(seed, `evaluator/${i}`)),
    exchanges: [0, 1, 2].map((i) => walletOf(seed, `exchange/${i}`)),
    bundler: walletOf(seed, "bundler"),
    spammer: walletOf(seed, "spammer"),
    saboteur: walletOf(seed, "saboteur"),
    sanctionsOwner: roleAccounts().deployer.address,
  };
}
