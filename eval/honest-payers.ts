import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import { newAddress } from "./addresses.ts";
import { enrol } from "./agent.ts";
import { silentAccount } from "./bazaar.ts";
import { type Character, failing, lead, type Scene, settleAs, soundTemper, spanOf } from "./character.ts";
import { logBetween, poisson, zipfPicker } from "./draw.ts";
import { fund } from "./ledger.ts";
import { demandTimes, withOutages } from "./rhythm.ts";
import { pay, payNative, type Task, usualAmount } from "./tasks.ts";
import { placesOf, routineOf } from "./trades.ts";
import { DAY, someFunder } from "./world.ts";

/** Agents that pay or are paid. */
export const HONEST_PAYERS: readonly Character[] = [
  {
    name: "payer_busy_merchants",
    what: "pays 5 to 40 payees that others pay as well, 5 to 60 times a day",
    worth: "A",
    live: (scene) => {
      const span = spanOf(scene);
      return settleAs(scene, soundTemper(scene, { trade: "payment_agent", span }), (agent) =>
        routineOf("payment_agent", { ...scene, agent, span, pace: 0.6 }),
      );
    },
  },
  {
    name: "payroll_new_accounts",
    what: "pays 10 to 40 employees each week 300 to 3,000 dollars in USDC, each at an account made for it about the day of its first pay",
    worth: "A",
    live: payNewAccounts,
  },
  {
    name: "payouts_new_users_native",
    what: "pays 500 new users about twice each in native coin, 1 to 20 dollars; for most the first coin that they ever have, of which they spend some with others later",
    worth: "A",
    live: payOut,
  },
  {
    name: "loyal_suppliers",
    what: "pays three suppliers that never sent a transaction and that no other account is seen to pay, 5 to 50 dollars three or four times a day",
    worth: "A",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const suppliers = Array.from({ length: 3 }, () => supplier(scene));
      const times = demandTimes(random, { ...span, perDay: random.between(2.5, 4.5) });
      const next = () => pay(world.market, random.pick(suppliers), () => logBetween(random, 5, 50));
      const temper = soundTemper(scene, {
        trade: "payment_agent",
        span,
        ...failing(scene, [0.001, 0.008]),
      });
      return settleAs(scene, temper, { times: withOutages(random, times, span), next });
    },
  },
  {
    name: "subscriptions",
    what: "pays 6 to 12 established payees on a day of each month and two of them each week",
    worth: "A",
    live: subscribe,
  },
  {
    name: "x402_payer_own_transfers",
    what: "pays two cents to three x402 sellers by transfers of its own, 4 to 28 times a day; the sellers never send a transaction, and others pay them by signed authorizations",
    worth: "A",
    live: (scene) => {
      const { world, random } = scene;
      const span = spanOf(scene);
      const sellers = sellersFor(scene);
      const times = demandTimes(random, { ...span, perDay: logBetween(random, 4, 28) });
      const next = () => pay(world.market, random.pick(sellers), () => 0.02);
      const temper = soundTemper(scene, {
        trade: "payment_agent",
        span,
        ...failing(scene, [0.001, 0.005]),
      });
      return settleAs(scene, temper, { times: withOutages(random, times, span), next });
    },
  },
  {
    name: "x402_payer_gasless",
    what: "pays three x402 sellers 600 times in 180 days, one to ten cents each, by signed authorizations alone; it never sent a transaction",
    worth: "A",
    live: (scene) => {
      const { world, random } = scene;
      const wallet = gaslessWallet(scene);
      const sellers = sellersFor(scene);
      const usd = logBetween(random, 0.01, 0.1);
      const times = demandTimes(random, { ...spanOf(scene), perDay: 600 / world.days });
      for (const time of times) {
        const payee = random.pick(sellers);
        world.ledger.authorizations.push({ authorizer: wallet, payee, time, count: 1, usd });
      }
      return [wallet];
    },
  },
  {
    name: "x402_seller_gasless",
    what: "is paid 600 times in 180 days, five cents each, by 10 to 40 agents that also pay others; it never sent a transaction",
    worth: "A",
    live: sellGasless,
  },
  {
    name: "seller_sweeps_to_treasury",
    what: "is paid by 10 to 50 customers; of its own calls 60 to 70 % carry income to a treasury that it was the first to fund, the rest pays established payees",
    worth: "A",
    live: sweep,
  },
  {
    name: "platform_agents",
    what: "six agents of one platform pay each other for work, 3 to 12 times a day; the platform's funder, which no list names, funded 150 other accounts as well",
    worth: "A",
    live: liveOnPlatform,
  },
  {
    name: "smart_account_native",
    what: "a smart account that pays 6 to 20 payees in native coin",
    worth: "A",
    live: (scene) => payFromSmartAccount(scene, "native"),
  },
  {
    name: "smart_account_tokens",
    what: "a smart account that pays them in USDC",
    worth: "A",
    live: (scene) => payFromSmartAccount(scene, "tokens"),
  },
  {
    name: "eip_7702",
    what: "pays established payees with a wallet that runs the code of an audited delegate, which no account calls directly",
    worth: "A",
    live: delegate,
  },
];

