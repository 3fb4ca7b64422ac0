import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach } from "vitest";
import { createApiKey } from "../../../../service/access/api-keys.ts";
import { webhookEndpoint } from "../../../../service/db/tables/alerts.ts";
import { payment as paymentTable } from "../../../../service/db/tables/payment.ts";
import { jobSpec, outputText, verdict } from "../../../../service/db/tables/verdict.ts";
import type { TextKeys } from "../../../../service/db/text-seal.ts";
import { createVerdictMetrics } from "../../../../service/verification/metrics.ts";
import { type RunOneDeps, type RunPanel, runOne } from "../../../../service/verification/verdicts/run-one.ts";
import { leaseVerdicts } from "../../../../service/verification/verdicts/verdict-queue.sql.ts";
import type { RunLease } from "../../../../service/verification/verdicts/verdict-queue.ts";
import { aReservation } from "../../../support/a-reservation.ts";
import { openTestDatabase } from "../../../support/test-database.ts";
import { decided } from "./a-decision.ts";

export const CHAIN_ID = 31_337;
export const CLIENT = `0x${"c1".repeat(20)}` as const;
export const PROVIDER = `0x${"b2".repeat(20)}` as const;
export const UNITS = 500;
export const BALANCE = 1_000_000;
export const SECOND_MS = 1_000;
export const LEASE_MS = 15 * SECOND_MS;
export const DAY_MS = 86_400_000;

/** The signal of a worker that nothing stops. */
export const NEVER = new AbortController().signal;
export const hold: RunPanel = async () => decided("HOLD");
export const allow: RunPanel = async () => decided("ALLOW");
export const fails =
  (retryable: boolean): RunPanel =>
  async () => ({ kind: "failed", message: "No answer came from critic.", retryable });
export const hangs: RunPanel = () => new Promise(() => undefined);

export type VerdictWorld = Awaited<ReturnType<typeof createVerdictWorld>>;
type NewVerdict = Partial<typeof verdict.$inferInsert>;

/** Creates a world for each test of a file. */
export function useVerdictWorld(start?: Date): VerdictWorld {
  let world: VerdictWorld;
  beforeEach(async () => {
    world = await createVerdictWorld(start);
  });
  afterEach(() => world.close());
  // Its members are those of the current test's world.
  return new Proxy({} as VerdictWorld, { get: (_, name) => Reflect.get(world, name) });
}

