import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { limitLines } from "../../bin/limit-lines.ts";
import { createLogger } from "../../bin/process.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function limited() {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ logLevel: "info" }, "test", {
    write: (line: string) => void lines.push(JSON.parse(line)),
  });
  /** Logged lines without the members that all have. */
  const shown = () => lines.map(({ level, msg, block, repeated }) => ({ level, msg, block, repeated }));
  return { logger, lines, shown };
}

it("writes the first warning of a kind, and after a minute the newest with their number", () => {
  const { logger, shown } = limited();
  for (let block = 1; block <= 1_644; block += 1) logger.warn({ block }, `no answer for block ${block}`);
  const first = { level: 40, msg: "no answer for block 1", block: 1, repeated: undefined };
  expect(shown()).toEqual([first]);
  vi.advanceTimersByTime(60_000);
  const newest = { level: 40, msg: "no answer for block 1644", block: 1_644, repeated: 1_643 };
  expect(shown()).toEqual([first, newest]);
  vi.advanceTimersByTime(59_000);
  logger.warn({ block: 2_000 }, "no answer for block 2000");
  expect(shown()).toHaveLength(2);
  vi.advanceTimersByTime(1_000);
  expect(shown().at(-1)).toMatchObject({ block: 2_000, repeated: 1 });
  vi.advanceTimersByTime(60_000);
  logger.warn({ block: 3_000 }, "no answer for block 3000");
  expect(shown().at(-1)).toMatchObject({ block: 3_000, repeated: undefined });
  expect(shown()).toHaveLength(4);
});

it("distinguishes kinds by level, words and error, and leaves out neither new lines nor the last one", () => {
  const { logger, shown } = limited();
  for (let time = 0; time < 3; time += 1) {
    logger.info("scored");
    logger.warn("gone");
    logger.error("gone");
    logger.error({ err: new Error("a host") }, "gone");
    logger.error({ err: Object.assign(new Error("a host"), { code: "ECONNRESET" }) }, "gone");
    logger.fatal("gone");
  }
  const levels = shown().map(({ level }) => level);
  expect(levels.toSorted()).toEqual([30, 30, 30, 40, 50, 50, 50, 60, 60, 60]);
});

it("is bounded where every line is another kind", () => {
  const { logger, shown } = limited();
  const word = (place: number) => String.fromCharCode(103 + (place % 16), 103 + (place >> 4));
  for (let place = 0; place < 2_000; place += 1) logger.warn(`${word(place)} ${"g".repeat(place % 90)}`);
  expect(shown().length).toBeLessThanOrEqual(201);
  vi.advanceTimersByTime(60_000);
  expect(shown().length).toBeLessThanOrEqual(402);
});

it("limits Ponder's lines, and writes text as it comes", () => {
  const written: string[] = [];
  const write = limitLines((line) => written.push(line));
  const error = { name: "HttpRequestError", message: `Status: 429 at 0x${"ab".repeat(32)}`, stack: "…" };
  for (let id = 0; id < 20; id += 1)
    write(
      `${JSON.stringify({ level: 40, time: id, msg: "Received JSON-RPC error", request_id: id, error })}\n`,
    );
  write("some text\n");
  write("some text\n");
  expect(written).toHaveLength(3);
  vi.advanceTimersByTime(60_000);
  expect(written).toHaveLength(4);
  expect(JSON.parse(written[3] ?? "")).toMatchObject({ request_id: 19, repeated: 19 });
});
