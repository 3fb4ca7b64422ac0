import type { Address } from "viem";
import { migrateDatabase, openDatabase } from "../service/db/database.ts";
import { inBatches, isolateFaults } from "../service/db/quarantine.ts";
import { WALLET_BOUNDS } from "../service/model/features/call-line.ts";
import { AHS_2026_1 as policy } from "../service/model/score/policy.ts";
import { createContactCaches } from "../service/scores/read/contact-graph.ts";
import {
  readInParts,
  readWallets,
  SCORING_BATCH,
  SCORING_LANES,
  type ScoringContext,
  scoreRead,
} from "../service/scores/score-wallets.ts";
import { atLeast, atMost, type BenchRow, shown } from "./bench-row.ts";
import { marketOf, type Population, seedMoreWallets, seedScoring } from "./scoring-population.ts";

export type ScoringBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const CHAIN_ID = 31_337;
const ONE_WALLET_RUNS = 200;

const USUAL: Population = { prefix: "usual", wallets: 10_000, calls: 100 };
const BUSY: Population = { prefix: "busy", wallets: 400, calls: 1_000 };
/** As many calls as are read of one wallet, and a wallet of many more. */
const FULL: Population = { prefix: "full", wallets: 1, calls: WALLET_BOUNDS.calls };
const HUGE: Population = { prefix: "huge", wallets: 1, calls: 5_000_000 };
const LARGE_RUNS = 7;

/**
 * Reads, scores and hashes the inputs of whole populations as the nightly run does, in one process beside PostgreSQL, and
 * compares with the bars of design.md. Storing the records is left out. One wallet is read by itself, its contacts with it.
 */
export async function benchScoring({ databaseUrl }: ScoringBenchOptions): Promise<BenchRow[]> {
  const db = openDatabase({
    url: databaseUrl,
    applicationName: "ahs-bench",
    maxConnections: 5,
    statementTimeoutMs: 600_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  try {
    await migrateDatabase(db);
    await seedScoring(databaseUrl, [USUAL, BUSY]);
    const context = { db, chainId: CHAIN_ID, chain: await marketOf(databaseUrl), policy };
    const usual = await walletsOf(context, USUAL);
    await scoreAll(context, usual.slice(0, 1_000));
    const before = process.cpuUsage();
    const seconds = await scoreAll(context, usual);
    const { user, system } = process.cpuUsage(before);
    const oneMs = await scoreOneByOne(context, usual);
    const busy = await walletsOf(context, BUSY);
    const busySeconds = await scoreAll(context, busy);

    const full = await costOfOne(context, databaseUrl, FULL);
    const huge = await costOfOne(context, databaseUrl, HUGE);

    const perSecond = usual.length / seconds;
    const growth = busySeconds / busy.length / (seconds / usual.length);
    return [
      atLeast(1_500, {
        name: "scoring: wallets of 100 calls, read, scored and hashed, not stored",
        value: perSecond,
        unit: "wallets/s",
      }),
      shown({
        name: "scoring: processor time of one of them, PostgreSQL's left out",
        value: (user + system) / 1_000 / usual.length,
        unit: "ms",
      }),
      atMost(5, { name: "scoring: one wallet, median", value: oneMs, unit: "ms" }),
      atMost(12, { name: "scoring: cost of a wallet with ten times the calls", value: growth, unit: "×" }),
      shown({ name: "scoring: one wallet of 20,000 calls, median", value: full.ms, unit: "ms" }),
      // Without a bound it is 250.
      atMost(5, {
        name: "scoring: cost of a wallet of 5,000,000 calls over one of 20,000",
        value: huge.ms / full.ms,
        unit: "×",
      }),
      atMost(150, { name: "scoring: heap that its rows and record take", value: huge.megabytes, unit: "MB" }),
    ];
  } finally {
    await db.$client.end();
  }
}

/** Seconds to read, score and hash the wallets, one batch being read while another is scored. */
async function scoreAll(context: ScoringContext, wallets: readonly Address[]): Promise<number> {
  const started = performance.now();
  const task = { at: "finalized", contacts: createContactCaches() } as const;
  let scored = 0;
  await isolateFaults({
    batches: inBatches(wallets, SCORING_BATCH),
    lanes: SCORING_LANES,
    attempt: async (batch) => {
      for await (const read of readInParts(context, { ...task, wallets: batch as Address[] })) {
        const { records } = await scoreRead(read, policy);
        scored += records.filter(({ record }) => record.outcome.kind === "scored").length;
      }
    },
  });
  if (scored !== wallets.length) throw new Error(`${scored} of ${wallets.length} wallets were scored`);
  return (performance.now() - started) / 1_000;
}

/** Adds one wallet; median milliseconds to read and score it alone, and the most heap that it took beside what was there. */
async function costOfOne(
  context: ScoringContext,
  databaseUrl: string,
  population: Population,
): Promise<{ readonly ms: number; readonly megabytes: number }> {
  await seedMoreWallets(databaseUrl, population);
  const wallets = await walletsOf(context, population);
  const times: number[] = [];
  let most = 0;
  for (let run = 0; run < LARGE_RUNS; run += 1) {
    const before = process.memoryUsage().heapUsed;
    const started = performance.now();
    const read = await readWallets(context, { wallets, at: "finalized", contacts: createContactCaches() });
    if (read?.known[0]?.rows.calls.length !== WALLET_BOUNDS.calls)
      throw new Error(`expected ${WALLET_BOUNDS.calls} calls of ${population.prefix}`);
    await scoreRead(read, policy);
    times.push(performance.now() - started);
    most = Math.max(most, process.memoryUsage().heapUsed - before);
  }
  return { ms: medianOf(times), megabytes: most / 1e6 };
}

/** Median milliseconds to read and score one wallet alone, with nothing kept from others. */
async function scoreOneByOne(context: ScoringContext, wallets: readonly Address[]): Promise<number> {
  const times: number[] = [];
  const step = Math.floor(wallets.length / ONE_WALLET_RUNS);
  for (let position = 0; position < wallets.length; position += step) {
    const started = performance.now();
    const own = wallets.slice(position, position + 1);
    const read = await readWallets(context, {
      wallets: own,
      at: "finalized",
      contacts: createContactCaches(),
    });
    if (read === null || read.known.length !== 1) throw new Error("the wallet was not found");
    await scoreRead(read, policy);
    times.push(performance.now() - started);
  }
  return medianOf(times);
}

function medianOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

async function walletsOf(
  { db }: ScoringContext,
  { wallets, calls }: Population,
): Promise<readonly Address[]> {
  const { rows } = await db.$client.query<{ address: Address }>(
    `select address from chain_${CHAIN_ID}.wallet where own_calls = $1 order by address`,
    [calls],
  );
  if (rows.length !== wallets) throw new Error(`${rows.length} of ${wallets} wallets were seeded`);
  return rows.map((row) => row.address);
}