function sellersFor({ random, bazaar }: Scene): readonly Address[] {
  const pick = zipfPicker(bazaar.sellers);
  const chosen = new Set<Address>();
  while (chosen.size < 3) chosen.add(pick(random));
  return [...chosen];
}

/** A followed wallet that holds tokens alone. */
function gaslessWallet({ world, random }: Scene): Address {
  const wallet = silentAccount(world, random, 100);
  world.ledger.calls.set(wallet, []);
  return wallet;
}

/** Never sent a transaction; half of such accounts got some coin from an exchange. */
function supplier({ world, random }: Scene): Address {
  const address = silentAccount(world, random, 300);
  const account = world.ledger.accounts.get(address);
  if (account !== undefined && random.chance(0.5)) {
    world.ledger.accounts.set(address, { ...account, firstFunder: random.pick(world.publicFunders) });
  }
  return address;
}

function payNewAccounts(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const staff: { readonly address: Address; readonly usd: number }[] = [];
  const hire = (time: number) => {
    const address = newAddress(random);
    const existedAt = time + random.between(-15, 3) * DAY;
    const firstFunder = random.chance(0.7) ? someFunder(random, world) : null;
    world.ledger.accounts.set(address, { address, hasCode: false, creator: null, firstFunder, existedAt });
    if (firstFunder === null) world.ledger.neverSent.add(address);
    staff.push({ address, usd: logBetween(random, 300, 3_000) });
  };
  const times: number[] = [];
  const tasks: Task[] = [];
  for (let i = random.int(10, 30); i > 0; i -= 1) hire(span.from);
  for (let week = span.from + random.between(0.3, 6) * DAY; week < span.until - DAY; week += 7 * DAY) {
    if (random.chance(0.4)) hire(week);
    for (const [turn, { address, usd }] of staff.entries()) {
      times.push(week + turn * 20);
      tasks.push(pay(world.market, address, () => usd));
    }
  }
  let turn = 0;
  const temper = soundTemper(scene, { trade: "payment_agent", span, ...failing(scene, [0, 0.004]) });
  return settleAs(scene, temper, { times, next: () => taskAt(tasks, turn++) });
}

function taskAt(tasks: readonly Task[], turn: number): Task {
  const task = tasks[turn];
  if (task === undefined) throw new RangeError(`${tasks.length} tasks, none at ${turn}`);
  return task;
}

