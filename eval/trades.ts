import type { Random } from "../devnet/population/random.ts";
import type { Agent, Routine } from "./agent.ts";
import { logBetween, zipfPicker } from "./draw.ts";
import type { Account } from "./ledger.ts";
import type { MarketToken } from "./market.ts";
import { demandTimes, type Span, steadyTimes, withOutages } from "./rhythm.ts";
import {
  approve,
  GAS,
  METHODS,
  pay,
  payNative,
  supply,
  swap,
  type Task,
  usualAmount,
  work,
  wrap,
} from "./tasks.ts";
import { DAY, type PlaceKind, type World } from "./world.ts";

export const TRADES = ["keeper", "trader", "payment_agent", "escrow_worker", "oracle_feeder"] as const;
export type Trade = (typeof TRADES)[number];

type Setting = {
  readonly world: World;
  readonly random: Random;
  readonly agent: Agent;
  readonly span: Span;
  /** Multiplies how often it acts. */
  readonly pace?: number;
};

/** Deeds of an agent of a trade, at a rhythm and in places of its own. */
export function routineOf(trade: Trade, setting: Setting): Routine {
  switch (trade) {
    case "keeper":
      return keeper(setting);
    case "trader":
      return trader(setting, 0.05);
    case "payment_agent":
      return paymentAgent(setting);
    case "escrow_worker":
      return escrowWorker(setting);
    case "oracle_feeder":
      return oracleFeeder(setting);
  }
}

/** A trader that buys so large a share of tokens that are on no list. */
export function trader({ world, random, agent, span, pace = 1 }: Setting, unlistedShare: number): Routine {
  const { market } = world;
  const venues = placesOf(world, random, { kind: "venue", count: random.int(5, 18), at: span.from });
  const pick = zipfPicker(venues);
  const listed = [market.usdc, market.wrapped, ...market.majors];
  const someToken = (): MarketToken =>
    random.chance(unlistedShare) ? random.pick(market.unlisted) : random.pick(listed);
  for (const { address } of venues) {
    // The usual way to trade: what an established venue may take is not limited.
    if (random.chance(0.4)) allow(world, agent, { spender: address, at: span.from });
  }
  return {
    times: withOutages(
      random,
      demandTimes(random, { ...span, perDay: pace * logBetween(random, 4, 40) }),
      span,
    ),
    next: () => {
      const usd = logBetween(random, 2, 800);
      const venue = pick(random);
      const kind = random.next();
      if (kind < 0.05) return approve(random.pick(listed));
      if (kind < 0.08) return wrap(market, usd);
      if (kind < 0.2) return supply(market, venue, usd);
      if (kind < 0.3) return work(venue, METHODS.claim);
      const sold = random.chance(0.6) ? market.usdc : market.wrapped;
      const bought = someToken();
      return swap(market, {
        venue,
        sold,
        bought: bought === sold ? (market.majors[0] ?? bought) : bought,
        usd,
      });
    },
  };
}

/** Pays some or many on the same day of each week. */
export function payroll({ world, random, span }: Setting): Routine {
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(6, 25), at: span.from });
  const amount = usualAmount(random);
  const first = span.from + random.between(0.3, 6.5) * DAY;
  const times: number[] = [];
  const tasks: Task[] = [];
  for (let week = first; week < span.until - DAY / 4; week += 7 * DAY) {
    let time = week + random.between(0, 1_800);
    for (const { address } of payees) {
      times.push(time);
      tasks.push(pay(world.market, address, amount));
      time += logBetween(random, 5, 120);
    }
  }
  let turn = 0;
  return {
    times,
    next: () => {
      const task = tasks[turn];
      if (task === undefined) throw new RangeError(`${tasks.length} payments, none at ${turn}`);
      turn += 1;
      return task;
    },
  };
}

