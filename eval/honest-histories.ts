import type { Address } from "viem";
import { type Agent, enrol, type Temper } from "./agent.ts";
import { type Character, failing, lead, type Scene, settleAs, soundTemper, spanOf } from "./character.ts";
import { logBetween } from "./draw.ts";
import { fund } from "./ledger.ts";
import { demandTimes } from "./rhythm.ts";
import { METHODS, pay, swap, usualAmount, work } from "./tasks.ts";
import { placesOf, routineOf, TRADES, type Trade } from "./trades.ts";
import { DAY } from "./world.ts";

const HOUR = 3_600;

/** Sound agents to which something happened, or that act at odd times. */
export const HONEST_HISTORIES: readonly Character[] = [
  {
    name: "moved_wallet",
    what: "moved to a new wallet 8 to 12 days ago, which the old one funded, and goes on as before; the new wallet is scored",
    worth: "A",
    live: move,
  },
  {
    name: "weekday_only",
    what: "pays established payees on weekdays from 8 to 18 o'clock",
    worth: "A",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const payees = placesOf(world, random, { kind: "merchant", count: random.int(5, 20), at: span.from });
      const times = demandTimes(random, { ...span, perDay: random.between(12, 40) }).filter(isOfficeHour);
      const amount = usualAmount(random);
      const next = () => pay(world.market, random.pick(payees).address, amount);
      return settleAs(scene, soundTemper(scene, { trade: "payment_agent", span }), { times, next });
    },
  },
  {
    name: "one_bad_week",
    what: "sound but for one week 20 to 60 days ago, in which 30 to 60 % of its calls failed",
    worth: "B",
    live: (scene) => {
      const rate = scene.random.between(0.3, 0.6);
      return liveThrough(scene, { daysAgo: scene.random.between(20, 60), days: 7, rate });
    },
  },
  {
    name: "catastrophic_week",
    what: "sound but for one week 90 days ago, in which every call failed and it tried a third as often",
    worth: "B",
    live: (scene) => liveThrough(scene, { daysAgo: 90, days: 7, rate: 1 }),
  },
  {
    name: "rpc_down_failing",
    what: "the same for five days 25 to 70 days ago",
    worth: "B",
    live: (scene) => liveThrough(scene, { daysAgo: scene.random.between(25, 70), days: 5, rate: 1 }),
  },
  {
    name: "rpc_down_silent",
    what: "sound but for five days 25 to 70 days ago, in which it made no call",
    worth: "A",
    live: (scene) => liveThrough(scene, { daysAgo: scene.random.between(25, 70), days: 5, rate: null }),
  },
  {
    name: "manual_bursts",
    what: "acts when its owner sits at the keyboard: two to four times a week 5 to 25 swaps and payments within 40 minutes",
    worth: "B",
    live: actByHand,
  },
  {
    name: "escrow_three_jobs",
    what: "takes about three jobs a week from one or two escrows, three calls each",
    worth: "A",
    live: workInEscrows,
  },
];

function isOfficeHour(time: number): boolean {
  const hour = (time % DAY) / HOUR;
  // 1970-01-01 was a Thursday.
  const weekday = (Math.floor(time / DAY) + 3) % 7;
  return weekday < 5 && hour >= 8 && hour < 18;
}

/** A routine of some trade, with a time in which calls fail at a rate, or are not made where it is null. */
function liveThrough(
  scene: Scene,
  bad: { readonly daysAgo: number; readonly days: number; readonly rate: number | null },
): readonly Address[] {
  const { random } = scene;
  const span = spanOf(scene);
  const trade: Trade = random.pick(TRADES);
  const from = span.until - bad.daysAgo * DAY;
  const isBad = (time: number) => time >= from && time < from + bad.days * DAY;
  const sound = soundTemper(scene, { trade, span });
  const through = (failure: Temper["failure"]) => (time: number) =>
    isBad(time) && bad.rate !== null ? bad.rate : failure(time);
  const temper = {
    ...sound,
    failure: through(sound.failure),
    retry: { ...sound.retry, failure: through(sound.retry.failure) },
  };
  return settleAs(scene, temper, (agent) => {
    const routine = routineOf(trade, { ...scene, agent, span, pace: 0.5 });
    // While nothing succeeds it tries a third of what is due, and retries that.
    const tried = bad.rate === null ? 0 : bad.rate === 1 ? 0.33 : 1;
    const times = routine.times.filter((time) => !isBad(time) || random.chance(tried));
    return { ...routine, times };
  });
}

