import { describe, expect, test } from "vitest";
import { statusHeadline, statusLines } from "../../../../service/api/pages/status-page.ts";
import type { StatusReading } from "../../../../service/api/pages/status-reading.ts";
import type { ScanReport } from "../../../../service/db/tables/scan.ts";
import { NOW } from "../fake-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";
import { pagesApp } from "./fake-public-pages.ts";

const AT = new Date("2026-11-20T10:00:00.000Z");
const ago = (seconds: number) => new Date(AT.getTime() - seconds * 1_000);
const HOUR = 3_600;

type Records = NonNullable<StatusReading["records"]>;
type Readiness = NonNullable<StatusReading["readiness"]>;

const READY: Readiness = {
  status: "ok",
  checks: {
    server: { ok: true, detail: "takes requests" },
    database: { ok: true, detail: "answers" },
  },
  index: { ok: true, detail: "block 7 is 3 s old, at most 120 s allowed" },
  sanctions: [source("chainalysis-oracle", 3, 0), source("ofac-sdn", 4 * HOUR, null)],
};

function source(name: "chainalysis-oracle" | "ofac-sdn", age: number | null, unchecked: number | null) {
  return {
    source: name,
    checked_at: age === null ? null : ago(age).toISOString(),
    age_seconds: age,
    edition: null,
    entries: 1,
    list_hash: null,
    unchecked_wallets: unchecked,
  };
}

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

const RECORDS: Records = {
  warmed: { open: 0, followed: 27_000 },
  lastScan: { night: "2026-11-20", cause: "nightly", finishedAt: ago(7 * HOUR), report: REPORT },
  openScan: null,
  epoch: { epoch: 20_777, root: `0x${"11".repeat(32)}`, state: "confirmed", createdAt: ago(8 * HOUR) },
  publishWaitsSince: null,
  webhookLagSeconds: 0,
};

const OK = { status: "ok", detail: "answers" } as const;
const VERIFICATION: NonNullable<StatusReading["verification"]> = {
  database: OK,
  queue: OK,
  model: OK,
  chain: OK,
};

function reading(changes: Partial<StatusReading> = {}): StatusReading {
  return { at: AT, readiness: READY, records: RECORDS, verification: VERIFICATION, ...changes };
}

function stateOf(name: string, changes: Partial<StatusReading>): string | undefined {
  return statusLines(reading(changes)).find((line) => line.name === name)?.state;
}

describe("the status page", () => {
  test("says that all is well when it is", () => {
    const lines = statusLines(reading());
    expect(statusHeadline(lines)).toBe("All systems operational");
    expect(lines.map(({ name, words }) => `${name}: ${words}`)).toEqual([
      "Database: Answers.",
      "Index: Block 7 is 3 s old, at most 120 s allowed.",
      "Sanctions contract: 1 entry, updated 3 s ago.",
      "OFAC list: 1 entry, updated 4 h ago.",
      "Nightly scan: The scan of 20 Nov 2026 finished 7 h ago.",
      "Merkle root: The root of epoch 20777 is on chain.",
      "Scores on chain: No score is waiting.",
      "Webhooks: No delivery is overdue.",
      "Panel of models: Answers.",
      "Verdicts: Answers.",
    ]);
  });

  test("names what is wrong", () => {
    const records = (changes: Partial<Records>) => ({ records: { ...RECORDS, ...changes } });
    const cases: readonly [string, Partial<StatusReading>][] = [
      ["Index", { readiness: { ...READY, index: { ok: false, detail: "holds no block" } } }],
      ["OFAC list", { readiness: { ...READY, sanctions: [source("ofac-sdn", 8 * 24 * HOUR, null)] } }],
      [
        "Sanctions contract",
        { readiness: { ...READY, sanctions: [source("chainalysis-oracle", null, null)] } },
      ],
      [
        "Nightly scan",
        records({
          lastScan: { night: "2026-11-18", cause: "nightly", finishedAt: ago(31 * HOUR), report: REPORT },
        }),
      ],
      ["Nightly scan", records({ openScan: { startedAt: ago(60), hasFailed: true } })],
      ["Merkle root", records({ epoch: { epoch: 1, root: "0x", state: "sent", createdAt: ago(2 * HOUR) } })],
      ["Scores on chain", records({ publishWaitsSince: ago(HOUR) })],
      ["Webhooks", records({ webhookLagSeconds: 400 })],
      [
        "Panel of models",
        { verification: { ...VERIFICATION, model: { status: "failing", detail: "does not answer" } } },
      ],
    ];
    for (const [name, changes] of cases) {
      expect([name, stateOf(name, changes)]).toEqual([name, "attention"]);
      expect(statusHeadline(statusLines(reading(changes)))).toBe(`${name} is degraded`);
    }
  });

  test("takes what is not set up, and what has not been due, for no fault", () => {
    const changes: Partial<StatusReading> = {
      readiness: { ...READY, sanctions: [source("ofac-sdn", null, null)] },
      records: { ...RECORDS, lastScan: null, epoch: null },
      verification: {
        ...VERIFICATION,
        model: { status: "not_configured", detail: "no model is configured" },
      },
    };
    const lines = statusLines(reading(changes));
    expect(statusHeadline(lines)).toBe("All systems operational");
    expect(lines.filter(({ state }) => state === "off").map(({ name }) => name)).toEqual([
      "OFAC list",
      "Nightly scan",
      "Merkle root",
      "Panel of models",
    ]);
  });

  test("writes counts as the other pages do, and an empty queue in words", () => {
    const index = { ok: true, detail: "block 2620 is 3 s old, at most 120 s allowed" };
    const queue = {
      status: "ok",
      detail: "0 waiting, 0 under way, the most overdue for 0 s, at most 300 s allowed",
    } as const;
    const lines = statusLines(
      reading({
        readiness: { ...READY, index },
        verification: { ...VERIFICATION, queue },
      }),
    );
    expect(lines.find(({ name }) => name === "Index")?.words).toBe(
      "Block 2,620 is 3 s old, at most 120 s allowed.",
    );
    expect(lines.find(({ name }) => name === "Verdicts")?.words).toBe("No verdict is waiting.");
  });

  test("marks unknown components, and counts several faults", () => {
    const lines = statusLines(reading({ readiness: null, records: null, verification: null }));
    expect(lines.every(({ state }) => state === "attention")).toBe(true);
    expect(statusHeadline(lines)).toBe("4 components are degraded");
  });
});

test("the status page counts documents as the scan does, and says whose endpoints fail", async () => {
  const lastScan = { night: "2026-11-20", cause: "nightly", finishedAt: NOW, report: REPORT } as const;
  const status = async (): Promise<StatusReading> => ({
    at: NOW,
    readiness: null,
    records: {
      lastScan,
      openScan: null,
      epoch: null,
      publishWaitsSince: null,
      webhookLagSeconds: 0,
      warmed: { open: 0, followed: 0 },
    },
    verification: null,
  });
  const grades = { A: 1, B: 0, C: 0, D: 0, E: 0, F: 0, insufficient: 0 };
  const nights = async () =>
    ["2026-11-18", "2026-11-20"].map((night) => ({ night, grades, meanScoreHundredths: 9_000 }));
  const html = await (await pagesApp(fakeAccountPages({ status, nights })).app.request("/status")).text();
  expect(html).toContain("186 current, 2 changed, 0 unreachable, 4 refused, 13 malformed");
  expect(html).toContain("<dt>Endpoints of agents</dt>");
  expect(html).toContain("1 scan of the last 3 did not finish.");
});