function keeper({ world, random, agent, span, pace = 1 }: Setting): Routine {
  const targets = placesOf(world, random, { kind: "target", count: random.int(1, 4), at: span.from });
  const interval = logBetween(random, 240, 7_200) / pace;
  const upkeeps = targets.map((target) => work(target, METHODS.upkeep));
  return {
    times: withOutages(
      random,
      steadyTimes(random, { ...span, interval, jitter: random.between(0.05, 0.9) }),
      span,
    ),
    next: alsoHome({ world, random, agent }, () => random.pick(upkeeps)),
  };
}

function paymentAgent({ world, random, agent, span, pace = 1 }: Setting): Routine {
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(5, 40), at: span.from });
  const pick = zipfPicker(payees);
  const amount = usualAmount(random);
  const native = random.chance(0.2);
  return {
    times: withOutages(
      random,
      demandTimes(random, { ...span, perDay: pace * logBetween(random, 5, 60) }),
      span,
    ),
    next: alsoHome({ world, random, agent }, () => {
      const { address } = pick(random);
      return native ? payNative(world.market, address, amount) : pay(world.market, address, amount);
    }),
  };
}

function escrowWorker({ world, random, agent, span, pace = 1 }: Setting): Routine {
  const escrows = placesOf(world, random, { kind: "escrow", count: random.int(1, 3), at: span.from });
  const suppliers = placesOf(world, random, { kind: "merchant", count: random.int(0, 6), at: span.from });
  const amount = usualAmount(random);
  return {
    times: withOutages(
      random,
      demandTimes(random, { ...span, perDay: pace * logBetween(random, 2, 20) }),
      span,
    ),
    next: alsoHome({ world, random, agent }, () => {
      const supplier = random.chance(0.15) && suppliers.length > 0 ? random.pick(suppliers) : null;
      if (supplier !== null) return pay(world.market, supplier.address, amount);
      return work(random.pick(escrows), random.chance(0.7) ? METHODS.submit : METHODS.claim);
    }),
  };
}

function oracleFeeder({ world, random, agent, span, pace = 1 }: Setting): Routine {
  const feeds = placesOf(world, random, { kind: "aggregator", count: random.int(1, 4), at: span.from });
  const interval = logBetween(random, 600, 7_200) / pace;
  const heartbeats = steadyTimes(random, { ...span, interval, jitter: random.between(0.02, 0.3) });
  // Reports that a price move calls for.
  const moves = demandTimes(random, { ...span, perDay: logBetween(random, 0.5, 10) });
  return {
    times: withOutages(
      random,
      [...heartbeats, ...moves].toSorted((a, b) => a - b),
      span,
    ),
    next: alsoHome({ world, random, agent }, () => work(random.pick(feeds), METHODS.report, GAS.report)),
  };
}

/** Now and then, what was earned goes home to the owner. */
function alsoHome(
  { world, random, agent }: Pick<Setting, "world" | "random" | "agent">,
  next: () => Task,
): (time: number) => Task {
  const { owner } = agent;
  if (owner === null) return next;
  let due = world.start + random.between(3, 10) * DAY;
  return (time) => {
    if (time < due) return next();
    due = time + random.between(5, 14) * DAY;
    return pay(world.market, owner, () => logBetween(random, 10, 200));
  };
}

/** Different places of a kind that exist at a time, busy ones twice as often as others. */
export function placesOf(
  world: World,
  random: Random,
  { kind, count, at }: { readonly kind: PlaceKind; readonly count: number; readonly at: number },
): readonly Account[] {
  const open = world.places[kind].filter(({ existedAt }) => existedAt < at);
  const busy = zipfPicker(open);
  const chosen = new Set<Account>();
  while (chosen.size < Math.min(count, open.length)) {
    chosen.add(random.chance(0.33) ? random.pick(open) : busy(random));
  }
  return [...chosen];
}

/** Lets a spender take what it wants of a token: the approval is written down, its call is not part of the routine. */
export function allow(
  world: World,
  { wallet }: Agent,
  { spender, at }: { readonly spender: Account["address"]; readonly at: number },
): void {
  const approvals = world.ledger.approvals.get(wallet) ?? [];
  world.ledger.approvals.set(wallet, approvals);
  approvals.push({ token: world.market.usdc.address, spender, kind: "amount", approvedAt: Math.floor(at) });
}
