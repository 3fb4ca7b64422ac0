import { type AgentContext, type Archetype, attempt, favourites, habitsOf, own, planned } from "../agent.ts";
import { completeJob, createJob, fundJob, setBudget, submitJob } from "../job-deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { atRandom, DAY, HOUR, MINUTE, wakingHours } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";
import { joinsAtTheStart } from "./joining.ts";

const RELIABILITY = { failureRate: 0.012, retryMinutes: [3, 15] } as const;
const JOB_LIFE = 7 * DAY;
/** A job is over this long after its order at the latest, so that none hangs over the end of the plan. */
const LONGEST_JOB = 14 * HOUR;

/** Takes jobs from the escrow, delivers, and spends some of what it earns on suppliers. */
export const escrowWorker: Archetype = {
  name: "escrow-worker",
  share: 13,
  purse: "usdc",
  joinsAt: joinsAtTheStart,
  plan: (context, span) => {
    const random = context.random.fork("plan");
    const hours = wakingHours(random.int(5, 10), random.int(12, 16));
    const jobs = atRandom(
      random,
      { start: span.start, end: span.end - LONGEST_JOB },
      { perDay: 0.38, hours },
    );
    const purchases = atRandom(random, span, { perDay: random.between(1.3, 1.7), hours });
    return [
      ...jobs.flatMap((at) => takeJob(context, at, { least: 40 * MINUTE, most: 4 * HOUR })),
      ...purchases.flatMap((at) => buySupplies(context, at)),
    ];
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.5)
      ? takeJob(context, at, { least: 5, most: 20 })
      : buySupplies(context, at),
};

/** A job from order to payment, its steps so many seconds apart. */
function takeJob(context: AgentContext, at: number, pause: { least: number; most: number }): PlannedCall[] {
  const random = context.random.fork(`job/${at}`);
  const { world, wallet } = context;
  const escrow = world.contracts.jobEscrow;
  const key = `${context.label}#${at}`;
  const client = { address: random.pick(world.clients), habits: habitsOf(random) };
  const evaluator = { address: random.pick(world.evaluators).address, habits: habitsOf(random) };
  const job = { provider: wallet.address, evaluator: evaluator.address, expiredAt: at + JOB_LIFE };
  const wait = waits(random, pause);

  const calls = [planned(client, at, createJob(escrow, key, job))];
  const offer = setBudget(escrow, key, BigInt(random.int(3, 60)) * 1_000_000n);
  calls.push(...attempt(context, random, { at: at + wait(1), deed: offer, reliability: RELIABILITY }));
  const funded = lastTime(calls) + wait(1);
  calls.push(planned(client, funded, fundJob(escrow, key)("success")));
  const submission = submitJob(escrow, key);
  calls.push(
    ...attempt(context, random, { at: funded + wait(1), deed: submission, reliability: RELIABILITY }),
  );
  calls.push(planned(evaluator, lastTime(calls) + wait(0.5), completeJob(escrow, key)("success")));
  return calls;
}

function buySupplies(context: AgentContext, at: number): PlannedCall[] {
  const suppliers = favourites(context, "suppliers", { among: context.world.merchants, count: [2, 5] });
  const random = context.random.fork(`purchase/${at}`);
  const supplier = random.pick(suppliers);
  if (random.chance(0.4))
    return [own(context, at, sendCoin(supplier, BigInt(random.int(1, 9)) * 10n ** 15n))];
  const deed = sendToken(context.world.usdc.address, supplier, BigInt(random.int(1, 20)) * 1_000_000n);
  return attempt(context, random, { at, deed, reliability: RELIABILITY });
}

function waits(random: Random, { least, most }: { least: number; most: number }): (part: number) => number {
  return (part) => Math.ceil(random.between(least, most) * part);
}

function lastTime(calls: readonly PlannedCall[]): number {
  return Math.max(...calls.map((call) => call.at));
}
