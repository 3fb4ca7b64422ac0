import { expect, test } from "vitest";
import type { StatusReading } from "../../../../service/api/pages/status-reading.ts";
import type { ScanReport } from "../../../../service/db/tables/scan.ts";
import { NOW } from "../fake-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";
import { pagesApp } from "./fake-public-pages.ts";

const REPORT: ScanReport = {
  registries: [],
  documents: { current: 186, unreachable: 0, refused: 4, malformed: 13 },
  documentsLeft: 0,
  changedDocuments: 2,
  endpoints: { alive: 1, failing: 4 },
  wallets: 218,
  grades: { A: 1, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 217 },
  meanScoreHundredths: 9_100,
  sanctioned: 0,
  changedGrades: null,
  gradeMoves: [],
  root: null,
  noRoot: null,
};

test("the status page counts documents as the scan does, and says whose endpoints fail", async () => {
  const lastScan = { night: "2026-11-20", cause: "nightly", finishedAt: NOW, report: REPORT } as const;
  const status = async (): Promise<StatusReading> => ({
    at: NOW,
    readiness: null,
    records: { lastScan, openScan: null, epoch: null, publishWaitsSince: null, webhookLagSeconds: 0 },
    verification: null,
  });
  const html = await (await pagesApp(fakeAccountPages({ status })).app.request("/status")).text();
  expect(html).toContain("186 current, 2 changed, 0 out of reach, 4 refused, 13 malformed");
  expect(html).toContain("<dt>Agents' endpoints</dt>");
});
