import type { Address } from "viem";
import { newAddress } from "./addresses.ts";
import { type Agent, deedOf, enrol, type Routine } from "./agent.ts";
import {
  type Character,
  failing,
  lead,
  NO_RETRY,
  type Scene,
  settleAs,
  someContract,
  soundTemper,
  spanOf,
} from "./character.ts";
import { logBetween } from "./draw.ts";
import { type Account, mine } from "./ledger.ts";
import { demandTimes, type Span, steadyTimes, withOutages } from "./rhythm.ts";
import { approve, METHODS, supply, swap, type Task, work } from "./tasks.ts";
import { allow, placesOf, routineOf, trader } from "./trades.ts";
import { DAY } from "./world.ts";

const HOUR = 3_600;
/** Methods of services that the other parts of the world do not have. */
const LIQUIDATE = "0x00a718a9";
const PLACE_ORDER = "0x4b2f336d";
const CANCEL_ORDER = "0x514fcac7";
const REBALANCE = "0x7d7c2a1c";
const RELAY = "0x0a4b5f3e";
const FINALISE = "0x8c3152e9";
const MINT = "0x1249c58b";
const EXECUTE = "0x09c5eabe";

/** Agents that work for their owners in markets and protocols. */
export const HONEST_WORKERS: readonly Character[] = [
  {
    name: "searcher",
    what: "takes price differences between venues, half of them through an executor contract that another key of its owner deployed; loses 25 to 35 % of its races by design, cheaply, and does not try again",
    worth: "B",
    live: (scene) => race(scene, { lost: [0.25, 0.35], perDay: [6, 25], executor: 0.5 }),
  },
  {
    name: "arbitrage_own_contract",
    what: "the same through an executor contract in every case, losing 5 to 11 %",
    worth: "A",
    live: (scene) => race(scene, { lost: [0.05, 0.11], perDay: [5, 20], executor: 1 }),
  },
  {
    name: "liquidation_keeper",
    what: "liquidates loans in one to three lending markets when prices move; loses 40 to 50 % of its races, cheaply, and bids two to six times the market's price by design",
    worth: "B",
    live: liquidate,
  },
  {
    name: "memecoin_sniper",
    what: "buys tokens hours after their launch and sells them; 14 to 22 % fail, prices two to five times the market's",
    worth: "C",
    live: snipe,
  },
  {
    name: "nft_minter",
    what: "mints from collections that are hours to ten days old, each with 3 to 300 other minters; 3 to 8 % fail",
    worth: "B",
    live: mint,
  },
  {
    name: "market_maker",
    what: "places and cancels orders at one or two venues, 12 to 30 a day",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      const venues = pick(scene, "venue", scene.random.int(1, 2), span);
      const perDay = scene.random.between(12, 30);
      const jitter = scene.random.between(0.3, 1);
      const times = steadyTimes(scene.random, { ...span, interval: DAY / perDay, jitter });
      const next = () =>
        work(scene.random.pick(venues), scene.random.chance(0.55) ? PLACE_ORDER : CANCEL_ORDER, 110_000);
      return settleAs(scene, soundTemper(scene, { trade: "trader", span }), {
        times: withOutages(scene.random, times, span),
        next,
      });
    },
  },
  {
    name: "vault_manager",
    what: "rebalances and harvests the vaults of one protocol, 4 to 20 times a day",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      const [vault] = pick(scene, "venue", 1, span);
      const perDay = logBetween(scene.random, 4, 20);
      const times = demandTimes(scene.random, { ...span, perDay });
      return settleAs(scene, soundTemper(scene, { trade: "keeper", span }), {
        times: withOutages(scene.random, times, span),
        next: () => work(vault, scene.random.chance(0.6) ? REBALANCE : METHODS.claim, 280_000),
      });
    },
  },
  {
    name: "oracle",
    what: "reports to one to four price feeds by heartbeat and when prices move",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      return settleAs(scene, soundTemper(scene, { trade: "oracle_feeder", span }), (agent) =>
        routineOf("oracle_feeder", { ...scene, agent, span, pace: 0.3 }),
      );
    },
  },
  {
    name: "bridge_relayer",
    what: "relays and finalises messages of one bridge, 6 to 30 a day",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      const [bridge] = pick(scene, "escrow", 1, span);
      const times = demandTimes(scene.random, { ...span, perDay: logBetween(scene.random, 6, 30) });
      return settleAs(scene, soundTemper(scene, { trade: "keeper", span }), {
        times: withOutages(scene.random, times, span),
        next: () => work(bridge, scene.random.chance(0.5) ? RELAY : FINALISE, 150_000),
      });
    },
  },
  {
    name: "trader",
    what: "swaps listed tokens at 5 to 18 venues, 4 to 40 times a day",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      return settleAs(scene, soundTemper(scene, { trade: "trader", span }), (agent) =>
        trader({ ...scene, agent, span, pace: 0.6 }, 0.05),
      );
    },
  },
  {
    name: "dca_weekly",
    what: "buys for 20 to 200 dollars at one venue once a week",
    worth: "A",
    live: (scene) => average(scene, 7),
  },
  {
    name: "dca_daily",
    what: "the same once a day",
    worth: "A",
    live: (scene) => average(scene, 1),
  },
  {
    name: "rebalancer_young_vaults",
    what: "moves thousands of dollars between vaults that are 5 to 25 days old when it first uses them, each with 2 to 40 other users, and leaves some approvals open",
    worth: "B",
    live: rotate,
  },
];

