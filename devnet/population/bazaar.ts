import type { Address } from "viem";
import { habitsOf, planned } from "./agent.ts";
import { dataUri } from "./agent-document.ts";
import type { PlannedBlock } from "./blocks.ts";
import { registerAgent } from "./deeds.ts";
import { seededRandom } from "./random.ts";
import type { Member } from "./roster.ts";
import type { World } from "./world.ts";

/** Name of the second registry of agents, as the deployment calls it. */
export const BAZAAR_NAME = "Agent Bazaar";

/** Agents of the first registry that are registered here as well. */
const FROM_FIRST = 3;
const TRADES = ["Courier", "Translator", "Price Scout", "Bookkeeper", "Night Watch"] as const;

/**
 * The block in which agents register in the second registry: three wallets of the first, under the same owner, and five of people
 * who are agents here alone.
 */
export function planBazaar(
  { world, roster }: { readonly world: World; readonly roster: readonly Member[] },
  time: number,
): PlannedBlock {
  const registered = roster.filter(({ owner, context, archetype }) => {
    return owner === context.wallet && context.index === 0 && archetype.step !== null;
  });
  const agents = [
    ...registered.slice(0, FROM_FIRST).map(({ context, archetype }) => ({
      wallet: context.wallet.address,
      name: `Bazaar ${archetype.name}`,
    })),
    ...TRADES.flatMap((name, i) => {
      const wallet = world.users[i]?.address;
      return wallet === undefined ? [] : [{ wallet, name }];
    }),
  ];
  return { time, calls: agents.map((agent) => registration(world, agent, time)) };
}

function registration(world: World, { wallet, name }: { wallet: Address; name: string }, time: number) {
  const habits = habitsOf(seededRandom(`${world.seed}/bazaar/${wallet}`));
  const deed = registerAgent(
    world.contracts.agentBazaar,
    `bazaar/${name}`,
    dataUri(JSON.stringify({ name })),
  );
  return planned({ address: wallet, habits }, time, deed);
}
