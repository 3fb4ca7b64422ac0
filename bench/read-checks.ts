import { randomBytes, randomUUID } from "node:crypto";
import type { Address } from "viem";
import { z } from "zod";
import { apiKeyFinder, createApiKey, hashApiKey } from "../service/access/api-keys.ts";
import { readTrustedProxies } from "../service/access/client-address.ts";
import { createKeyDebits } from "../service/access/key-debits.ts";
import { createIpLimit, createRateBuckets } from "../service/access/rate-limits.ts";

import { addressParams } from "../service/api/schemas/values.ts";
import type { Database } from "../service/db/database.ts";
import { atMost, type BenchRow, median, shown } from "./bench-row.ts";

const AT_ONCE = 64;
const TIMES = 10_000;
const MICROSECONDS = 1_000;

/** The cost of each check of a request, as many of them under way as the load has connections; waiting for the database included. */
export async function measureChecks(db: Database, wallet: Address | "0x"): Promise<BenchRow[]> {
  const wanted = { name: "checks", partner: false, balanceUnits: 1_000_000_000, expiresAt: null };
  const { key, secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  const now = () => new Date();
  const find = apiKeyFinder(db);
  const buckets = createRateBuckets({ db, now });
  const debits = createKeyDebits({ db, now, randomUuid: randomUUID });
  const params = z.object({ address: addressParams.shape.address });
  const ipLimit = createIpLimit({
    perMinute: 10_000_000,
    trustedProxies: readTrustedProxies([]) ?? unread(),
    monotonicMs: () => performance.now(),
    maxAddresses: 1_000,
  });
  const source = { socket: "203.0.113.9", forwardedFor: undefined };
  const checks: readonly (readonly [string, () => unknown])[] = [
    ["IP limit", () => ipLimit(source)],
    ["validation", () => params.parse({ address: wallet })],
    ["authentication", () => find(hashApiKey(secret))],
    ["limit of the key", () => buckets.take({ identity: `key:${key.id}`, perMinute: 100_000_000 })],
    [
      "debit, held and kept",
      async () => {
        const held = await debits.hold({ keyId: key.id, units: 1, endpoint: "GET /bench" });
        if (held.kind === "held") await debits.keep(held.debitId);
      },
    ],
  ];
  const rows: BenchRow[] = [];
  for (const [name, check] of checks) {
    await microseconds(check);
    rows.push(shown({ name: `read: cost of ${name}`, value: await microseconds(check), unit: "µs" }));
  }
  return [...rows, await measureCaptures(db, key.id)];
}

const DEBITS = 24_000;
const CAPTURED_AT_ONCE = 12;
const MOST_GROWTH = 1.5;

/**
 * How much longer captures take at the end than at the start of many debits, while a snapshot is open. Each is measured
 * beside its reservation, so that other work on the machine slows both.
 */
async function measureCaptures(db: Database, keyId: string): Promise<BenchRow> {
  const debits = createKeyDebits({ db, now: () => new Date(), randomUuid: randomUUID });
  await db.$client.query("analyze ahs.key_debit");
  const reader = await db.$client.connect();
  await reader.query("begin isolation level repeatable read; select 1");
  const ratios: number[] = [];
  for (let made = 0; made < DEBITS; made += CAPTURED_AT_ONCE) {
    const hold = () => debits.hold({ keyId, units: 1, endpoint: "GET /bench" });
    const asked = performance.now();
    const held = await Promise.all(Array.from({ length: CAPTURED_AT_ONCE }, hold));
    const ids = held.flatMap((outcome) => (outcome.kind === "held" ? [outcome.debitId] : []));
    const started = performance.now();
    await Promise.all(ids.map(debits.keep));
    ratios.push((performance.now() - started) / (started - asked));
  }
  await reader.query("rollback");
  reader.release();
  const quarter = ratios.length / 4;
  const name = `read: captures at the end of ${DEBITS} debits, a snapshot open, beside those at the start`;
  const value = median(ratios.slice(-quarter)) / median(ratios.slice(0, quarter));
  return atMost(MOST_GROWTH, { name, value, unit: "×" });
}

async function microseconds(check: () => unknown): Promise<number> {
  const started = performance.now();
  const worker = async () => {
    for (let time = 0; time < TIMES / AT_ONCE; time += 1) await check();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ((performance.now() - started) * MICROSECONDS) / TIMES;
}

function unread(): never {
  throw new Error("an empty list was not read");
}
