import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "../../../../service/access/problems.ts";
import { createReportTurns } from "../../../../service/api/kit/report-turns.ts";

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
