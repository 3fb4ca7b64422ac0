import type { Address } from "viem";
import type { CounterpartyFact, WalletRows } from "../../../../service/model/features/types.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  payment,
  randomFrom,
  rowsOf,
  START,
  type Step,
  USDC,
  withFacts,
} from "./histories.ts";

type Plan = { readonly days: number; readonly seed: number };

/** One call to one contract every four minutes; one in a hundred fails and the next succeeds. */
export function keeper({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  const steps: Step[] = [];
  for (let at = START; at < START + days * DAY; at += 240) {
    steps.push({ at: at + Math.floor(random() * 30), ok: random() >= 0.01 });
  }
  return steps;
}

/** Some trades a day in waking hours with a dozen venues; a failed one is tried again within minutes. */
export function diverseTrader({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day) =>
    Array.from({ length: 3 + Math.floor(random() * 6) }, () => {
      const to = account(2000 + Math.floor(random() ** 2 * 12));
      return withRetry(
        { at: day + (8 + random() * 12) * HOUR, to, ok: random() >= 0.03 },
        120 + random() * 600,
      );
    }).flat(),
  );
}

/** A dozen payments a day in one token to forty payees, at all hours. */
export function paymentAgent({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day) =>
    Array.from({ length: 8 + Math.floor(random() * 9) }, () => {
      const payee = account(3000 + Math.floor(random() * 40));
      const paid = payment(
        day + random() * DAY,
        payee,
        BigInt(1_000_000 + Math.floor(random() * 50_000_000)),
      );
      return withRetry({ ...paid, ok: random() >= 0.01 }, 60 + random() * 300);
    }).flat(),
  );
}

/** One or two jobs on working days: accept, deliver some hours later, collect the next morning. */
export function escrowWorker({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day, number) => {
    if (number % 7 > 4) return [];
    return Array.from({ length: 1 + Math.floor(random() * 2) }, () => {
      const accepted = day + (8 + random() * 3) * HOUR;
      const to = account(4000);
      return [
        ...withRetry({ at: accepted, to, selector: "0x00000001", ok: random() >= 0.02 }, 300),
        ...withRetry(
          { at: accepted + (2 + random() * 6) * HOUR, to, selector: "0x00000002", ok: random() >= 0.02 },
          600,
        ),
        { at: day + DAY + (8 + random()) * HOUR, to: account(4001), selector: "0x00000003" } as const,
      ];
    }).flat();
  });
}

/** One report an hour. */
export function oracleFeeder({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day) =>
    Array.from({ length: 24 }, (_, hour) => ({
      at: Math.floor(day + hour * HOUR + random() * 60),
      to: account(5000),
      ok: random() >= 0.005,
    })),
  );
}

/** Twenty salaries every Friday afternoon. */
export function weeklyPayroll({ days }: Plan): readonly Step[] {
  return eachDay(days, (day, number) => {
    if (number % 7 !== 4) return [];
    return Array.from({ length: 20 }, (_, payment) => ({
      at: day + 15 * HOUR + payment * 30,
      to: account(6000),
    }));
  });
}

/** A trader that failed most of its calls for twenty days, a month before the end, and has been good since. */
export function recovering({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed + 1);
  const from = START + (days - 50) * DAY;
  return diverseTrader({ days, seed }).map((step) =>
    step.at >= from && step.at < from + 20 * DAY && random() < 0.6 ? { ...step, ok: false } : step,
  );
}

/** A trader one of whose calls in five fails, whatever it does. */
export function flaky({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed + 1);
  return diverseTrader({ days, seed }).map((step) => ({ ...step, ok: random() >= 0.2 }));
}

/** Fights for blocks at four times the market's price, and loses one fight in three. */
export function gasWarrior({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed + 1);
  return diverseTrader({ days, seed }).map((step) => ({
    ...step,
    ok: random() >= 0.3,
    gasPrice: 4n * GWEI,
    fee: 70_000n * 4n * GWEI,
  }));
}

/** Keeps calling a venue for hours after it began to fail, every third day. */
export function retryStormer({ days, seed }: Plan): readonly Step[] {
  const storms = eachDay(days, (day, number) =>
    number % 3 > 0
      ? []
      : Array.from({ length: 24 }, (_, i) => ({
          at: day + 9 * HOUR + i * 240,
          to: account(2000),
          ok: false,
        })),
  );
  return [...diverseTrader({ days, seed }), ...storms];
}

/** A keeper whose job broke a month before the end, and who goes on with it. */
export function staleKeeper({ days, seed }: Plan): readonly Step[] {
  const broken = START + (days - 30) * DAY;
  return oracleFeeder({ days, seed }).map((step) => (step.at < broken ? step : { ...step, ok: false }));
}

/** Every other call fails. */
export function halfFailing({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed + 1);
  return diverseTrader({ days, seed }).map((step) => ({ ...step, ok: random() >= 0.5 }));
}

/** Rows of a wallet that pays and trades well, and leaves everything open: approvals, code, worthless tokens, a mixer. */
export function dirtyRows(plan: Plan): WalletRows {
  const worthless = Array.from({ length: 12 }, (_, i) => ({
    at: START + (20 + i) * DAY,
    to: account(2100 + i),
    emitters: [USDC, account(0xd00 + i)],
    moves: [
      { token: USDC, amount: -9_000_000n },
      { token: account(0xd00 + i), amount: 10n ** 18n },
    ],
  }));
  const mixed = Array.from({ length: 20 }, (_, i) =>
    payment(START + (30 + i) * DAY, account(66), 400_000_000n),
  );
  const steps = [...diverseTrader(plan), ...worthless, ...mixed].map((step) => ({
    ...step,
    gasLimit: 2_000_000n,
    gasPrice: 2n * GWEI,
  }));
  const approvals = [71, 72, 73].map((spender) => ({
    token: USDC,
    spender: account(spender),
    kind: "amount" as const,
    approvedAt: START + 40 * DAY,
  }));
  const unknown: Partial<CounterpartyFact> = { outsideUsers: 0, existedAt: null };
  const facts = new Map<Address, Partial<CounterpartyFact>>([
    ...[71, 72, 73, 74, ...worthless.map((_, i) => 0xd00 + i)].map((n) => [account(n), unknown] as const),
    [account(66), { flag: "mixer" }],
  ]);
  return withFacts(rowsOf(callsOf(steps), { approvals, delegation: { to: account(74) } }), facts);
}

/** Every call fails, six a day. */
export function alwaysFailing({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day) =>
    Array.from({ length: 6 }, () => ({ at: Math.floor(day + random() * DAY), to: account(2000), ok: false })),
  );
}

function eachDay(days: number, of: (day: number, number: number) => readonly Step[]): readonly Step[] {
  return Array.from({ length: days }, (_, number) => of(START + number * DAY, number))
    .flat()
    .map((step) => ({ ...step, at: Math.floor(step.at) }));
}

function withRetry(step: Step, delay: number): readonly Step[] {
  return step.ok === false ? [step, { ...step, at: step.at + delay, ok: true }] : [step];
}
