import { pino } from "pino";
import { expect, test } from "vitest";
import { createStatusReader } from "../../../../service/api/pages/status-reading.ts";

const logger = pino({ level: "silent" });

type StatusSources = Parameters<typeof createStatusReader>[0]["sources"];

function readerOf(sources: Partial<StatusSources>) {
  let ms = 0;
  const clock = { now: () => new Date(0), monotonicMs: () => ms };
  const failing = async () => {
    throw new Error("the database is gone");
  };
  const all: StatusSources = { readiness: failing, records: failing, verification: null, ...sources };
  return { read: createStatusReader({ sources: all, clock, logger }), pass: (more: number) => (ms += more) };
}

test("reports unreadable parts as unknown and never throws", async () => {
  expect(await readerOf({}).read()).toEqual({
    at: new Date(0),
    readiness: null,
    records: null,
    verification: null,
  });
});

test("however many look, the tables are asked every five seconds", async () => {
  let asked = 0;
  const { read, pass } = readerOf({
    records: async () => {
      asked += 1;
      throw new Error("counted");
    },
  });
  await Promise.all([read(), read(), read()]);
  expect(asked).toBe(1);
  pass(5_000);
  await read();
  expect(asked).toBe(2);
});
