import { type Address, getContractAddress } from "viem";
import { poolCreationCode } from "../../contract-list.ts";
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
  withHabits,
} from "../agent.ts";
import type { DeedOf } from "../deed.ts";
import {
  breakDown,
  createContract,
  mixCoin,
  performTask,
  repair,
  reportPrice,
  runOnDemand,
  work,
} from "../deeds.ts";
import type { Deed, PlannedCall } from "../plan-types.ts";
import type { Random } from "../random.ts";
import { ALL_HOURS, atIntervals, atRandom, DAY, HOUR, MINUTE, type Span, wakingHours } from "../rhythm.ts";
import {
  airdropSpam,
  approveForever,
  approveToken,
  sendCoin,
  sendToken,
  swap,
  unwrapCoin,
  wrapCoin,
} from "../token-deeds.ts";
import { walletOf } from "../wallets.ts";

/** A contract of this age, which many use, is trusted with an approval without limit. */
const PROVEN_AFTER = 40 * DAY;

/** Trades on most pools and deals with many others, in its waking hours. */
export const diverseTrader: Archetype = {
  name: "diverse-trader",
  share: 18,
  purse: { pools: [2, 3] },
  plan: (context, span, random) => {
    const rate = {
      perDay: random.between(2, 2.8),
      hours: wakingHours(random.int(0, 23), random.int(12, 18)),
    };
    return [
      ...atRandom(random, span, rate).flatMap((at) => trade(context, at)),
      ...trustProvenPools(context, span),
    ];
  },
  step: trade,
};

/** One trade, or another act of an account with many dealings. */
function trade(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (random.chance(0.12)) {
    const merchant = random.pick(merchantsOf(context));
    return [own(context, at, sendCoin(merchant, BigInt(random.int(2, 40)) * 10n ** 15n))];
  }
  if (holdsWrappedCoin(context) && random.chance(0.03))
    return [own(context, at, changeWrapping(context, random))];
  const deed = dealing(context, random);
  return attempt(context, random, { at, deed, reliability: { failureRate: 0.012, retryMinutes: [2, 12] } });
}

/** One of a trader's contract calls, with the tokens of its own pools. */
export function dealing(context: AgentContext, random: Random): DeedOf {
  const { world, wallet, pools } = context;
  const kind = random.next();
  const pool = random.pick(pools);
  if (kind < 0.6) {
    const dollars = BigInt(random.int(15, 220));
    return swap(pool, wallet.address, { dollars, sellFirst: random.chance(0.5) });
  }
  if (kind < 0.8) {
    const token = random.pick(pool.tokens);
    const amount = BigInt(random.int(1, 30)) * token.perDollar;
    return sendToken(token.address, random.pick(merchantsOf(context)), amount);
  }
  if (kind < 0.9) {
    const targets = favourites(context, "targets", { among: world.keeperTargets, count: [2, 3] });
    return performTask(random.pick(targets), random.int(0, 4));
  }
  const feed = random.pick(favourites(context, "feeds", { among: world.feeds, count: [2, 4] }));
  return reportPrice(feed.address, (feed.answer * BigInt(random.int(970, 1030))) / 1000n);
}

/** Places where a trader spends: no trader deals with all of them. */
function merchantsOf(context: AgentContext): readonly Address[] {
  return favourites(context, "merchants", { among: context.world.merchants, count: [5, 11] });
}

function holdsWrappedCoin({ pools, world }: AgentContext): boolean {
  return pools.some((pool) => pool.tokens.includes(world.weth));
}

function changeWrapping({ world }: AgentContext, random: Random): Deed {
  const amount = BigInt(random.int(4, 30)) * 10n ** 15n;
  const { address } = world.weth;
  return random.chance(0.5) ? wrapCoin(address, amount) : unwrapCoin(address, amount)("success");
}

/** Every fourth lifts the limit of what the pools may take, late, once they are old and well used. */
function trustProvenPools(context: AgentContext, span: Span): PlannedCall[] {
  const random = context.random.fork("trust");
  const at = span.start + PROVEN_AFTER + random.between(0, 20 * DAY);
  if (context.index % 4 !== 1 || at > span.end) return [];
  const [pool] = context.pools;
  if (!pool) return [];
  return pool.tokens.map((token, i) =>
    own(context, at + i * 90, approveForever(token.address, pool.address)),
  );
}

/** Joined in the last days and has made a handful of calls, too few to say anything. */
export const newcomer: Archetype = {
  name: "newcomer",
  share: 10,
  purse: { pools: [1, 1] },
  joinsAt: (random, history) => Math.floor(history.end - random.between(0.4, 5) * DAY),
  plan: (context, span, random) => {
    const times = Array.from({ length: random.int(0, 3) }, () =>
      random.between(span.start, span.end - HOUR / 2),
    );
    return times.flatMap((at) => trade(context, Math.floor(at)).slice(-1));
  },
  // More calls would make it a trader.
  step: null,
};

