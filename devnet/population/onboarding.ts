import type { Address, Hex } from "viem";
import { type Habits, habitsOf, own, type Purse, planned } from "./agent.ts";
import { approveToken, mintToken, nameAgentWallet, registerAgent, sendCoin, sendToken } from "./deeds.ts";
import type { PlannedCall } from "./plan-types.ts";
import type { Random } from "./random.ts";
import { HOUR, MINUTE, type Span } from "./rhythm.ts";
import type { Member } from "./roster.ts";
import { type KeyedWallet, signerOf } from "./wallets.ts";
import type { Pool, Token, World } from "./world.ts";

const CHAIN_ID = 31_337;
const MINUTES_UNTIL_ACTIVE = 45;
const USDC_GIFT_DOLLARS = 20_000n;
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

export type Gift = {
  readonly wallet: Address;
  readonly purse: Purse;
  readonly pools: readonly Pool[];
  /** Unix seconds. */
  readonly at: number;
  /** Who sends the native coin; null for an exchange. */
  readonly coinFrom: Address | null;
  /** Wallets that it will itself fund. */
  readonly dependants: number;
};

/** Coins and tokens for a wallet, from an exchange unless another wallet funds it. */
export function fundWallet(world: World, random: Random, gift: Gift): PlannedCall[] {
  const exchange = {
    address: random.pick(world.exchanges).address,
    habits: habitsOf(random.fork("exchange")),
  };
  const funder = gift.coinFrom === null ? exchange : { address: gift.coinFrom, habits: exchange.habits };
  const tokens = tokensOf(gift.purse, gift.pools, world);
  const coin = (COIN * BigInt(random.int(30, 80))) / 10n + 10n * COIN * BigInt(gift.dependants);
  return [
    planned(funder, gift.at, sendCoin(gift.wallet, coin)),
    ...tokens.map((token) => {
      const amount = token.perDollar * USDC_GIFT_DOLLARS;
      return planned(exchange, gift.at, sendToken(token.address, gift.wallet, amount)("success"));
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
  const ownersGift = { purse: "coin", pools: [], at: fundedAt, coinFrom: null, dependants: 0 } as const;
  const registeredAt = joinsAt + random.int(8, 15) * MINUTE;
  const approvals = pools.flatMap((pool) =>
    pool.tokens.map((token) => approveToken(token.address, pool.address)),
  );
  return [
    ...fund(wallet, {
      purse: archetype.purse,
      pools,
      at: leader === null ? fundedAt : joinsAt,
      coinFrom: leader,
      dependants,
    }),
    ...(owner === wallet ? [] : fund(owner, ownersGift)),
    ...(secondOwner === null ? [] : fund(secondOwner, ownersGift)),
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

function register(
  member: Member,
  owner: KeyedWallet,
  { key, at }: { key: string; at: number },
): PlannedCall[] {
  const { context, archetype } = member;
  const registry = context.world.contracts.identityRegistry;
  const actor = { address: owner.address, habits: context.habits };
  const registration = planned(
    actor,
    at,
    registerAgent(registry, key, agentUri(archetype.name, context.index)),
  );
  if (owner === context.wallet) return [registration];
  const signer = signerOf(context.wallet);
  const wallet = signer.address;
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

/** The registration file as a data: document; every fifth one says more than its name. */
function agentUri(archetype: string, index: number): string {
  const name = `${archetype} ${index}`;
  if (index % 5 !== 0) return `data:application/json,${encodeURI(JSON.stringify({ name }))}`;
  const file = {
    type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
    name,
    services: [{ name: "web", endpoint: `https://${archetype}-${index}.example/` }],
    active: true,
  };
  return `data:application/json;base64,${Buffer.from(JSON.stringify(file)).toString("base64")}`;
}

function tokensOf(purse: Purse, pools: readonly Pool[], world: World): readonly Token[] {
  if (purse === "coin") return [];
  if (purse === "usdc") return [world.usdc];
  return [...new Set(pools.flatMap((pool) => pool.tokens))];
}
