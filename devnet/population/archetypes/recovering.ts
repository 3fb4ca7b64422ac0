import { type AgentContext, type Archetype, attempt, habitsOf, own, planned } from "../agent.ts";
import { breakDown, repair, work } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atRandom, DAY, HOUR, MINUTE, type Span, wakingHours } from "../rhythm.ts";
import { dealing, trade } from "./diverse-trader.ts";
import { joinsAtTheStart } from "./joining.ts";

const TROUBLED = { failureRate: 0.22, retryMinutes: [10, 90] } as const;

/** Had weeks of trouble in the middle of its history, repaired every failure, and has worked well since. */
export const recovering: Archetype = {
  name: "recovering",
  share: 12,
  purse: { pools: [1, 2] },
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const rate = { perDay: random.between(1.3, 2), hours: wakingHours(random.int(0, 23), 16) };
    const trouble = troubleWithin(random, span);
    let mendedAt = 0;
    return atRandom(random, span, rate).flatMap((at) => {
      if (at < trouble.start || at >= trouble.end)
        return random.chance(0.5) ? trade(context, at) : doWork(context, at);
      // One repair at a time: this one would undo the next.
      if (at < mendedAt + 3 * HOUR || random.chance(0.7)) return struggle(context, at);
      mendedAt = at;
      return breakAndMend(context, at);
    });
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.5) ? trade(context, at) : doWork(context, at),
};

function troubleWithin(random: Random, span: Span): Span {
  const length = span.end - span.start;
  const start = span.start + length * random.between(0.25, 0.4);
  return { start, end: start + Math.min(random.between(9, 16) * DAY, length / 4) };
}

function doWork(context: AgentContext, at: number): PlannedCall[] {
  return [own(context, at, work(context.world.contracts.repairableTarget)("success"))];
}

/** Its target is broken for it: it tries once or twice, repairs the target and works again. */
function breakAndMend(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`mend/${at}`);
  const target = context.world.contracts.repairableTarget;
  const saboteur = { address: context.world.saboteur.address, habits: habitsOf(random) };
  const tries = random.int(1, 2);
  const mended = at + (5 + 10 * tries + random.int(5, 40)) * MINUTE;
  return [
    planned(saboteur, at - 5 * MINUTE, breakDown(target, context.wallet.address, mended + 2 * HOUR)),
    ...Array.from({ length: tries }, (_, i) => own(context, at + i * 8 * MINUTE, work(target)("revert"))),
    own(context, mended, repair(target)),
    own(context, mended + 2 * MINUTE, work(target)("success")),
  ];
}

function struggle(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`struggle/${at}`);
  return attempt(context, random, { at, deed: dealing(context, random), reliability: TROUBLED });
}