/** Works well, while a stranger keeps dropping worthless tokens and dust on it. */
export const spammedVictim: Archetype = {
  name: "spammed-victim",
  share: 12,
  purse: { pools: [1, 3] },
  plan: (context, span, random) => {
    const rate = { perDay: random.between(1.8, 2.5), hours: wakingHours(random.int(0, 23), 16) };
    const spammer = { address: context.world.spammer.address, habits: habitsOf(random.fork("spammer")) };
    const victim = context.wallet.address;
    const spam = atRandom(random, span, { perDay: 0.35, hours: ALL_HOURS });
    return [
      ...atRandom(random, span, rate).flatMap((at) => trade(context, at)),
      ...spam.map((at) =>
        random.chance(0.5)
          ? planned(spammer, at, airdropSpam(context.world.contracts.spamToken, [victim]))
          : planned(spammer, at, sendCoin(victim, 1n)),
      ),
    ];
  },
  step: trade,
};

const FAILURE_RATE = 0.2;
const MOST_FAILURES_IN_A_ROW = 3;

/** Trades like others, but every fifth call is turned down, and it tries again before long. */
export const flaky = always({ name: "flaky", share: 6, purse: { pools: [1, 3] } }, stumble, (random, span) =>
  atRandom(random, span, { perDay: random.between(1.3, 2.1), hours: wakingHours(random.int(0, 23), 16) }),
);

function stumble(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const deed = dealing(context, random);
  const calls: PlannedCall[] = [];
  let when = at;
  while (calls.length < MOST_FAILURES_IN_A_ROW && random.chance(FAILURE_RATE)) {
    calls.push(own(context, when, deed("revert")));
    when += random.between(6, 40) * MINUTE;
  }
  return [...calls, own(context, when, deed("success"))];
}

/** Half of what it tries fails, and it never tries anything a second time. */
export const halfFailing = always(
  { name: "half-failing", share: 5, purse: { pools: [1, 3] } },
  tryOnce,
  (random, span) =>
    atRandom(random, span, { perDay: random.between(1.3, 2.2), hours: wakingHours(random.int(0, 23), 16) }),
);

function tryOnce(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const outcome = random.chance(0.5) ? wayToFail(random) : "success";
  return [own(context, at, dealing(context, random)(outcome))];
}

const GWEI = 1_000_000_000;

/** Bids several times the market's price to be first, and loses many of its races, gas and all. */
export const gasWar = always({ name: "gas-war", share: 5, purse: { pools: [1, 3] } }, race, (random, span) =>
  atRandom(random, span, { perDay: random.between(1.2, 2), hours: ALL_HOURS }),
);

function race(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  const tipWei = BigInt(Math.round(random.between(2, 4.5) * GWEI));
  const bidder = withHabits(context, { tipWei, clumsiness: 1 });
  return attempt(bidder, random, {
    at,
    deed: dealing(context, random),
    reliability: { failureRate: 0.27, retryMinutes: [1, 8] },
  });
}

/** One of its strategies broke long ago and runs on all the same, failing every time, while it trades well besides. */
export const staleStrategy: Archetype = {
  name: "stale-strategy",
  share: 5,
  purse: { pools: [1, 3] },
  plan: (context, span, random) => {
    const brokenFrom = span.start + (span.end - span.start) * random.between(0.1, 0.3);
    const trades = atRandom(random, span, { perDay: random.between(0.9, 1.4), hours: ALL_HOURS });
    const runs = atRandom(random, span, { perDay: random.between(1, 1.6), hours: ALL_HOURS });
    return [
      ...trades.flatMap((at) => trade(context, at)),
      ...runs.map((at) => run(context, at, at < brokenFrom)),
    ];
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.5) ? [run(context, at, false)] : trade(context, at),
};

/** Its strategy, always the same call. */
function run(context: AgentContext, at: number, works: boolean): PlannedCall {
  const way = context.random.fork("way").pick([1, 2, 3, 4] as const);
  const target = context.world.contracts.revertOnDemand;
  return own(context, at, runOnDemand(target, way)(works ? "success" : "revert"));
}

/** Hammers the same failing call within minutes instead of waiting, a few times a month. */
export const retryStorm: Archetype = {
  name: "retry-storm",
  share: 10,
  purse: { pools: [1, 2] },
  plan: (context, span, random) => {
    const calm = atRandom(random, span, { perDay: random.between(0.9, 1.5), hours: ALL_HOURS });
    const storms = atRandom(random, span, { perDay: random.between(0.02, 0.05), hours: ALL_HOURS });
    // Even the luckiest has had one of late.
    const late = Math.floor(
      span.end - random.between(0.1, 1) * Math.min(20 * DAY, (span.end - span.start) / 3),
    );
    return [
      ...calm.flatMap((at) => trade(context, at)),
      ...[...storms, late].flatMap((at) => storm(context, at)),
    ];
  },
  step: (context, at) =>
    context.random.fork(`choice/${at}`).chance(0.015) ? storm(context, at) : trade(context, at),
};

