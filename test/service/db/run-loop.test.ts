import { pino } from "pino";
import { expect, test } from "vitest";
import { runLoop } from "../../../service/db/run-loop.ts";

type Loop = Parameters<typeof runLoop>[0];

const RETRY = { first: 100, longest: 1_000 };

/** Runs passes that end as given, `false` for a failure; returns the pauses and the log lines. */
async function run(outcomes: readonly boolean[], changes: Partial<Loop> = {}) {
  const stop = new AbortController();
  const pauses: number[] = [];
  const lines: string[] = [];
  let passes = 0;
  await runLoop({
    logger: pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) }),
    what: "counting",
    signal: stop.signal,
    pauseMs: 50,
    retryMs: RETRY,
    random: () => 0,
    wait: async (ms) => {
      pauses.push(ms);
      if (passes === outcomes.length) stop.abort();
    },
    pass: async () => {
      const isGood = outcomes[passes];
      passes += 1;
      if (!isGood) throw new Error("broken");
    },
    ...changes,
  });
  return { pauses, lines };
}

test.each<[string, readonly boolean[], Partial<Loop>, readonly number[]]>([
  ["pauses after each pass", [true, true], {}, [50, 50]],
  ["lets the result of a pass choose the pause", [true], { pauseMs: () => 7 }, [7]],
  [
    "doubles the pause after failures in a row, up to the longest",
    Array(6).fill(false),
    {},
    [100, 200, 400, 800, 1_000, 1_000],
  ],
  ["starts again with the first pause after a success", [false, false, true, false], {}, [100, 200, 50, 100]],
  ["never pauses less after a failure than after a success", [false], { pauseMs: 300 }, [300]],
  ["takes up to a fifth off by chance", [false], { random: () => 1 }, [80]],
  ["respects a pause that the failed service asks for", [false], { onFailure: () => 5_000 }, [5_000]],
])("%s", async (_, outcomes, changes, pauses) => {
  expect((await run(outcomes, changes)).pauses).toEqual(pauses);
});

test("logs a failed pass and goes on", async () => {
  const { lines } = await run([false, true]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 50, err: { message: "broken" }, msg: "counting failed; trying again" },
  ]);
});

test("resets the failures of a pass that reports progress", async () => {
  const pass = async (onProgress: () => void) => {
    onProgress();
    throw new Error("broken");
  };
  const stop = new AbortController();
  const pauses: number[] = [];
  const wait = async (ms: number) => {
    if (pauses.push(ms) === 3) stop.abort();
  };
  await run([], { pass, wait, signal: stop.signal });
  expect(pauses).toEqual([100, 100, 100]);
});

test("ends with what onFailure throws", async () => {
  const onFailure = () => {
    throw new Error("ours");
  };
  await expect(run([false], { onFailure })).rejects.toThrow("ours");
});

test("does not await a pass after its deadline, nor after the signal", async () => {
  const stop = new AbortController();
  const failures: unknown[] = [];
  const silent = {
    pass: () => new Promise(() => undefined),
    signal: stop.signal,
    onFailure: (error: unknown) => failures.push(error),
  };
  await run([], { ...silent, passMs: () => 5, wait: async () => stop.abort() });
  expect(failures).toEqual([new Error("no end within 5 ms")]);
  const next = new AbortController();
  setTimeout(() => next.abort(), 5);
  await run([], { ...silent, signal: next.signal, passMs: () => 60_000 });
});
