import type { Address } from "viem";
import { habitsOf, planned } from "./agent.ts";
import { dataUri } from "./agent-document.ts";
import type { PlannedBlock } from "./blocks.ts";
import { createService, launchAgent, registerAgent } from "./deeds.ts";
import type { Deed } from "./plan-types.ts";
import { seededRandom } from "./random.ts";
import type { Member } from "./roster.ts";
import { SERVICE_DOCUMENTS } from "./service-documents.ts";
import type { World } from "./world.ts";

/** Name of the second registry of agents, as the deployment calls it. */
export const BAZAAR_NAME = "Agent Bazaar";

/** Agents of the first registry that are registered here as well. */
const FROM_FIRST = 3;
const TRADES = ["Courier", "Translator", "Price Scout", "Bookkeeper", "Night Watch"] as const;

/** Names of the registries with the events of Olas and of Virtuals. */
export const SERVICES_NAME = "Olas services";
export const LAUNCHPAD_NAME = "Virtuals agents";
const LAUNCHED = 2;

/**
 * The block in which agents register in the further registries. In the second one: three wallets of the first, under the same owner,
 * and five of people who are agents here alone. In those of services and launched agents: wallets of the first.
 */
export function planFurtherAgents(
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
  const { serviceRegistry, agentLaunchpad } = world.contracts;
  const services = SERVICE_DOCUMENTS.flatMap(({ configHash }, i) => {
    const wallet = registered[i]?.context.wallet.address;
    const create = createService(serviceRegistry, configHash);
    return wallet === undefined ? [] : [callOf(world, { wallet, deed: create, time })];
  });
  const launches = registered
    .slice(-LAUNCHED)
    .map(({ context }) =>
      callOf(world, { wallet: context.wallet.address, deed: launchAgent(agentLaunchpad), time }),
    );
  return {
    time,
    calls: [...agents.map((agent) => registration(world, agent, time)), ...services, ...launches],
  };
}

function registration(world: World, { wallet, name }: { wallet: Address; name: string }, time: number) {
  const deed = registerAgent(
    world.contracts.agentBazaar,
    `bazaar/${name}`,
    dataUri(JSON.stringify({ name })),
  );
  return callOf(world, { wallet, deed, time });
}

function callOf(world: World, { wallet, deed, time }: { wallet: Address; deed: Deed; time: number }) {
  const habits = habitsOf(seededRandom(`${world.seed}/bazaar/${wallet}`));
  return planned({ address: wallet, habits }, time, deed);
}
