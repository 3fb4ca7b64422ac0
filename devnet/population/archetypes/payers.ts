import { type Address, getContractAddress } from "viem";
import { keeperTargetCreationCode } from "../../contract-list.ts";
import {
  type AgentContext,
  type Archetype,
  always,
  attempt,
  favourites,
  habitsOf,
  own,
  planned,
} from "../agent.ts";
import { createContract, listAsSanctioned, performTask } from "../deeds.ts";
import type { PlannedCall } from "../plan-types.ts";
import { ALL_HOURS, atRandom, DAY, HOUR, MINUTE, onceAWeek, wakingHours } from "../rhythm.ts";
import { sendCoin, sendToken } from "../token-deeds.ts";

/** Pays the same few merchants, mostly in USDC, in small bursts. */
export const paymentAgent = always({ name: "payment-agent", share: 18, purse: "usdc" }, pay, (random, span) =>
  atRandom(random, span, {
    perDay: random.between(1.75, 2.3),
    hours: wakingHours(random.int(4, 14), random.int(10, 16)),
  }),
);

/** One to three payments to the wallet's own merchants. */
function pay(context: AgentContext, at: number): PlannedCall[] {
  const merchants = favourites(context, "merchants", { among: context.world.merchants, count: [4, 10] });
  const coinShare = context.random.fork("means").between(0.25, 0.5);
  const random = context.random.fork(`at/${at}`);
  const payments = random.chance(0.2) ? random.int(2, 3) : 1;
  return Array.from({ length: payments }, (_, i) => at + i * random.int(1, 4) * MINUTE).flatMap((when) => {
    const merchant = random.pick(merchants);
    if (random.chance(coinShare)) {
      return [own(context, when, sendCoin(merchant, BigInt(random.int(1, 12)) * 10n ** 15n))];
    }
    const amount = BigInt(random.int(40, 2_500)) * 10_000n;
    const deed = sendToken(context.world.usdc.address, merchant, amount);
    return attempt(context, random, {
      at: when,
      deed,
      reliability: { failureRate: 0.01, retryMinutes: [4, 20] },
    });
  });
}

/** Paid now and then in its first days and has been silent ever since. */
export const dormant: Archetype = {
  name: "dormant",
  share: 10,
  purse: "usdc",
  plan: (context, span, random) => {
    const awake = Math.min(random.between(7, 14) * DAY, (span.end - span.start) / 6);
    const rate = { perDay: random.between(0.8, 1.4), hours: wakingHours(8, 14) };
    const times = atRandom(random, { start: span.start, end: span.start + awake }, rate);
    return times.flatMap((at) => pay(context, at).slice(-1));
  },
  step: null,
};

/** Pays like any payment agent, and was put on the sanctions list some time ago. */
export const sanctioned: Archetype = {
  name: "sanctioned",
  share: 7,
  purse: "usdc",
  plan: (context, span, random) => {
    const rate = { perDay: random.between(1.2, 1.8), hours: wakingHours(7, 14) };
    const listedAt = span.start + (span.end - span.start) * random.between(0.6, 0.98);
    const officer = { address: context.world.sanctionsOwner, habits: habitsOf(random.fork("officer")) };
    const listing = listAsSanctioned(context.world.contracts.sanctionsList, context.wallet.address);
    return [
      ...atRandom(random, span, rate).flatMap((at) => pay(context, at)),
      planned(officer, listedAt, listing),
    ];
  },
  step: pay,
};

/** Pays the same people once a week, one after the other, and does nothing in between. */
export const weeklyPayroll: Archetype = {
  name: "weekly-payroll",
  share: 11,
  purse: "usdc",
  plan: (context, span, random) => {
    const payees = random.sample(context.world.merchants, random.int(7, 10));
    const slot = {
      weekday: random.int(0, 4),
      second: random.int(6, 17) * HOUR,
      late: random.int(10, 50) * MINUTE,
    };
    const salary = BigInt(random.int(8, 40)) * 1_000_000n;
    return onceAWeek(random, span, slot).flatMap((payday) =>
      payees.flatMap((payee, i) => {
        const at = payday + i * random.int(40, 160);
        // Some are paid in native coin.
        if (i % 3 === 2) return [own(context, at, sendCoin(payee, salary * 5n * 10n ** 7n))];
        const deed = sendToken(context.world.usdc.address, payee, salary);
        return attempt(context, random, {
          at,
          deed,
          reliability: { failureRate: 0.008, retryMinutes: [5, 15] },
        });
      }),
    );
  },
  // Its week is its rhythm: a step in between would not be its own.
  step: null,
};

/** The rest is spent with others, for the looks of it. */
const INSIDE_SHARE = 0.72;

/** Wallets of one owner that pay one another round and round; the first of them funded the others. */
export const selfDealingRing = always(
  { name: "self-dealing-ring", share: 7, purse: "usdc" },
  deal,
  (random, span) => atRandom(random, span, { perDay: random.between(1, 2), hours: ALL_HOURS }),
);

function deal(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (!random.chance(INSIDE_SHARE)) return pay(context, at).slice(-1);
  const others = context.peers.filter((peer) => peer !== context.wallet.address);
  // A ring of one pays itself.
  const partner = random.pick(others.length > 0 ? others : context.peers);
  if (random.chance(0.7))
    return [own(context, at, sendCoin(partner, BigInt(random.int(1, 30)) * 10n ** 15n))];
  const deed = sendToken(context.world.usdc.address, partner, BigInt(random.int(1, 50)) * 1_000_000n);
  return attempt(context, random, { at, deed, reliability: { failureRate: 0.005, retryMinutes: [3, 9] } });
}

const CONTRACTS = 20;

/** Creates contracts without other users and calls them in rotation, to look like an account with many dealings. */
export const freshContractRing: Archetype = {
  name: "fresh-contract-ring",
  share: 3,
  purse: "usdc",
  plan: (context, span, random) => {
    const rate = { perDay: random.between(1.2, 2.2), hours: ALL_HOURS };
    const creations = Array.from({ length: CONTRACTS }, (_, i) =>
      own(context, span.start + i * MINUTE, createContract(keeperTargetCreationCode())),
    );
    const built = { start: span.start + CONTRACTS * MINUTE, end: span.end };
    return [...creations, ...atRandom(random, built, rate).flatMap((at) => rotate(context, at))];
  },
  step: rotate,
};

function rotate(context: AgentContext, at: number): PlannedCall[] {
  const random = context.random.fork(`at/${at}`);
  if (!random.chance(INSIDE_SHARE)) return pay(context, at).slice(-1);
  const target = contractOf(context.wallet.address, random.int(0, CONTRACTS - 1));
  return attempt(context, random, {
    at,
    deed: performTask(target, 1),
    reliability: { failureRate: 0.005, retryMinutes: [3, 9] },
  });
}

/** Its registration is its first transaction, and the creations follow before anything else. */
function contractOf(creator: Address, index: number): Address {
  return getContractAddress({ from: creator, nonce: BigInt(index + 1) });
}
