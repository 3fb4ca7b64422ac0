import type { Random } from "../devnet/population/random.ts";
import { type Agent, deedOf, enrol, follow, type Routine, type Temper } from "./agent.ts";
import { soil } from "./dirt.ts";
import { logBetween } from "./draw.ts";
import { mine } from "./ledger.ts";
import { pester } from "./nuisance.ts";
import { type Temperament, temperOf } from "./tempers.ts";
import { payroll, routineOf, TRADES, type Trade, trader } from "./trades.ts";
import { DAY, type World } from "./world.ts";

/** A kind of agent, and the tier that it belongs to: 1 is healthy, 5 is hopeless; null is outside of the order. */
export type Archetype = { readonly name: string; readonly tier: 1 | 2 | 3 | 4 | 5 | null };

export const ARCHETYPES = [
  { name: "keeper", tier: 1 },
  { name: "trader", tier: 1 },
  { name: "payment_agent", tier: 1 },
  { name: "escrow_worker", tier: 1 },
  { name: "oracle_feeder", tier: 1 },
  { name: "spam_victim", tier: 1 },
  { name: "recovering", tier: 2 },
  { name: "flaky_20_percent", tier: 2 },
  { name: "gas_war", tier: 3 },
  { name: "dirty_hygiene", tier: 3 },
  { name: "retry_storm", tier: 4 },
  { name: "stale", tier: 4 },
  { name: "half_failing", tier: 4 },
  { name: "always_failing", tier: 5 },
  { name: "sanctioned", tier: 5 },
  { name: "weekly_payroll", tier: null },
] as const satisfies readonly Archetype[];

export type ArchetypeName = (typeof ARCHETYPES)[number]["name"];

/** Brings one agent of an archetype into the world and lets it live for all of the world's days. */
export function settle(world: World, random: Random, name: ArchetypeName): Agent {
  const agent = enrol(world, random);
  const span = { from: world.start + random.between(0, 2) * DAY, until: world.start + world.days * DAY };
  const setting = { world, random, agent, span };
  const trade = isTrade(name) ? name : random.pick(TRADES);
  const temper = temperOf(temperamentOf(name), { random, trade, span });
  const life = { routine: routineFor(name, trade), temper };
  follow({ ...world, random }, agent.wallet, life);
  addToLife();
  return agent;

  function routineFor(kind: ArchetypeName, usual: Trade): Routine {
    if (kind === "weekly_payroll") return payroll(setting);
    if (kind === "dirty_hygiene") return trader(setting, random.between(0.3, 0.8));
    return routineOf(usual, setting);
  }

  function addToLife(): void {
    if (name === "spam_victim") pester({ world, random }, agent.wallet);
    if (name === "dirty_hygiene") soil(world, random, { agent, span });
    if (name === "retry_storm") storm({ world, random, agent, ...life });
    if (name === "sanctioned") {
      world.ledger.sanctions.set(agent.wallet, {
        source: "ofac-sdn",
        reference: "SDN",
        detected_at: "2025-01-01T00:00:00.000Z",
      });
    }
  }
}

function isTrade(name: ArchetypeName): name is Trade & ArchetypeName {
  return (TRADES as readonly string[]).includes(name);
}

function temperamentOf(name: ArchetypeName): Temperament {
  switch (name) {
    case "recovering":
    case "flaky_20_percent":
    case "gas_war":
    case "dirty_hygiene":
    case "stale":
    case "half_failing":
    case "always_failing":
      return name;
    case "retry_storm":
      return "careless";
    default:
      return "healthy";
  }
}

/** Some times a week, one call that will not go through is repeated for minutes. */
function storm({
  world,
  random,
  agent,
  routine,
  temper,
}: {
  readonly world: World;
  readonly random: Random;
  readonly agent: Agent;
  readonly routine: Routine;
  readonly temper: Temper;
}): void {
  const perWeek = random.between(1, 5);
  const { start, days } = world;
  let time = start + random.exponential(7 / perWeek) * DAY;
  while (time < start + days * DAY) {
    const task = routine.next(time);
    let now = time;
    for (let i = random.int(12, 60); i > 0; i -= 1) {
      mine({ ...world, random }, agent.wallet, deedOf(random, temper, { task, time: now, failure: 1 }));
      now += logBetween(random, 2, 90);
    }
    time += random.exponential(7 / perWeek) * DAY;
  }
}
