import {
  type AgentContext,
  type Archetype,
  always,
  attempt,
  favourites,
  habitsOf,
  own,
  planned,
  wayToFail,
} from "../agent.ts";
import type { DeedOf } from "../deed.ts";
import { burnGas, performTask, reportPrice, runOnDemand } from "../deeds.ts";
import { completeJob, createJob, fundJob, setBudget, submitJob } from "../job-deeds.ts";
import { operate } from "../operation.ts";
import type { PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { ALL_HOURS, atIntervals, atRandom, DAY, HOUR, MINUTE, wakingHours } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";

/** Keeps a few contracts up at its own steady beat. */
export const keeper = always({ name: "keeper", share: 16, purse: "coin" }, keepUp, (random, span) =>
  atIntervals(random, span, { interval: random.between(9, 13) * HOUR, jitter: random.between(0.03, 0.2) }),
);

function keepUp(context: AgentContext, at: number): PlannedCall[] {
  const targets = favourites(context, "kept", { among: context.world.keeperTargets, count: [2, 3] });
  const random = context.random.fork(`at/${at}`);
  return random.sample(targets, random.chance(0.25) ? 2 : 1).flatMap((target, i) => {
    const deed = performTask(target, context.index % 5);
    return attempt(context, random, {
      at: at + 20 * i,
      deed,
      reliability: { failureRate: 0.006, retryMinutes: [3, 9] },
    });
  });
}

/** Reports prices to its feeds at a heartbeat, day and night. */
export const oracleFeeder = always(
  { name: "oracle-feeder", share: 11, purse: "coin" },
  report,
  (random, span) =>
    atIntervals(random, span, {
      interval: random.between(12, 16) * HOUR,
      jitter: random.between(0.01, 0.06),
    }),
);

function report(context: AgentContext, at: number): PlannedCall[] {
  const feeds = favourites(context, "feeds", { among: context.world.feeds, count: [2, 4] });
  const random = context.random.fork(`at/${at}`);
  return random.sample(feeds, random.int(1, 2)).flatMap((feed, i) => {
    const deed = reportPrice(feed.address, (feed.answer * BigInt(random.int(9_500, 10_500))) / 10_000n);
    return attempt(context, random, {
      at: at + 15 * i,
      deed,
      reliability: { failureRate: 0.006, retryMinutes: [1, 4] },
    });
  });
}

const RELIABILITY_OF_ESCROW_WORKERS = { failureRate: 0.012, retryMinutes: [3, 15] } as const;
const JOB_LIFE = 7 * DAY;
/** A job is over this long after its order at the latest, so that none hangs over the end of the plan. */
const LONGEST_JOB = 14 * HOUR;

/** Takes jobs from the escrow, delivers, and spends some of what it earns on suppliers. */
export const escrowWorker: Archetype = {
  name: "escrow-worker",
  share: 12,
  purse: "usdc",
  plan: (context, span, random) => {
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
  calls.push(
    ...attempt(context, random, {
      at: at + wait(1),
      deed: offer,
      reliability: RELIABILITY_OF_ESCROW_WORKERS,
    }),
  );
  const funded = lastTime(calls) + wait(1);
  calls.push(planned(client, funded, fundJob(escrow, key)("success")));
  const submission = submitJob(escrow, key);
  calls.push(
    ...attempt(context, random, {
      at: funded + wait(1),
      deed: submission,
      reliability: RELIABILITY_OF_ESCROW_WORKERS,
    }),
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
  return attempt(context, random, { at, deed, reliability: RELIABILITY_OF_ESCROW_WORKERS });
}

function waits(random: Random, { least, most }: { least: number; most: number }): (part: number) => number {
  return (part) => Math.ceil(random.between(least, most) * part);
}

function lastTime(calls: readonly PlannedCall[]): number {
  return Math.max(...calls.map((call) => call.at));
}

/** Acts through a smart account alone, by operations that a bundler sends: pays, keeps contracts up, reports prices. */
export const smartAccount = always({ name: "smart-account", share: 4, purse: "usdc" }, act, (random, span) =>
  atRandom(random, span, { perDay: random.between(2, 2.7), hours: wakingHours(random.int(0, 23), 16) }),
);

function act(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const deed = operationOf(context, random);
  const failed = random.chance(0.01) ? [operate(context, at, deed("revert"))] : [];
  const again = at + failed.length * random.int(3, 12) * MINUTE;
  return [...failed, operate(context, again, deed("success"))];
}

function operationOf(context: AgentContext, random: Random): DeedOf {
  const { feeds, keeperTargets, merchants, usdc } = context.world;
  const kind = random.next();
  if (kind < 0.6) {
    const merchant = random.pick(favourites(context, "merchants", { among: merchants, count: [5, 10] }));
    return sendToken(usdc.address, merchant, BigInt(random.int(50, 2_500)) * 10_000n);
  }
  if (kind < 0.85) {
    const targets = favourites(context, "targets", { among: keeperTargets, count: [2, 3] });
    return performTask(random.pick(targets), random.int(0, 4));
  }
  const feed = random.pick(favourites(context, "feeds", { among: feeds, count: [2, 3] }));
  return reportPrice(feed.address, (feed.answer * BigInt(random.int(980, 1_020))) / 1_000n);
}

/** Has never done anything but fail: late, short of gas or turned down. */
export const alwaysFailing = always(
  { name: "always-failing", share: 9, purse: "usdc" },
  fail,
  (random, span) => atRandom(random, span, { perDay: random.between(1, 2), hours: ALL_HOURS }),
);

function fail(context: AgentContext, at: number): PlannedCall[] {
  const { contracts, keeperTargets, merchants, usdc } = context.world;
  const random = context.random.fork(`at/${at}`);
  const way = random.pick([1, 2, 3, 4] as const);
  const deeds = [
    runOnDemand(contracts.revertOnDemand, way),
    performTask(random.pick(keeperTargets), 1),
    sendToken(usdc.address, random.pick(merchants), 1_000_000n),
  ];
  if (random.chance(0.25))
    return [own(context, at, burnGas(contracts.gasBurner, random.int(200, 900))("out-of-gas"))];
  return [own(context, at, random.pick(deeds)(wayToFail(random)))];
}