/** A database with one metered key, verdicts that the test adds, and a clock that it moves. */
export async function createVerdictWorld(start = new Date("2026-11-20T10:00:00.000Z"), textKeys?: TextKeys) {
  const { db, close, url } = await openTestDatabase(textKeys);
  let now = start;
  const registry = new Registry();
  const wanted = { name: "buyer", partner: false, balanceUnits: BALANCE, expiresAt: null };
  const { key } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  const metrics = createVerdictMetrics(registry);

  const query = async <Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    (await db.$client.query(text, [...values])).rows;

  /** A debit of the key that was kept for a verdict. */
  const capturedDebit = async (): Promise<string> => {
    const id = randomUUID();
    await query("update ahs.api_key set balance_units = balance_units - $1", [UNITS]);
    await query(
      `insert into ahs.key_debit (id, key_id, endpoint, units, state, created_at, deadline)
       values ($1, $2, 'POST /v1/outputs', $3, 'kept', $4, $4)`,
      [id, key.id, UNITS, now],
    );
    return id;
  };

  /** A verdict that is due, with its texts, endpoint and debit. */
  const add = async (changes: NewVerdict = {}): Promise<string> => {
    const [id, specId, endpointId] = [randomUUID(), randomUUID(), randomUUID()];
    await db.insert(jobSpec).values({
      id: specId,
      clientAddr: CLIENT,
      specText: "Name three rivers.",
      acceptanceCriteria: "Names three rivers",
      domain: "content",
      specHash: `0x${"5e".repeat(32)}`,
      createdAt: now,
    });
    const secret = `whsec_${randomBytes(32).toString("base64")}`;
    const url = `https://hooks.example.com/${id}`;
    await db.insert(webhookEndpoint).values({ id: endpointId, url, secret, createdAt: now });
    await db.insert(verdict).values({
      id,
      specId,
      slot: `spec:${specId}`,
      outputHash: `0x${"0f".repeat(32)}`,
      submittedBy: "client",
      submitterAddr: CLIENT,
      providerAddr: PROVIDER,
      owner: `key:${key.id}`,
      units: UNITS,
      debitId: await capturedDebit(),
      status: "pending",
      notBefore: now,
      cause: "submitted",
      endpointId,
      createdAt: now,
      acceptedAt: now,
      updatedAt: now,
      ...changes,
    });
    await db.insert(outputText).values({ verdictId: id, text: "Rhine, Elbe, Oder", createdAt: now });
    return id;
  };

  const deps = (runPanel: RunPanel = allow): RunOneDeps => ({
    db,
    chainId: CHAIN_ID,
    readReleased: async () => null,
    tokensOfCase: () => 500_000,
    runPanel,
    runAppealPanel: null,
    metrics,
    logger: pino({ level: "silent" }),
    now: () => now,
    monotonicMs: () => performance.now(),
    random: () => 0.5,
    lease: { leaseMs: LEASE_MS, renewMs: 4 * SECOND_MS },
  });

  /** Leases what is due. */
  const leaseDue = (limit: number, from = db) =>
    leaseVerdicts(from, { now, leaseUntil: new Date(now.getTime() + LEASE_MS), limit });

  /** Leases one verdict; throws if nothing is due. */
  const lease = async (from = db): Promise<RunLease> => {
    const [leased] = await leaseDue(1, from);
    if (leased === undefined) throw new Error("nothing is due");
    return leased;
  };

  return {
    db,
    url,
    close,
    registry,
    query,
    add,
    deps,
    lease,
    /** A payment of scheme auth-capture whose money is in the escrow. */
    escrowedPayment: async (): Promise<string> => {
      const { payment, ...request } = aReservation();
      const { validAfter, validBefore, requirements: _none, ...signed } = payment;
      const id = randomUUID();
      const nonce = `0x${id.replaceAll("-", "").padStart(64, "0")}` as const;
      const escrowed = { scheme: "auth-capture", state: "answered", captureState: "authorized" } as const;
      const times = { validAfter: Number(validAfter), validBefore: Number(validBefore), deadline: now };
      await db
        .insert(paymentTable)
        .values({ ...request, ...signed, ...times, ...escrowed, id, nonce, chainId: CHAIN_ID });
      return id;
    },
    /** Leases and runs one verdict. */
    run: async (panel?: RunPanel, changes: Partial<RunOneDeps> = {}): Promise<void> => {
      const all = { ...deps(panel), ...changes };
      await runOne(all, await lease(all.db), NEVER);
    },
    /** Runs what is due; returns the number of runs. */
    work: async (panel?: RunPanel): Promise<number> => {
      const leases = await leaseDue(10);
      for (const leased of leases) await runOne(deps(panel), leased, NEVER);
      return leases.length;
    },
    /** Adds an evidence text after a HOLD. */
    addEvidence: (id: string, text: string, { at = now, hash = "0x1" } = {}) =>
      query(
        `insert into ahs.held_evidence (id, verdict_id, submitted_by, text, text_hash, created_at)
         values (gen_random_uuid(), $1, 'key:1', $2, $3, $4)`,
        [id, text, hash, at],
      ),
    now: () => now,
    pass: (ms: number): void => {
      now = new Date(now.getTime() + ms);
    },
    row: async (id: string) => {
      const [row] = await query<VerdictRow>("select * from ahs.verdict where id = $1", [id]);
      if (row === undefined) throw new Error(`no verdict ${id}`);
      return row;
    },
    runs: (id: string) =>
      query<RunRow>(
        "select run, cause, final_verdict, evidence, evidence_hash, result from ahs.verdict_run where verdict_id = $1 order by run",
        [id],
      ),
    /** Types of the events so far, in order. */
    events: async () =>
      (
        await query<{ readonly type: string; readonly body: string }>(
          "select type, body from ahs.webhook_event order by created_at, type, id",
        )
      ).map(({ type, body }) => ({ type, data: JSON.parse(body).data })),
    balance: async () =>
      Number((await query<{ b: string }>("select balance_units as b from ahs.api_key"))[0]?.b),
    outcomes: async () => {
      const { values } = await metrics.runs.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
    },
  };
}

type VerdictRow = {
  status: string;
  cause: string;
  runs: number;
  attempts: number;
  final_verdict: string | null;
  error_message: string | null;
  not_before: Date;
  lease_until: Date | null;
  tried_at: Date | null;
  evaluated_at: Date | null;
};

type RunRow = {
  run: number;
  cause: string;
  final_verdict: string;
  evidence: string;
  evidence_hash: string;
  result: { final_verdict: string; latency_ms: number; review: object | null };
};
