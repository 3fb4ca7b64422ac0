import type { Address } from "viem";
import type { AgentContext } from "./population/agent.ts";
import { userContexts, userStep } from "./population/background.ts";
import type { PlannedCall } from "./population/plan-types.ts";
import type { Random } from "./population/random.ts";
import type { Member } from "./population/roster.ts";
import type { KeyedWallet } from "./population/wallets.ts";
import type { World } from "./population/world.ts";

/** An account that acts on the living chain. */
export type LivingActor = { readonly context: AgentContext; step(at: number): PlannedCall[] };

const AGENT_SHARE = 0.5;

/** Everyone who goes on living: the agents whose archetype has a step, and the background users. */
export function livingActors(world: World, roster: readonly Member[], seed: string) {
  const agents = roster.flatMap(({ archetype, context }): LivingActor[] => {
    const { step } = archetype;
    return step === null ? [] : [{ context, step: (at) => step(context, at) }];
  });
  const users = userContexts(world, seed).map(
    (context): LivingActor => ({ context, step: (at) => userStep(context, at) }),
  );
  return {
    /** Keys of everyone whose calls a step may hold. */
    keys: keysOf(world, roster),
    /** One to three actors, about half of them agents. */
    draw: (random: Random): LivingActor[] => {
      const count = random.int(1, 3);
      const picked = Array.from({ length: count }, () =>
        random.pick(random.chance(AGENT_SHARE) ? agents : users),
      );
      return [...new Set(picked)];
    },
  };
}

function keysOf(world: World, roster: readonly Member[]): Map<Address, KeyedWallet> {
  const others = [
    ...world.users,
    ...world.evaluators,
    ...world.exchanges,
    world.bundler,
    world.facilitator,
    world.spammer,
    world.saboteur,
  ];
  const wallets = [...roster.map((member) => member.context.wallet), ...others];
  return new Map(wallets.map((wallet) => [wallet.address, wallet]));
}
