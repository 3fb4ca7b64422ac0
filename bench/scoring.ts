import type { Address } from "viem";
import { createContactCaches } from "../service/features/contact-cache.ts";
import { readInParts, SCORING_BATCH, SCORING_LANES } from "../service/record/read-in-parts.ts";
import { readWallets, type ScoringContext, scoreRead } from "../service/record/score-wallets.ts";
import { AHS_2026_1 as policy } from "../service/score/policy.ts";
import { migrateDatabase, openDatabase } from "../service/store/database.ts";
import { inBatches, isolateFaults } from "../service/store/isolate-faults.ts";
import { atLeast, atMost, type BenchRow, shown } from "./bench-row.ts";
import { marketOf, type Population, seedScoring } from "./scoring-population.ts";

export type ScoringBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const CHAIN_ID = 31_337;
const ONE_WALLET_RUNS = 200;

const USUAL: Population = { prefix: "usual", wallets: 10_000, calls: 100 };
const BUSY: Population = { prefix: "busy", wallets: 400, calls: 1_000 };

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