function move(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const moved = span.until - random.between(8, 12) * DAY;
  const old = enrol(world, random);
  const temper = soundTemper(scene, { trade: "payment_agent", span });
  const routine = routineOf("payment_agent", { ...scene, agent: old, span, pace: 0.6 });
  const before = { ...routine, times: routine.times.filter((time) => time < moved) };
  lead(scene, old, { temper, routine: before });
  const next: Agent = enrol(world, random);
  const account = world.ledger.accounts.get(next.wallet);
  if (account === undefined) throw new Error(`${next.wallet} was not enrolled`);
  // The funds of its enrolment are removed: the old wallet is its funder.
  const isEarly = world.ledger.dealings.filter(({ counterparty }) => counterparty === next.wallet);
  for (const dealing of isEarly) world.ledger.dealings.splice(world.ledger.dealings.indexOf(dealing), 1);
  const existedAt = moved;
  world.ledger.accounts.set(next.wallet, { ...account, firstFunder: old.wallet, existedAt });
  fund(world.ledger, { from: old.wallet, to: next.wallet, time: moved, usd: 500 });
  const after = { ...routine, times: routine.times.filter((time) => time >= moved) };
  lead(scene, next, { temper, routine: after });
  return [next.wallet];
}

function actByHand(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { usdc, wrapped } = world.market;
  const span = spanOf(scene);
  const venues = placesOf(world, random, { kind: "venue", count: 4, at: span.from });
  const payees = placesOf(world, random, { kind: "merchant", count: 5, at: span.from });
  const times: number[] = [];
  const perDay = random.between(2, 4) / 7;
  for (let time = span.from; time < span.until; time += random.exponential(1 / perDay) * DAY) {
    for (let n = random.int(5, 25); n > 0; n -= 1) times.push(time + random.between(0, 2_400));
  }
  const amount = usualAmount(random);
  const next = () => {
    if (random.chance(0.4)) return pay(world.market, random.pick(payees).address, amount);
    const usd = logBetween(random, 10, 400);
    return swap(world.market, { venue: random.pick(venues), sold: usdc, bought: wrapped, usd });
  };
  const temper = soundTemper(scene, { trade: "trader", span, ...failing(scene, [0.02, 0.04]) });
  const routine = { times: times.filter((time) => time < span.until).sort((a, b) => a - b), next };
  return settleAs(scene, temper, routine);
}

function workInEscrows(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const escrows = placesOf(world, random, { kind: "escrow", count: random.int(1, 2), at: span.from });
  const due: { readonly time: number; readonly method: "submit" | "complete" | "claim" }[] = [];
  for (const start of demandTimes(random, { ...span, perDay: 3 / 7 })) {
    let time = start;
    for (const method of ["submit", "complete", "claim"] as const) {
      if (time < span.until) due.push({ time, method });
      time += random.between(0.1, 1) * DAY;
    }
  }
  due.sort((a, b) => a.time - b.time);
  let turn = 0;
  const next = () => {
    const method = due[turn]?.method ?? "claim";
    turn += 1;
    return work(random.pick(escrows), METHODS[method]);
  };
  const temper = soundTemper(scene, { trade: "escrow_worker", span, ...failing(scene, [0.003, 0.02]) });
  return settleAs(scene, temper, { times: due.map(({ time }) => time), next });
}
