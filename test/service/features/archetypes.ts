import { account, DAY, HOUR, randomFrom, START, type Step } from "./histories.ts";

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

/** A dozen payments a day through one token, at all hours. */
export function paymentAgent({ days, seed }: Plan): readonly Step[] {
  const random = randomFrom(seed);
  return eachDay(days, (day) =>
    Array.from({ length: 8 + Math.floor(random() * 9) }, () =>
      withRetry(
        { at: day + random() * DAY, to: account(3000), selector: "0xa9059cbb", ok: random() >= 0.01 },
        60 + random() * 300,
      ),
    ).flat(),
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