function payOut(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { ledger } = world;
  const span = spanOf(scene);
  const agent = enrol(world, random);
  const merchant = zipfPicker(world.places.merchant);
  const users: Address[] = [];
  const newUser = (time: number): Address => {
    const address = newAddress(random);
    const isFirst = random.chance(0.8);
    const firstFunder = isFirst ? agent.wallet : someFunder(random, world);
    const existedAt = time + random.between(0.1, 10) * DAY;
    ledger.accounts.set(address, { address, hasCode: false, creator: null, firstFunder, existedAt });
    if (random.chance(0.35)) ledger.neverSent.add(address);
    else {
      for (let n = poisson(random, 3 * world.readShare); n > 0; n -= 1) {
        const sentMicroUsd = BigInt(Math.round(logBetween(random, 0.2, 5) * 1e6));
        const counterparty = merchant(random).address;
        const at = Math.min(span.until, existedAt + random.exponential(20) * DAY);
        ledger.dealings.push({
          account: address,
          counterparty,
          time: Math.floor(at),
          calls: 1,
          sentMicroUsd,
        });
      }
    }
    users.push(address);
    return address;
  };
  const times = demandTimes(random, { ...span, perDay: 1_000 / world.days });
  const next = (time: number) => {
    const user =
      users.length > 0 && (users.length >= 500 || random.chance(0.5)) ? random.pick(users) : newUser(time);
    return payNative(world.market, user, () => logBetween(random, 1, 20));
  };
  const temper = soundTemper(scene, { trade: "payment_agent", span, ...failing(scene, [0, 0.004]) });
  lead(scene, agent, { temper, routine: { times, next } });
  return [agent.wallet];
}

function subscribe(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(6, 12), at: span.from });
  const due: { readonly time: number; readonly task: Task }[] = [];
  for (const [place, { address }] of payees.entries()) {
    const usd = logBetween(random, 3, 60);
    const every = place < 2 ? 7 : 30;
    for (let time = span.from + random.between(0, every) * DAY; time < span.until; time += every * DAY) {
      due.push({ time: time + random.between(0, 600), task: pay(world.market, address, () => usd) });
    }
  }
  due.sort((a, b) => a.time - b.time);
  const tasks = due.map(({ task }) => task);
  let turn = 0;
  const temper = soundTemper(scene, { trade: "payment_agent", span, ...failing(scene, [0, 0.01]) });
  return settleAs(scene, temper, {
    times: due.map(({ time }) => Math.min(time, span.until)),
    next: () => taskAt(tasks, turn++),
  });
}

function sellGasless(scene: Scene): readonly Address[] {
  const { world, random, bazaar } = scene;
  const wallet = gaslessWallet(scene);
  const payers = random.sample(bazaar.payers, random.int(10, 40));
  const pick = zipfPicker(payers);
  for (const time of demandTimes(random, { ...spanOf(scene), perDay: 600 / world.days })) {
    world.ledger.authorizations.push({ authorizer: pick(random), payee: wallet, time, count: 1, usd: 0.05 });
  }
  return [wallet];
}

function sweep(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { ledger } = world;
  const span = spanOf(scene);
  const agent = enrol(world, random);
  const treasury = newAddress(random);
  const existedAt = span.from + DAY;
  const account = { address: treasury, hasCode: false, creator: null, firstFunder: agent.wallet };
  ledger.accounts.set(treasury, { ...account, existedAt });
  for (let n = random.int(10, 50); n > 0; n -= 1) receive(newAddress(random));
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(4, 10), at: span.from });
  const share = random.between(0.6, 0.7);
  const amount = usualAmount(random);
  const next = () =>
    random.chance(share)
      ? pay(world.market, treasury, () => logBetween(random, 20, 300))
      : pay(world.market, random.pick(payees).address, amount);
  const times = demandTimes(random, { ...span, perDay: random.between(3, 10) });
  const temper = soundTemper(scene, { trade: "payment_agent", span });
  lead(scene, agent, { temper, routine: { times: withOutages(random, times, span), next } });
  return [agent.wallet];

  function receive(customer: Address): void {
    const account = { address: customer, hasCode: false, creator: null };
    const firstFunder = someFunder(random, world);
    const age = random.between(20, 500) * DAY;
    ledger.accounts.set(customer, { ...account, firstFunder, existedAt: world.start - age });
    for (let i = random.int(3, 40); i > 0; i -= 1) {
      const sentMicroUsd = BigInt(Math.round(logBetween(random, 2, 80) * 1e6));
      const time = Math.floor(random.between(span.from, span.until));
      ledger.dealings.push({ account: customer, counterparty: agent.wallet, time, calls: 1, sentMicroUsd });
    }
  }
}

