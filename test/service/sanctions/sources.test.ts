import pino from "pino";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { watchSanctionsSources } from "../../../service/sanctions/metrics.ts";
import { ageSeconds, createSourceWatch, type SourceStatus } from "../../../service/sanctions/sources.ts";

const CHECKED = new Date("2026-11-20T10:00:00Z");
const LIST: SourceStatus = {
  source: "ofac-sdn",
  checkedAt: CHECKED,
  edition: "2026-11-19",
  entries: 91,
  listHash: `0x${"11".repeat(32)}`,
  unchecked: null,
};
const CONTRACT: SourceStatus = {
  ...LIST,
  source: "chainalysis-oracle",
  edition: "block 9",
  entries: 3,
  unchecked: 5,
};
const later = (seconds: number) => new Date(CHECKED.getTime() + seconds * 1000);

function watched(answers: (() => readonly SourceStatus[])[]) {
  let reads = 0;
  let time = 0;
  const sources = createSourceWatch({
    monotonicMs: () => time,
    read: async () => {
      const answer = answers[Math.min(reads, answers.length - 1)];
      reads += 1;
      if (answer === undefined) throw new Error("no answer was prepared");
      return answer();
    },
  });
  return { sources, reads: () => reads, pass: (ms: number) => (time += ms) };
}

const fails = () => {
  throw new Error("the database is gone");
};

describe("the sources", () => {
  test("are read once in ten seconds, however many ask at once", async () => {
    const { sources, reads, pass } = watched([() => [LIST], () => [CONTRACT]]);
    expect(await Promise.all([sources(), sources()])).toEqual([[LIST], [LIST]]);
    pass(9_999);
    expect([await sources(), reads()]).toEqual([[LIST], 1]);
    pass(1);
    expect([await sources(), reads()]).toEqual([[CONTRACT], 2]);
  });

  test("that cannot be read are as they were last, and grow old", async () => {
    const { sources, pass } = watched([() => [LIST], fails]);
    await sources();
    pass(60_000);
    const [status] = await sources();
    expect(status).toEqual(LIST);
    expect(ageSeconds(status ?? CONTRACT, later(7_200.9))).toBe(7_200);
  });

  test("that were never read are a failure, and are asked for again", async () => {
    const { sources } = watched([fails, () => [LIST]]);
    await expect(sources()).rejects.toThrow("gone");
    expect(await sources()).toEqual([LIST]);
  });

  test("have no age before they were ever read, and none below zero where clocks differ", () => {
    expect(ageSeconds({ ...LIST, checkedAt: null }, later(9))).toBeNull();
    expect(ageSeconds(LIST, later(-5))).toBe(0);
  });
});

describe("the metrics", () => {
  const logger = pino({ level: "silent" });

  test("report age and entries of every source at the moment they are read", async () => {
    const registry = new Registry();
    let now = later(60);
    watchSanctionsSources(registry, {
      sources: async () => [CONTRACT, { ...LIST, checkedAt: null, entries: 0 }],
      now: () => now,
      logger,
    });
    const reported = async () =>
      (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const lines = (age: number) => [
      `ahs_sanctions_age_seconds{source="chainalysis-oracle"} ${age}`,
      'ahs_sanctions_entries{source="chainalysis-oracle"} 3',
      'ahs_sanctions_entries{source="ofac-sdn"} 0',
      'ahs_sanctions_unchecked_wallets{source="chainalysis-oracle"} 5',
    ];
    expect(await reported()).toEqual(lines(60));
    now = later(3_600);
    expect(await reported()).toEqual(lines(3_600));
  });

  test("of everything else are reported while the sources cannot be read", async () => {
    const registry = new Registry();
    watchSanctionsSources(registry, { sources: async () => fails(), now: () => CHECKED, logger });
    expect(await registry.metrics()).toContain("ahs_sanctions_age_seconds");
  });
});