function pick(
  { world, random }: Scene,
  kind: "venue" | "target" | "escrow",
  count: number,
  { from }: Span,
): readonly [Account, ...Account[]] {
  const [first, ...rest] = placesOf(world, random, { kind, count, at: from });
  if (first === undefined) throw new Error(`the world has no ${kind}`);
  return [first, ...rest];
}

/** A contract of the owner's, deployed by a key of its own that the owner funded. */
function executorOf({ world, random }: Scene, { owner }: Agent): Address {
  const { ledger, start } = world;
  const [deployer, address] = [newAddress(random), newAddress(random)];
  const existedAt = start - random.between(5, 200) * DAY;
  const key = { address: deployer, hasCode: false, creator: null, firstFunder: owner };
  ledger.accounts.set(deployer, { ...key, existedAt: existedAt - DAY });
  ledger.accounts.set(address, { address, hasCode: true, creator: deployer, firstFunder: null, existedAt });
  return address;
}

function race(
  scene: Scene,
  rule: {
    readonly lost: readonly [number, number];
    readonly perDay: readonly [number, number];
    /** Probability that it acts through a contract of its owner's. */
    readonly executor: number;
  },
): readonly Address[] {
  const { world, random } = scene;
  const { usdc, wrapped } = world.market;
  const span = spanOf(scene);
  const agent = enrol(world, random, { owned: true });
  const venues = pick(scene, "venue", random.int(3, 8), span);
  const executor = random.chance(rule.executor) ? executorOf(scene, agent) : null;
  const revertGas = random.between(32_000, 60_000);
  const task =
    (route: readonly [Account, ...Account[]]): Task =>
    (time) => ({
      to: executor ?? route[0].address,
      selector: executor === null ? METHODS.swap : EXECUTE,
      effect: "other",
      emitters: [usdc.address, wrapped.address, ...route.map(({ address }) => address)],
      moves: [{ token: usdc.address, amount: world.market.unitsOf(usdc, random.between(0.05, 3), time) }],
      gas: 240_000,
      revertGas,
    });
  const overpay = logBetween(random, 1.1, 2.5);
  const temper = soundTemper(scene, {
    trade: "trader",
    span,
    ...failing(scene, rule.lost),
    retry: NO_RETRY,
    outOfGas: 0,
    overpay: () => overpay,
  });
  const times = demandTimes(random, { ...span, perDay: logBetween(random, ...rule.perDay) });
  const routine = {
    times: withOutages(random, times, span),
    next: () => {
      const [first, second] = random.sample(venues, 2);
      if (first === undefined || second === undefined) throw new Error("a race needs two venues");
      return task([first, second]);
    },
  };
  lead(scene, agent, { temper, routine });
  return [agent.wallet];
}

function liquidate(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { usdc, wrapped } = world.market;
  const span = spanOf(scene);
  const pools = pick(scene, "target", random.int(1, 3), span);
  const times: number[] = [];
  const perDay = random.between(0.7, 2.5);
  for (let time = span.from; time < span.until; time += random.exponential(1 / perDay) * DAY) {
    for (let n = random.int(2, 12); n > 0; n -= 1) times.push(time + random.between(0, HOUR / 2));
  }
  const revertGas = random.between(40_000, 80_000);
  const next = (): Task => {
    const pool = random.pick(pools).address;
    return (time) => ({
      to: pool,
      selector: LIQUIDATE,
      effect: "other",
      emitters: [usdc.address, wrapped.address, pool],
      moves: [
        { token: usdc.address, amount: world.market.unitsOf(usdc, -500, time) },
        { token: wrapped.address, amount: world.market.unitsOf(wrapped, 520, time) },
      ],
      gas: 350_000,
      revertGas,
    });
  };
  const overpay = logBetween(random, 2, 6);
  const temper = soundTemper(scene, {
    trade: "keeper",
    span,
    ...failing(scene, [0.4, 0.5]),
    retry: NO_RETRY,
    outOfGas: 0,
    overpay: () => overpay,
  });
  const routine = { times: times.filter((time) => time < span.until).sort((a, b) => a - b), next };
  return settleAs(scene, temper, routine);
}

