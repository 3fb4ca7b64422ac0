import { type Address, getContractAddress } from "viem";
import { type AgentContext, type Archetype, habitsOf, type Purse } from "./agent.ts";
import { ARCHETYPES } from "./archetypes/all.ts";
import type { ArchetypeName } from "./plan-types.ts";
import { type Random, seededRandom } from "./random.ts";
import { type KeyedWallet, walletOf } from "./wallets.ts";
import type { Pool, World } from "./world.ts";

/** One agent of the population. */
export type Member = {
  readonly archetype: Archetype;
  readonly context: AgentContext;
  /** Who registered the agent; the acting wallet itself unless it acts for another. */
  readonly owner: KeyedWallet;
  /** Another owner whose agent acts through the same wallet. */
  readonly secondOwner: KeyedWallet | null;
};

/** So many agents, of every archetype by its share and at least one of each, the same for the same seed. */
export function createRoster(world: World, seed: string, wallets: number): Member[] {
  const root = seededRandom(seed);
  return countsByShare(wallets).flatMap(({ archetype, count }) => {
    const own = Array.from({ length: count }, (_, i) => actingWallet(seed, archetype.name, i));
    const peers = own.map((wallet) => wallet.address);
    return own.map((wallet, index) => createMember({ world, seed, root, archetype, wallet, index, peers }));
  });
}

/** The acting wallet of the first member of each archetype. */
export function samplesOf(roster: readonly Member[]): Record<ArchetypeName, Address> {
  const firsts = roster.filter((member) => member.context.index === 0);
  const entries = firsts.map((member) => [member.archetype.name, member.context.wallet.address]);
  return Object.fromEntries(entries) as Record<ArchetypeName, Address>;
}

/** The pools that a wallet with this purse trades on. */
export function poolsOf(random: Random, purse: Purse, world: World): readonly Pool[] {
  if (typeof purse === "string") return [];
  const stream = random.fork("pools");
  return stream.sample(world.pools, stream.int(...purse.pools));
}

function createMember({
  world,
  seed,
  root,
  archetype,
  ...acting
}: Pick<AgentContext, "world" | "wallet" | "index" | "peers"> & {
  readonly seed: string;
  readonly root: Random;
  readonly archetype: Archetype;
}): Member {
  const { wallet, index } = acting;
  const label = `${archetype.name}/${index}`;
  const random = root.fork(label);
  const cannotRegister = actsThroughAccount(archetype.name) || sendsNothing(archetype.name);
  const actsForAnother = cannotRegister || (actsForOwners(archetype.name) && index % 6 === 1);
  const habits = habitsOf(random);
  const pools = poolsOf(random, archetype.purse, world);
  return {
    archetype,
    context: { ...acting, random, label, habits, pools, world },
    owner: actsForAnother ? walletOf(seed, `${label}/owner`) : wallet,
    secondOwner:
      actsForAnother && !cannotRegister && index === 1 ? walletOf(seed, `${label}/second-owner`) : null,
  };
}

/** Its own key's wallet, or the smart account that is its owner's first creation, with the key of that owner. */
function actingWallet(seed: string, name: ArchetypeName, index: number): KeyedWallet {
  const label = `${name}/${index}`;
  if (!actsThroughAccount(name)) return walletOf(seed, label);
  const { address: from, privateKey } = walletOf(seed, `${label}/owner`);
  return { address: getContractAddress({ from, nonce: 0n }), privateKey };
}

/** Whether agents of the archetype act through a smart account. */
export function actsThroughAccount(name: ArchetypeName): boolean {
  return name === "smart-account";
}

/** Whether the wallets of an archetype send no transaction: their owners register them. */
function sendsNothing(name: ArchetypeName): boolean {
  return name === "x402-payer" || name === "x402-seller";
}

function actsForOwners(name: ArchetypeName): boolean {
  return name === "keeper" || name === "payment-agent" || name === "oracle-feeder" || name === "recovering";
}

/** One of each, the rest by largest remainder. */
function countsByShare(wallets: number): { archetype: Archetype; count: number }[] {
  if (wallets < ARCHETYPES.length) {
    throw new Error(`${wallets} wallets are too few: at least ${ARCHETYPES.length}, one of each archetype`);
  }
  const total = ARCHETYPES.reduce((sum, archetype) => sum + archetype.share, 0);
  const exact = ARCHETYPES.map((archetype) => (archetype.share / total) * wallets);
  const counts = exact.map((share) => Math.max(1, Math.floor(share)));
  const sum = (): number => counts.reduce((a, b) => a + b, 0);
  const step = sum() > wallets ? -1 : 1;
  while (sum() !== wallets) {
    const gaps = exact.map((share, i) => step * (share - (counts[i] ?? 0)));
    const open = gaps.map((gap, i) => (step < 0 && counts[i] === 1 ? Number.NEGATIVE_INFINITY : gap));
    const most = open.indexOf(Math.max(...open));
    counts[most] = (counts[most] ?? 0) + step;
  }
  return ARCHETYPES.map((archetype, i) => ({ archetype, count: counts[i] ?? 0 }));
}
