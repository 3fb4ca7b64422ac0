import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgress } from "../../../devnet/demo/progress.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

function plain() {
  const lines: string[] = [];
  let elapsed = 0;
  const stream = { isTTY: false, write: (text: string) => lines.push(text.trim().replace(/\s+/g, " ")) };
  const progress = createProgress(stream as unknown as NodeJS.WriteStream, () => elapsed);
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      elapsed += 1;
      vi.advanceTimersByTime(1_000);
    }
  };
  return { lines, progress, pass };
}

test("writes a line for each stage and quarter without a terminal", () => {
  const { lines, progress } = plain();
  for (const done of [0, 24, 25, 49, 60, 100]) progress.show("index", done, 100);
  progress.show("enrich", 0, 70);
  expect(lines).toEqual([
    "7/11 indexing blocks 0/100 0 s",
    "7/11 indexing blocks 25/100 0 s",
    "7/11 indexing blocks 60/100 0 s",
    "7/11 indexing blocks 100/100 0 s",
    "8/11 reading calls and transfers 0/70 0 s",
  ]);
});

test("says every 15 s how far a slow stage is, and nothing after the end", () => {
  const { lines, progress, pass } = plain();
  progress.show("plan", 0, 1);
  pass(16);
  progress.show("score", 0, 222);
  pass(10);
  progress.show("score", 3, 222);
  pass(10);
  progress.end();
  pass(60);
  expect(lines).toEqual([
    "3/11 planning the wallets' lives 0/1 0 s",
    "3/11 planning the wallets' lives 0/1 15 s",
    "9/11 scoring wallets 0/222 16 s",
    "9/11 scoring wallets 3/222 31 s",
  ]);
});