function storm(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`storm/${at}`);
  const { contracts, merchants } = context.world;
  const token = random.pick(random.pick(context.pools).tokens);
  const deed: DeedOf = random.chance(0.7)
    ? runOnDemand(contracts.revertOnDemand, random.pick([1, 2, 3, 4] as const))
    : sendToken(token.address, random.pick(merchants), 2n * token.perDollar);
  const failures = random.int(10, 18);
  const gap = random.int(40, 150);
  const calls = Array.from({ length: failures }, (_, i) => own(context, at + i * gap, deed("revert")));
  // It gives up without an answer as often as it gets through.
  return random.chance(0.5) ? [...calls, own(context, at + failures * gap, deed("success"))] : calls;
}

/** Had weeks of trouble in the middle of its history, repaired every failure, and has worked well since. */
export const recovering: Archetype = {
  name: "recovering",
  share: 12,
  purse: { pools: [1, 2] },
  plan: (context, span, random) => {
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
  return attempt(context, random, {
    at,
    deed: dealing(context, random),
    reliability: { failureRate: 0.22, retryMinutes: [10, 90] },
  });
}

const JUNK_SHARE = 0.14;
const ALLOWED_TO_JUNK_POOL = 10_000n;

/** Works well, but approves any spender that asks, buys tokens that nothing prices, and sends some of its coin through a mixer. */
export const dirtyHygiene: Archetype = {
  name: "dirty-hygiene",
  share: 5,
  purse: { pools: [2, 3] },
  plan: (context, span, random) => {
    const rate = { perDay: random.between(1.5, 2.3), hours: wakingHours(random.int(0, 23), 15) };
    const mixing = atIntervals(random, span, { interval: random.between(12, 20) * DAY, jitter: 0.3 });
    return [
      ...allowJunkPools(context, span.start),
      ...atRandom(random, { start: span.start + HOUR, end: span.end }, rate).flatMap((at) =>
        tradeOrBuyJunk(context, at),
      ),
      ...mixing.map((at) => mix(context, at)),
      ...trustStrangers(context, random, span),
    ];
  },
  step: tradeOrBuyJunk,
};

function tradeOrBuyJunk(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`choice/${at}`);
  return random.chance(JUNK_SHARE) ? [buyJunk(context, random, at)] : trade(context, at);
}

function allowJunkPools(context: AgentContext, from: number): PlannedCall[] {
  const { usdc, junkPools } = context.world;
  const amount = ALLOWED_TO_JUNK_POOL * usdc.perDollar;
  return junkPools.map((pool, i) =>
    own(context, from + i * 120, approveToken(usdc.address, pool.address, amount)),
  );
}

function buyJunk(context: AgentContext, random: Random, at: number): PlannedCall {
  const { wallet, world } = context;
  const purchase = { dollars: BigInt(random.int(20, 160)), sellFirst: true };
  return own(context, at, swap(random.pick(world.junkPools), wallet.address, purchase)("success"));
}

function mix(context: AgentContext, at: number): PlannedCall {
  const note = `${context.label}@${at}`;
  return own(context, at, mixCoin(context.world.contracts.mixer, note, 15n * 10n ** 16n));
}

/** Now and then a stranger creates a contract, and before long the agent approves it for all of a token. */
function trustStrangers(context: AgentContext, random: Random, span: Span): PlannedCall[] {
  const { world, label } = context;
  const tokens = [world.usdc, world.weth, world.dai].map((token) => token.address);
  return [0.15, 0.35, 0.55, 0.75, 0.9].flatMap((part, i) => {
    const at = Math.floor(span.start + part * (span.end - span.start));
    const stranger = {
      address: walletOf(world.seed, `${label}/stranger/${i}`).address,
      habits: habitsOf(random),
    };
    const exchange = { address: random.pick(world.exchanges).address, habits: habitsOf(random) };
    const contract = getContractAddress({ from: stranger.address, nonce: 0n });
    const code = poolCreationCode([world.usdc.address, random.pick(world.junkPools).address]);
    return [
      planned(exchange, at, sendCoin(stranger.address, 5n * 10n ** 16n)),
      planned(stranger, at + HOUR, createContract(code)),
      own(
        context,
        at + HOUR + random.between(0.02, 0.06) * DAY,
        approveForever(random.pick(tokens), contract),
      ),
    ];
  });
}