function liveOnPlatform(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const { ledger, start, days } = world;
  const span = spanOf(scene);
  const platform = newAddress(random);
  const origin = { hasCode: false, creator: null };
  ledger.accounts.set(platform, {
    ...origin,
    address: platform,
    firstFunder: random.pick(world.publicFunders),
    existedAt: start - 300 * DAY,
  });
  const enlist = (): Address => {
    const address = newAddress(random);
    const existedAt = start - random.between(-20, 100) * DAY;
    ledger.accounts.set(address, { ...origin, address, firstFunder: platform, existedAt });
    fund(ledger, { from: platform, to: address, time: Math.max(start, existedAt), usd: 5 });
    return address;
  };
  for (let i = 0; i < 150; i += 1) actElsewhere(scene, enlist());
  const agents = Array.from({ length: 6 }, () => {
    const wallet = newAddress(random);
    const existedAt = start - random.between(1, 100) * DAY;
    ledger.accounts.set(wallet, { ...origin, address: wallet, firstFunder: platform, existedAt });
    ledger.calls.set(wallet, []);
    for (let day = 0; day < days; day += 30) {
      fund(ledger, { from: platform, to: wallet, time: start + day * DAY, usd: 20 });
    }
    return wallet;
  });
  for (const wallet of agents) {
    const others = agents.filter((other) => other !== wallet);
    const times = demandTimes(random, { ...span, perDay: random.between(3, 12) });
    const next = () => pay(world.market, random.pick(others), () => logBetween(random, 0.05, 2));
    const temper = soundTemper(scene, { trade: "payment_agent", span });
    lead(scene, { wallet }, { temper, routine: { times: withOutages(random, times, span), next } });
  }
  return agents;
}

/** Adds the visible calls of an account that is not followed. */
function actElsewhere({ world, random }: Scene, account: Address): void {
  const venue = zipfPicker(world.places.venue);
  for (let n = poisson(random, 20 * world.readShare); n > 0; n -= 1) {
    const time = Math.floor(world.start + random.next() * world.days * DAY);
    const counterparty = venue(random).address;
    world.ledger.dealings.push({ account, counterparty, time, calls: 1, sentMicroUsd: 0n });
  }
}

function payFromSmartAccount(scene: Scene, kind: "native" | "tokens"): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const agent = enrol(world, random);
  const account = world.ledger.accounts.get(agent.wallet);
  if (account === undefined) throw new Error(`${agent.wallet} was not enrolled`);
  // A factory made it, in a transaction of a bundler.
  world.ledger.accounts.set(agent.wallet, { ...account, hasCode: true, firstFunder: null });
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(6, 20), at: span.from });
  const amount = usualAmount(random);
  const times = demandTimes(random, { ...span, perDay: logBetween(random, 2, 12) });
  const next = (): Task => {
    const { address } = random.pick(payees);
    const task =
      kind === "native" ? payNative(world.market, address, amount) : pay(world.market, address, amount);
    return (time) => ({ ...task(time), gas: 110_000, execution: true });
  };
  const temper = soundTemper(scene, { trade: "payment_agent", span, ...failing(scene, [0.005, 0.015]) });
  lead(scene, agent, { temper, routine: { times: withOutages(random, times, span), next } });
  return [agent.wallet];
}

function delegate(scene: Scene): readonly Address[] {
  const { world, random } = scene;
  const span = spanOf(scene);
  const to = auditedDelegate(world.start, random);
  world.ledger.accounts.set(to.address, to);
  const temper = soundTemper(scene, { trade: "payment_agent", span });
  const payees = placesOf(world, random, { kind: "merchant", count: random.int(6, 25), at: span.from });
  const pick = zipfPicker(payees);
  const amount = usualAmount(random);
  const times = demandTimes(random, { ...span, perDay: logBetween(random, 4, 25) });
  return settleAs(scene, temper, (agent) => {
    world.ledger.delegations.set(agent.wallet, { to: to.address, time: span.from + 20 * DAY });
    const next = () => pay(world.market, pick(random).address, amount);
    return { times: withOutages(random, times, span), next };
  });
}

function auditedDelegate(start: number, random: Random) {
  return {
    address: newAddress(random),
    hasCode: true,
    creator: newAddress(random),
    firstFunder: null,
    existedAt: start - random.between(120, 400) * DAY,
  };
}
