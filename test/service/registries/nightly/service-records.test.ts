import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { epoch } from "../../../../service/db/tables/publish.ts";
import { type ScanReport, scanRun } from "../../../../service/db/tables/scan.ts";
import { readServiceRecords } from "../../../../service/registries/nightly/service-records.ts";
import { useDatabase } from "../../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
// No reader of it looks in.
const REPORT = { wallets: 7 } as ScanReport;

const db = useDatabase();

const read = () => readServiceRecords(db, { chainId: 1, now: NOW });

test("a service that has done nothing yet says so", async () => {
  expect(await read()).toEqual({
    lastScan: null,
    openScan: null,
    epoch: null,
    publishWaitsSince: null,
    warmed: { open: 0, followed: 0 },
    webhookLagSeconds: 0,
  });
});

test("returns the newest scan that ended, the one under way, and the newest root, of this chain alone", async () => {
  const scan = { id: "", chainId: 1, cause: "nightly", state: "done", report: REPORT } as const;
  await db.insert(scanRun).values([
    { ...scan, id: randomUUID(), night: "2026-11-18", startedAt: at(-56), finishedAt: at(-55) },
    { ...scan, id: randomUUID(), night: "2026-11-19", startedAt: at(-32), finishedAt: at(-31) },
    // Begun before the other, and put off until after it.
    {
      ...scan,
      id: randomUUID(),
      night: "2026-11-17",
      cause: "hand",
      startedAt: at(-40),
      finishedAt: at(-30),
    },
    { ...scan, id: randomUUID(), chainId: 2, night: "2026-11-20", startedAt: at(-8), finishedAt: at(-7) },
    {
      ...scan,
      id: randomUUID(),
      night: "2026-11-20",
      state: "running",
      report: null,
      startedAt: at(-8),
      error: "no node",
    },
  ]);
  const root = { chainId: 1, uri: "", leaves: [], attempts: 1, senderTransactionId: 1, createdAt: at(-30) };
  await db.insert(epoch).values([
    { ...root, epoch: 5, root: "0x05", state: "confirmed" },
    { ...root, epoch: 6, root: "0x06", state: "sent" },
    { ...root, chainId: 2, epoch: 9, root: "0x09", state: "sent" },
  ]);
  expect(await read()).toMatchObject({
    lastScan: { night: "2026-11-17", cause: "hand", finishedAt: at(-30), report: REPORT },
    openScan: { startedAt: at(-8), hasFailed: true },
    epoch: { epoch: 6, root: "0x06", state: "sent", createdAt: at(-30) },
  });
});
