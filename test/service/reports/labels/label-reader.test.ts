import { type DestinationStream, pino } from "pino";
import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { createLabelReader, createLabelStore } from "../../../../service/reports/labels/label-reader.ts";
import {
  type FoundLabels,
  type LabelFailure,
  labelFailure,
} from "../../../../service/reports/labels/label-source.ts";
import { useDatabase } from "../../../support/test-database.ts";

const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const START = Date.parse("2026-11-20T10:00:00.000Z");
const HOUR = 3_600_000;
const db = useDatabase();
const TRADER = { label: "Dex Trader", category: "defi" };

function reader(answers: Readonly<Record<string, FoundLabels | LabelFailure>>) {
  const rows = new Map<string, { labels: FoundLabels["labels"]; readAt: Date }>();
  const asked: string[] = [];
  const log: string[] = [];
  let time = START;
  const stream: DestinationStream = { write: (line: string) => log.push(line) };
  const read = createLabelReader({
    sources: Object.entries(answers).map(([provider, answer]) => ({
      provider,
      read: async () => {
        asked.push(provider);
        return answer;
      },
    })),
    store: {
      find: async (provider, address) => rows.get(`${provider} ${address}`) ?? null,
      save: async (provider, address, stored) => {
        rows.set(`${provider} ${address}`, stored);
      },
    },
    now: () => new Date(time),
    logger: pino({}, stream),
  });
  return { read, asked, log, rows, wait: (milliseconds: number) => (time += milliseconds) };
}

describe("labels of all providers", () => {
  it("are asked for once a day, and stored with the time of the answer", async () => {
    const { read, asked, wait } = reader({ vendor: { kind: "labels", labels: [TRADER] } });
    const first = { provider: "vendor", available: true, labels: [TRADER], readAt: new Date(START) };
    expect(await read(WALLET)).toEqual([first]);
    wait(24 * HOUR - 1);
    expect([await read(WALLET), asked.length]).toEqual([[first], 1]);
    wait(1);
    expect(await read(WALLET)).toEqual([{ ...first, readAt: new Date(START + 24 * HOUR) }]);
    expect(asked.length).toBe(2);
  });

  it("are asked for once by all who want them at the same time", async () => {
    const { read, asked } = reader({ vendor: { kind: "labels", labels: [] } });
    await Promise.all([read(WALLET), read(WALLET), read(WALLET)]);
    expect(asked).toEqual(["vendor"]);
  });

  it("of one provider do not wait for another that fails, whose failure is not stored", async () => {
    const { read, asked, rows, log } = reader({
      dead: labelFailure("timeout", "no whole answer within 3000 ms"),
      vendor: { kind: "labels", labels: [TRADER] },
    });
    const dead = { provider: "dead", available: false, reason: "timeout" };
    expect(await read(WALLET)).toMatchObject([dead, { provider: "vendor", available: true }]);
    expect([...rows.keys()]).toEqual([`vendor ${WALLET}`]);
    expect(log.join()).toContain("no whole answer");
    await read(WALLET);
    expect(asked).toEqual(["dead", "vendor", "dead"]);
  });

  it("are empty without a provider", async () => {
    expect(await reader({}).read(WALLET)).toEqual([]);
  });
});

it("labels are stored by provider and account, and only a newer answer replaces them", async () => {
  const store = createLabelStore(db);
  expect(await store.find("nansen", WALLET)).toBeNull();
  await store.save("nansen", WALLET, { labels: [], readAt: new Date(START - 24 * HOUR) });
  await store.save("nansen", WALLET, { labels: [TRADER], readAt: new Date(START) });
  await store.save("nansen", WALLET, { labels: [], readAt: new Date(START - 24 * HOUR) });
  expect(await store.find("nansen", WALLET)).toEqual({ labels: [TRADER], readAt: new Date(START) });
  expect(await store.find("other", WALLET)).toBeNull();
});