function snipe(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { wrapped } = world.market;
  const span = spanOf(scene);
  const [router] = pick(scene, "venue", 1, span);
  const times = demandTimes(random, { ...span, perDay: logBetween(random, 2, 10) });
  const held: { readonly address: Address; readonly decimals: number; readonly usd: number }[] = [];
  const next = (time: number): Task => {
    const sold = held.length > 0 && random.chance(0.45) ? held.shift() : undefined;
    if (sold !== undefined) {
      return swap(world.market, { venue: router, sold, bought: wrapped, usd: sold.usd });
    }
    const token = { address: newAddress(random), decimals: 18 };
    const existedAt = time - random.between(0.05, 1) * DAY;
    someContract(scene, { ...token, creator: newAddress(random), existedAt, users: [2, 200] });
    const usd = logBetween(random, 10, 200);
    held.push({ ...token, usd });
    return swap(world.market, { venue: router, sold: wrapped, bought: token, usd });
  };
  const overpay = logBetween(random, 2, 5);
  const temper = soundTemper(scene, {
    trade: "trader",
    span,
    ...failing(scene, [0.14, 0.22]),
    overpay: () => overpay,
  });
  return settleAs(scene, temper, { times, next });
}

function mint(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const times = demandTimes(random, { ...span, perDay: logBetween(random, 1, 5) });
  let left = 0;
  let collection: Address = newAddress(random);
  let price = 0;
  const next = (time: number): Task => {
    if (left === 0) {
      left = random.int(3, 12);
      collection = newAddress(random);
      const existedAt = time - random.between(0.1, 10) * DAY;
      const place = { address: collection, creator: newAddress(random), existedAt };
      someContract(scene, { ...place, users: [3, 300] });
      price = random.chance(0.4) ? 0 : logBetween(random, 0.5, 15);
    }
    left -= 1;
    const [to, usd] = [collection, price];
    return (at) => ({
      to,
      selector: MINT,
      value: usd === 0 ? 0n : world.market.weiOf(usd, at),
      usd,
      effect: "other",
      emitters: [to],
      gas: 120_000,
    });
  };
  const temper = soundTemper(scene, { trade: "trader", span, ...failing(scene, [0.03, 0.08]) });
  return settleAs(scene, temper, { times, next });
}

function average(scene: Scene, everyDays: number): readonly Address[] {
  const { world, random } = scene;
  const { usdc, wrapped } = world.market;
  const span = spanOf(scene);
  const [venue] = pick(scene, "venue", 1, span);
  const usd = logBetween(random, 20, 200);
  const interval = everyDays * DAY;
  const times = steadyTimes(random, { ...span, interval, jitter: 0.002 / everyDays });
  const temper = soundTemper(scene, { trade: "trader", span, ...failing(scene, [0, 0.02]) });
  return settleAs(scene, temper, (agent) => {
    allow(world, agent, { spender: venue.address, at: span.from });
    return { times, next: () => swap(world.market, { venue, sold: usdc, bought: wrapped, usd }) };
  });
}

function rotate(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const agent = enrol(world, random);
  const temper = soundTemper(scene, { trade: "trader", span, ...failing(scene, [0.005, 0.02]) });
  const times = withOutages(random, demandTimes(random, { ...span, perDay: random.between(2, 6) }), span);
  let vaults: readonly Account[] = [];
  let until = 0;
  const next: Routine["next"] = (time) => {
    if (time >= until) {
      until = time + random.between(10, 20) * DAY;
      vaults = Array.from({ length: random.int(2, 4) }, () => youngVault(time));
    }
    const vault = random.pick(vaults);
    const usd = logBetween(random, 300, 5_000);
    return random.chance(0.5) ? supply(world.market, vault, usd) : withdraw(vault, usd);
  };
  lead(scene, agent, { temper, routine: { times, next } });
  return [agent.wallet];

  function youngVault(time: number): Account {
    const address = newAddress(random);
    const creator = newAddress(random);
    const existedAt = time - random.between(5, 25) * DAY;
    someContract(scene, { address, creator, existedAt, users: [2, 40] });
    const at = Math.max(world.start, time - 120);
    const deed = deedOf(random, temper, { task: approve(world.market.usdc), time: at, failure: 0 });
    mine({ ...world, random }, agent.wallet, deed);
    // Two in three take the rest of an approval back when they leave.
    if (random.chance(0.33)) allow(world, agent, { spender: address, at: time });
    return { address, hasCode: true, creator, firstFunder: null, existedAt };
  }

  function withdraw({ address }: Account, usd: number): Task {
    const { usdc } = world.market;
    return (time) => ({
      to: address,
      selector: METHODS.withdraw,
      effect: "other",
      emitters: [usdc.address, address],
      moves: [{ token: usdc.address, amount: world.market.unitsOf(usdc, usd, time) }],
      gas: 160_000,
    });
  }
}
