import type { Address } from "viem";
import { newAddress } from "./addresses.ts";
import { enrol } from "./agent.ts";
import { failing, type Harm, lead, type Scene, settleAs, soundTemper, spanOf } from "./character.ts";
import { logBetween } from "./draw.ts";
import { demandTimes, steadyTimes, withOutages } from "./rhythm.ts";
import { approve, METHODS, pay, swap, type Task, work } from "./tasks.ts";
import { placesOf, trader } from "./trades.ts";
import { DAY } from "./world.ts";

const DISPERSE = "0xc73a2d60";
const BATCH = "0x8d80ff0a";
const PING = "0x5c36b186";

/** Wallets that do harm or are of no use; on chain most of what they do goes well. */
export const HARMFUL: readonly Harm[] = [
  {
    name: "wash_trader",
    what: "swaps the same amount to and fro at two established venues, 10 to 25 times a day, an hour or more between a swap and its return",
    live: (scene) => {
      const { world, random } = scene;
      const { usdc, wrapped } = world.market;
      const span = spanOf(scene);
      const venues = placesOf(world, random, { kind: "venue", count: 2, at: span.from });
      const usd = logBetween(random, 200, 2_000);
      let turn = 0;
      const next = () => {
        turn += 1;
        // Both legs of a trip are further apart than an hour.
        const [sold, bought] = turn % 10 < 5 ? [usdc, wrapped] : [wrapped, usdc];
        return swap(world.market, { venue: random.pick(venues), sold, bought, usd });
      };
      const interval = DAY / random.between(10, 25);
      const times = steadyTimes(random, { ...span, interval, jitter: 0.8 });
      return settleAs(scene, soundTemper(scene, { trade: "trader", span }), { times, next });
    },
  },
  {
    name: "scam_airdropper",
    what: "sends its own worthless tokens to hundreds of strangers a day through a popular contract that spreads them",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const [spreader] = placesOf(world, random, { kind: "venue", count: 1, at: span.from });
      if (spreader === undefined) throw new Error("the world has no venue");
      return settleAs(scene, soundTemper(scene, { trade: "keeper", span }), (agent) => {
        const tokens = Array.from({ length: 4 }, () => ownContract(scene, agent.wallet));
        const next = (): Task => () => ({
          to: spreader.address,
          selector: DISPERSE,
          effect: "other",
          emitters: [random.pick(tokens), spreader.address],
          gas: 2_000_000,
        });
        return { times: demandTimes(random, { ...span, perDay: random.between(5, 20) }), next };
      });
    },
  },
  {
    name: "address_poisoner",
    what: "sends a few cents from look-alike addresses, in batches through a contract that another key of its owner deployed, each to a victim that an exchange funded",
    live: (scene) => {
      const { world, random } = scene;
      const { usdc } = world.market;
      const span = spanOf(scene);
      const batch = ownContract(scene, strangerKey(scene));
      const next = (): Task => (time) => ({
        to: batch,
        selector: BATCH,
        effect: "other",
        emitters: [usdc.address],
        moves: [{ token: usdc.address, amount: -world.market.unitsOf(usdc, 0.05, time) }],
        gas: 600_000,
      });
      const times = demandTimes(random, { ...span, perDay: random.between(5, 20) });
      return settleAs(scene, soundTemper(scene, { trade: "keeper", span }), { times, next });
    },
  },
  {
    name: "exit_scammer",
    what: "works soundly in escrows and pays its suppliers until 60 clients have paid it 500 dollars each in the last days, of which it delivers nothing",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const agent = enrol(world, random);
      const escrows = placesOf(world, random, { kind: "escrow", count: 3, at: span.from });
      const suppliers = placesOf(world, random, { kind: "merchant", count: 5, at: span.from });
      const next = () =>
        random.chance(0.15)
          ? pay(world.market, random.pick(suppliers).address, () => logBetween(random, 0.5, 10))
          : work(random.pick(escrows), random.chance(0.7) ? METHODS.submit : METHODS.claim);
      const times = demandTimes(random, { ...span, perDay: random.between(3, 12) });
      const temper = soundTemper(scene, { trade: "escrow_worker", span });
      lead(scene, agent, { temper, routine: { times: withOutages(random, times, span), next } });
      for (let i = 0; i < 60; i += 1) {
        const account = someVictim(scene);
        const time = Math.floor(span.until - random.between(0.1, 4) * DAY);
        const paid = { account, counterparty: agent.wallet, time, calls: 1 };
        world.ledger.dealings.push({ ...paid, sentMicroUsd: 500_000_000n });
      }
      return [agent.wallet];
    },
  },
  {
    name: "drainer",
    what: "takes what victims approved through contracts that other keys of its owner deployed, a new one every two weeks, and sends it on to new accounts",
    live: drain,
  },
  {
    name: "ping_bot",
    what: "calls one popular contract for its cheapest effect every one to four hours, for no purpose",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const [place] = placesOf(world, random, { kind: "venue", count: 1, at: span.from });
      if (place === undefined) throw new Error("the world has no venue");
      const interval = logBetween(random, 4_000, 15_000);
      const times = steadyTimes(random, { ...span, interval, jitter: 0.6 });
      const temper = soundTemper(scene, { trade: "keeper", span, ...failing(scene, [0, 0.01]) });
      return settleAs(scene, temper, { times, next: () => work(place, PING, 45_000) });
    },
  },
  {
    name: "quest_farmer",
    what: "makes the least swap that counts at 10 to 18 popular venues, one wallet of many of its owner that an exchange funded apart",
    live: (scene) => {
      const { world, random } = scene;
      const { usdc, wrapped } = world.market;
      const span = spanOf(scene);
      const venues = placesOf(world, random, { kind: "venue", count: random.int(10, 18), at: span.from });
      const times = demandTimes(random, { ...span, perDay: random.between(1.5, 6) });
      const next = () => {
        const usd = logBetween(random, 0.5, 3);
        const [sold, bought] = random.chance(0.5) ? [usdc, wrapped] : [wrapped, usdc];
        return swap(world.market, { venue: random.pick(venues), sold, bought, usd });
      };
      return settleAs(scene, soundTemper(scene, { trade: "trader", span }), { times, next });
    },
  },
  {
    name: "rug_deployer",
    what: "deploys a token a week, opens its pool at an established venue and takes the liquidity back days later; trades listed tokens between",
    live: deployRugs,
  },
];

