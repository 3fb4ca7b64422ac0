import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { Registry } from "prom-client";
import { createPublicClient, http } from "viem";
import { describe, expect, it } from "vitest";
import { runPaymentsCommand } from "../../../bin/commands/payments.ts";
import { createPaymentMetrics } from "../../../service/access/payments/metrics.ts";
import { createPaymentStore } from "../../../service/access/payments/payments.ts";
import { SCHEMES } from "../../../service/access/schemes/schemes.ts";
import { aReservation } from "../../support/a-reservation.ts";
import { useDatabase } from "../../support/test-database.ts";

const HASH = `0x${"ab".repeat(32)}` as const;
const db = useDatabase();
let now = new Date("2026-11-20T10:00:00Z");
let used = false;

async function payments(...args: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  await runPaymentsCommand(args, {
    db,
    out: (line) => lines.push(line),
    now: () => now,
    reconciliation: () => ({
      schemes: SCHEMES,
      db,
      chainId: 31_337,
      client: createPublicClient({ transport: http("http://127.0.0.1:9") }),
      chain: {
        fundsOf: async () => ({ balance: 0n, approved: 0n }),
        isUsed: async () => used,
        findTransfer: async () => HASH,
        minedIn: async () => 1n,
        finalBlock: async () => ({ number: 1n, timestamp: 0n }),
      },
      ownSender: true,
      spending: null,
      metrics: createPaymentMetrics(new Registry()),
      logger: pino({ level: "silent" }),
      now: () => now,
    }),
  });
  return lines;
}

describe("ahs payments", () => {
  it("lists nothing where no caller has paid", async () => {
    expect(await payments("list")).toEqual(["no payments"]);
  });

  it("lists what was paid, by what became of it, and finds on the chain what is owed", async () => {
    const store = createPaymentStore({
      db,
      chainId: 31_337,
      now: () => now,
      randomUuid: randomUUID,
    });
    const lost = await store.reserve(aReservation({ nonce: `0x${"01".repeat(32)}` }));
    const done = await store.reserve(aReservation({ nonce: `0x${"02".repeat(32)}` }));
    if (lost === null || done === null) throw new Error("not reserved");
    await store.settle(done, HASH);
    await store.answer(done, { contentType: "text/plain", body: "x" });
    await store.askSettlement(lost, 10_000n);

    expect(await payments("list", "--state", "reserved")).toHaveLength(2);
    expect((await payments("list", "--state", "answered")).at(1)).toContain("0.010000");
    now = new Date(now.getTime() + 60_000);
    used = true;
    expect(await payments("reconcile")).toEqual([
      "settled and owed: 1, released: 0, dropped: 0, still open: 0, failed: 0, confirmed: 1, lost: 0",
    ]);
    const [, owed] = await payments("list", "--state", "owed");
    expect(owed).toMatch(/owed .*GET \/cheap\/{id} .*0xabab/);
    expect(await payments("list")).toHaveLength(3);
  });

  it.each([
    [["pay"], 'unknown action "pay"'],
    [[], "no action"],
    [["list", "--state", "gone"], "expected one of reserved, settled, owed, answered"],
    [["list", "--limit", "0"], "--limit: expected a whole number"],
    [["reconcile", "--now"], "Unknown option"],
  ])("refuses %j", async (args, message) => {
    await expect(payments(...args)).rejects.toThrow(message);
  });
});
