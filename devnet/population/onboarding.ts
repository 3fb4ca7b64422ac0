import type { Address, Hex } from "viem";
import { smartAccountCreationCode } from "../contract-list.ts";
import { type Habits, habitsOf, own, type Purse, planned } from "./agent.ts";
import { agentUri } from "./agent-document.ts";
import { createContract, nameAgentWallet, registerAgent } from "./deeds.ts";
import type { PlannedCall } from "./plan-types.ts";
import type { Random } from "./random.ts";
import { HOUR, MINUTE, type Span } from "./rhythm.ts";
import { actsThroughAccount, type Member } from "./roster.ts";
import { approveToken, mintToken, sendCoin, sendToken } from "./token-deeds.ts";
import { type KeyedWallet, signerOf } from "./wallets.ts";
import type { Pool, Token, World } from "./world.ts";

const CHAIN_ID = 31_337;
const MINUTES_UNTIL_ACTIVE = 45;
const GIFT_DOLLARS = 20_000n;
/** More than anyone sells of a token in 90 days. */
export const ALLOWED_DOLLARS = 25_000n;
const COIN = 10n ** 18n;

/** The exchanges' stock, given to them at the start of the history. */
export function stockExchanges(world: World, start: number, habits: Habits): PlannedCall[] {
  const minter = { address: world.sanctionsOwner, habits };
  return world.exchanges.flatMap((exchange) =>
    [world.usdc, world.weth, world.dai].map((token) =>
      planned(minter, start, mintToken(token.address, exchange.address, token.perDollar * 1_000_000_000n)),
    ),
  );
}

/** The first coins of the shops, before anyone buys there: an exchange's, so that no customer becomes their founder. */
export function openShops(world: World, start: number, habits: Habits): PlannedCall[] {
  const [exchange] = world.exchanges;
  if (!exchange) throw new Error("a world without exchanges cannot open its shops");
  const from = { address: exchange.address, habits };
  return world.shops.map((shop) => planned(from, start, sendCoin(shop, COIN / 100n)));
}

type Gift = {
  readonly wallet: Address;
  readonly purse: Purse;
  readonly pools: readonly Pool[];
  /** Unix seconds. */
  readonly at: number;
  /** Who sends all of it; null for an exchange. */
  readonly from: Address | null;
  /** Wallets that it will itself fund. */
  readonly dependants: number;
};

/** Coins and tokens for a wallet, from an exchange unless another wallet funds it. */
export function fundWallet(world: World, random: Random, gift: Gift): PlannedCall[] {
  const exchange = {
    address: random.pick(world.exchanges).address,
    habits: habitsOf(random.fork("exchange")),
  };
  const funder = gift.from === null ? exchange : { address: gift.from, habits: exchange.habits };
  const tokens = tokensOf(gift.purse, gift.pools, world);
  const coin = (COIN * BigInt(random.int(30, 80))) / 10n + 10n * COIN * BigInt(gift.dependants);
  return [
    planned(funder, gift.at, sendCoin(gift.wallet, coin)),
    ...tokens.map((token) => {
      const amount = token.perDollar * GIFT_DOLLARS * BigInt(1 + gift.dependants);
      return planned(funder, gift.at, sendToken(token.address, gift.wallet, amount)("success"));
    }),
  ];
}

/** Unix seconds from which a member acts on its own. */
export function activeFrom(joinsAt: number): number {
  return joinsAt + MINUTES_UNTIL_ACTIVE * MINUTE;
}

/** Funds a member, registers its agent or agents, names its wallet and allows the pools its tokens. */
export function onboard(member: Member, joinsAt: number, history: Span): PlannedCall[] {
  const { archetype, context, owner, secondOwner } = member;
  const { world, wallet, pools } = context;
  const random = context.random.fork("onboarding");
  const ring = archetype.name === "self-dealing-ring" ? context.peers : [];
  const leader = ring[0] === wallet.address ? null : (ring[0] ?? null);
  const dependants = leader === null ? Math.max(0, ring.length - 1) : 0;
  // The leader of a ring needs its coins before any of the others joins.
  const fundedAt =
    dependants > 0
      ? history.start
      : Math.max(history.start, Math.floor(joinsAt - random.between(0.5, 1.5) * HOUR));
  const fund = (keyed: KeyedWallet, gift: Omit<Gift, "wallet">): PlannedCall[] =>
    fundWallet(world, random, { wallet: keyed.address, ...gift });
  const ownersGift = { purse: "coin", pools: [], at: fundedAt, from: null, dependants: 0 } as const;
  const registeredAt = joinsAt + random.int(8, 15) * MINUTE;
  const approvals = pools.flatMap((pool) =>
    pool.tokens.map((token) => approveToken(token.address, pool.address, token.perDollar * ALLOWED_DOLLARS)),
  );
  return [
    ...fund(wallet, {
      purse: archetype.purse,
      pools,
      at: leader === null ? fundedAt : joinsAt,
      from: leader,
      dependants,
    }),
    ...(owner === wallet ? [] : fund(owner, ownersGift)),
    ...(secondOwner === null ? [] : fund(secondOwner, ownersGift)),
    ...(actsThroughAccount(archetype.name) ? [createAccount(member, joinsAt)] : []),
    ...register(member, owner, { key: `agent/${context.label}`, at: registeredAt }),
    ...(secondOwner === null
      ? []
      : register(member, secondOwner, {
          key: `agent/${context.label}/second`,
          at: registeredAt + 5 * MINUTE,
        })),
    ...approvals.map((deed, i) => own(context, registeredAt + (20 + 2 * i) * MINUTE, deed)),
  ];
}

/** The owner's first transaction, from which the account has its address. */
function createAccount({ context, owner }: Member, at: number): PlannedCall {
  const { habits, world } = context;
  const code = smartAccountCreationCode(owner.address, world.contracts.entryPoint);
  return planned({ address: owner.address, habits }, at, createContract(code));
}

function register(member: Member, owner: KeyedWallet, { key, at }: { key: string; at: number }) {
  const { context, archetype } = member;
  const registry = context.world.contracts.identityRegistry;
  const actor = { address: owner.address, habits: context.habits };
  const registration = planned(
    actor,
    at,
    registerAgent(registry, key, agentUri(context.random, archetype.name, context.index)),
  );
  if (owner === context.wallet) return [registration];
  const signer = signerOf(context.wallet);
  const wallet = context.wallet.address;
  const naming = nameAgentWallet(
    registry,
    { key, wallet },
    ({ agentId, deadline }): Promise<Hex> =>
      signer.signTypedData({
        domain: {
          name: "ERC8004IdentityRegistry",
          version: "1",
          chainId: CHAIN_ID,
          verifyingContract: registry,
        },
        types: {
          AgentWalletSet: [
            { name: "agentId", type: "uint256" },
            { name: "newWallet", type: "address" },
            { name: "owner", type: "address" },
            { name: "deadline", type: "uint256" },
          ],
        },
        primaryType: "AgentWalletSet",
        message: { agentId, newWallet: wallet, owner: owner.address, deadline },
      }),
  );
  return [registration, planned(actor, at + 2 * MINUTE, naming)];
}

function tokensOf(purse: Purse, pools: readonly Pool[], world: World): readonly Token[] {
  if (purse === "coin") return [];
  if (purse === "usdc") return [world.usdc];
  return [...new Set(pools.flatMap((pool) => pool.tokens))];
}