/** A contract of a wallet's or of a key's, older than the world by a month or two. */
function ownContract({ world, random }: Scene, creator: Address): Address {
  const address = newAddress(random);
  const existedAt = world.start - random.between(31, 80) * DAY;
  world.ledger.accounts.set(address, { address, hasCode: true, creator, firstFunder: null, existedAt });
  return address;
}

/** A key that an exchange funded, so that nothing links it to its owner's other wallets. */
function strangerKey({ world, random }: Scene): Address {
  const address = newAddress(random);
  const firstFunder = random.pick(world.publicFunders);
  const existedAt = world.start - random.between(80, 120) * DAY;
  world.ledger.accounts.set(address, { address, hasCode: false, creator: null, firstFunder, existedAt });
  return address;
}

function someVictim({ world, random }: Scene): Address {
  const address = newAddress(random);
  const firstFunder = random.pick(world.publicFunders);
  const existedAt = world.start - random.between(10, 700) * DAY;
  world.ledger.accounts.set(address, { address, hasCode: false, creator: null, firstFunder, existedAt });
  return address;
}

function drain(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { usdc } = world.market;
  const span = spanOf(scene);
  const times = demandTimes(random, { ...span, perDay: random.between(3, 10) });
  let contract = ownContract(scene, strangerKey(scene));
  let until = span.from + 14 * DAY;
  const next = (time: number): Task => {
    if (time >= until) {
      until = time + 14 * DAY;
      contract = newAddress(random);
      const creator = strangerKey(scene);
      const existedAt = time - DAY;
      const account = { address: contract, hasCode: true, creator, firstFunder: null, existedAt };
      world.ledger.accounts.set(contract, account);
    }
    if (random.chance(0.3)) {
      const fence = newAddress(random);
      const account = { address: fence, hasCode: false, creator: null, firstFunder: null };
      world.ledger.accounts.set(fence, { ...account, existedAt: time });
      world.ledger.neverSent.add(fence);
      return pay(world.market, fence, () => logBetween(random, 100, 3_000));
    }
    const to = contract;
    return (at) => ({
      to,
      selector: BATCH,
      effect: "other",
      emitters: [usdc.address],
      moves: [{ token: usdc.address, amount: world.market.unitsOf(usdc, random.between(50, 2_000), at) }],
      gas: 180_000,
    });
  };
  const temper = soundTemper(scene, { trade: "trader", span, ...failing(scene, [0.02, 0.06]) });
  return settleAs(scene, temper, { times, next });
}

function deployRugs(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { wrapped } = world.market;
  const span = spanOf(scene);
  const agent = enrol(world, random);
  const [venue] = placesOf(world, random, { kind: "venue", count: 1, at: span.from });
  if (venue === undefined) throw new Error("the world has no venue");
  const usual = trader({ world, random, agent, span, pace: 0.3 }, 0);
  const plan = usual.times.map((time): { readonly time: number; readonly task: Task | null } => ({
    time,
    task: null,
  }));
  for (let time = span.from + DAY; time < span.until - 7 * DAY; time += random.between(5, 9) * DAY) {
    plan.push(...rug(time));
  }
  plan.sort((a, b) => a.time - b.time);
  let turn = 0;
  const next = (time: number): Task => plan[turn++]?.task ?? usual.next(time);
  const temper = soundTemper(scene, { trade: "trader", span });
  lead(scene, agent, { temper, routine: { times: plan.map(({ time }) => time), next } });
  return [agent.wallet];

  function rug(time: number): readonly { readonly time: number; readonly task: Task }[] {
    const token = { address: newAddress(random), decimals: 18 };
    world.ledger.accounts.set(token.address, {
      address: token.address,
      hasCode: true,
      creator: agent.wallet,
      firstFunder: null,
      existedAt: time,
    });
    const pool = (usd: number, method: "supply" | "withdraw"): Task => {
      return (at) => ({
        to: venue?.address ?? null,
        selector: METHODS[method],
        effect: "other",
        emitters: [token.address, wrapped.address, venue?.address ?? token.address],
        moves: [{ token: wrapped.address, amount: world.market.unitsOf(wrapped, usd, at) }],
        gas: 250_000,
      });
    };
    const deploy: Task = () => ({
      to: null,
      selector: null,
      effect: "other",
      emitters: [token.address],
      gas: 1_200_000,
    });
    const taken = time + random.between(1, 4) * DAY;
    return [
      { time, task: deploy },
      { time: time + 300, task: approve(token) },
      { time: time + 600, task: pool(-2_000, "supply") },
      { time: taken, task: pool(logBetween(random, 2_500, 9_000), "withdraw") },
    ];
  }
}
