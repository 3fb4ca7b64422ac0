import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "../../../../service/access/problems.ts";
import { createFairTurns, createReportTurns } from "../../../../service/api/kit/report-turns.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A reading that runs until the test ends it. */
function reading(log: string[], name: string) {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const read = async () => {
    log.push(name);
    await ended;
    return name;
  };
  return { read, end: () => end() };
}

async function problemOf(work: Promise<unknown>): Promise<readonly [string, string | undefined]> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new Error("expected a problem");
  return [error.code, error.headers["retry-after"]];
}

describe("readings for reports", () => {
  test("are so many at once, the others in the order of asking", async () => {
    const turns = createReportTurns({ atOnce: 2, waiting: 9, waitMs: 1_000 });
    const log: string[] = [];
    const all = ["a", "b", "c", "d"].map((name) => reading(log, name));
    const answers = all.map(({ read }) => turns.take(read));
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(["a", "b"]);
    all[1]?.end();
    await answers[1];
    await vi.advanceTimersByTimeAsync(0);
    expect(log).toEqual(["a", "b", "c"]);
    for (const { end } of all) end();
    expect(await Promise.all(answers)).toEqual(["a", "b", "c", "d"]);
  });

  test("are refused with a time to come back where the queue is full, and have room again later", async () => {
    const turns = createReportTurns({ atOnce: 1, waiting: 1, waitMs: 1_000 });
    const [first, second] = [reading([], "a"), reading([], "b")];
    const answers = [turns.take(first.read)];
    expect(turns.hasRoom()).toBe(true);
    answers.push(turns.take(second.read));
    expect(turns.hasRoom()).toBe(false);
    expect(await problemOf(turns.take(async () => "c"))).toEqual(["scoring-unavailable", "5"]);
    first.end();
    second.end();
    await Promise.all(answers);
    expect(await turns.take(async () => "c")).toBe("c");
  });

  test("are refused if their turn does not come in time, and then take no turn", async () => {
    const turns = createReportTurns({ atOnce: 1, waiting: 2, waitMs: 1_000 });
    const log: string[] = [];
    const [first, late, next] = ["a", "b", "c"].map((name) => reading(log, name));
    if (first === undefined || late === undefined || next === undefined) throw new Error("three are made");
    const running = turns.take(first.read);
    const refused = problemOf(turns.take(late.read));
    await vi.advanceTimersByTimeAsync(600);
    const waiting = turns.take(next.read);
    await vi.advanceTimersByTimeAsync(500);
    expect(await refused).toEqual(["scoring-unavailable", "5"]);
    first.end();
    next.end();
    expect([await running, await waiting, log]).toEqual(["a", "c", ["a", "c"]]);
  });

  test("that fail give their turn on", async () => {
    const turns = createReportTurns({ atOnce: 1, waiting: 1, waitMs: 1_000 });
    const broken = turns.take(async () => {
      throw new Error("broken");
    });
    const next = turns.take(async () => "b");
    await expect(broken).rejects.toThrow("broken");
    expect(await next).toBe("b");
  });
});

describe("fair turns", () => {
  const wallet = (digit: number) => ({ kind: "wallet", address: `0x${`${digit}`.repeat(40)}` }) as const;
  const fair = () =>
    createFairTurns({
      ...{ maxRunning: 4, maxWaiting: 2, waitMs: 4_000, now: () => 0 },
      hasPaid: async (owner) => owner.kind === "wallet" && owner.address === wallet(9).address,
    });
  const endless = () => new Promise<object>(() => undefined);

  test("leave a place to callers who have paid, whatever the number of wallets that never did", async () => {
    const turns = fair();
    for (const digit of [1, 2, 3, 4, 5]) void turns.take(wallet(digit), endless).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    expect(await turns.take(wallet(9), async () => ({ done: true }))).toEqual({ done: true });
  });

  test("refuse a caller without a place in time, and give its place in the queue to the next", async () => {
    const turns = fair();
    for (const digit of [1, 2, 3]) void turns.take(wallet(digit), endless);
    const late = turns.take(wallet(4), endless).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await late).toMatchObject({ code: "scoring-unavailable" });
  });
});
