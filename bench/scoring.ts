import type { Address } from "viem";
import { migrateDatabase, openDatabase } from "../service/db/database.ts";
import { inBatches, isolateFaults } from "../service/db/quarantine.ts";
import { WALLET_BOUNDS } from "../service/model/features/call-line.ts";
import { AHS_2026_2 as policy } from "../service/model/score/policy.ts";
import { counterpartyFile } from "../service/scores/inputs-hash.ts";
import { createContactCaches } from "../service/scores/read/contact-graph.ts";
import {
  type ReadWallets,
  readInParts,
  readWallets,
  SCORING_BATCH,
  SCORING_LANES,
  type ScoringContext,
  scoreAtFinalized,
  scoreRead,
} from "../service/scores/score-wallets.ts";
import { atLeast, atMost, type BenchRow, median, shown } from "./bench-row.ts";
import { marketOf, type Population, seedMoreWallets, seedScoring } from "./scoring-population.ts";

export type ScoringBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const CHAIN_ID = 31_337;
const ONE_WALLET_RUNS = 200;
const ROUNDS = 3;

const USUAL: Population = { prefix: "usual", wallets: 10_000, calls: 100 };
const BUSY: Population = { prefix: "busy", wallets: 400, calls: 1_000 };
/** As many calls as are read of one wallet, and a wallet of many more. */
const FULL: Population = { prefix: "full", wallets: 1, calls: WALLET_BOUNDS.calls };
const HUGE: Population = { prefix: "huge", wallets: 1, calls: 5_000_000 };
const LARGE_RUNS = 7;

/** Turns rows into records, or does as much of that as the baseline does; returns the number of wallets. */
type Use = (read: ReadWallets) => Promise<number>;

const scored: Use = async (read) => {
  const { records } = await scoreRead(read, policy);
  return records.filter(({ record }) => record.outcome.kind === "scored").length;
};

/** Hashes the rows that `scored` hashes; reading digests the calls already. */
const hashed: Use = async ({ known }) => known.map(({ rows }) => counterpartyFile(rows)).length;

/**
 * Reads, scores and hashes the inputs of whole populations as the nightly run does, in one process beside PostgreSQL. The
 * baseline reads and hashes the same rows without the model. Storing the records is left out. One wallet is read by itself,
 * its contacts with it.
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
    await useAll(context, usual.slice(0, 1_000), scored);
    const rounds: { readonly scored: number; readonly hashed: number }[] = [];
    const cpuMs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = process.cpuUsage();
      const seconds = await useAll(context, usual, scored);
      const { user, system } = process.cpuUsage(before);
      cpuMs.push((user + system) / 1_000 / usual.length);
      rounds.push({ scored: seconds, hashed: await useAll(context, usual, hashed) });
    }
    const seconds = median(rounds.map((round) => round.scored));
    const one = await useOneByOne(context, usual);
    const busy = await walletsOf(context, BUSY);
    const busySeconds = await useAll(context, busy, scored);

    const full = await costOfOne(context, databaseUrl, FULL);
    const huge = await costOfOne(context, databaseUrl, HUGE);

    const onDemand = await useOnDemand(context, usual);

    const growth = busySeconds / busy.length / (seconds / usual.length);
    return [
      atLeast(0.6, {
        name: "scoring: wallets of 100 calls per second, of those read and hashed without the model",
        value: median(rounds.map((round) => round.hashed / round.scored)),
        unit: "×",
      }),
      shown({
        name: "scoring: wallets of 100 calls, read, scored and hashed, not stored",
        value: usual.length / seconds,
        unit: "wallets/s",
      }),
      shown({
        name: "scoring: processor time of one of them, PostgreSQL's left out",
        value: median(cpuMs),
        unit: "ms",
      }),
      atMost(2, {
        name: "scoring: one wallet, beside reading and hashing it without the model",
        value: one.scored / one.hashed,
        unit: "×",
      }),
      shown({ name: "scoring: one wallet, median", value: one.scored, unit: "ms" }),
      atLeast(2, {
        name: "scoring: on demand in 32 lanes, contacts shared, of each reading its own",
        value: onDemand.own / onDemand.shared,
        unit: "×",
      }),
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

/** Seconds to read and use the wallets, one batch being read while another is used. */
export async function useAll(
  context: ScoringContext,
  wallets: readonly Address[],
  use: Use,
): Promise<number> {
  const started = performance.now();
  const task = { at: "finalized", contacts: createContactCaches() } as const;
  let used = 0;
  await isolateFaults({
    batches: inBatches(wallets, SCORING_BATCH),
    lanes: SCORING_LANES,
    attempt: async (batch) => {
      for await (const read of readInParts(context, { ...task, wallets: batch as Address[] })) {
        const wallets = await use(read);
        used += wallets;
      }
    },
  });
  if (used !== wallets.length) throw new Error(`${used} of ${wallets.length} wallets were read and used`);
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
  return { ms: median(times), megabytes: most / 1e6 };
}

/** Median milliseconds to read and use one wallet alone, with nothing kept from others, in turns with the baseline. */
async function useOneByOne(context: ScoringContext, wallets: readonly Address[]) {
  const times = { scored: [] as number[], hashed: [] as number[] };
  const step = Math.floor(wallets.length / ONE_WALLET_RUNS);
  for (let position = 0; position < wallets.length; position += step) {
    const own = wallets.slice(position, position + 1);
    times.scored.push(await useOne(context, own, scored));
    times.hashed.push(await useOne(context, own, hashed));
  }
  return { scored: median(times.scored), hashed: median(times.hashed) };
}

async function useOne(context: ScoringContext, wallets: readonly Address[], use: Use): Promise<number> {
  const started = performance.now();
  const read = await readWallets(context, { wallets, at: "finalized", contacts: createContactCaches() });
  if (read === null || (await use(read)) !== 1) throw new Error("the wallet was not found");
  return performance.now() - started;
}

const ON_DEMAND = { lanes: 32, wallets: 640 } as const;

/** Median seconds of three rounds to score single wallets in lanes, with contacts of their own and shared in turns. */
async function useOnDemand(context: ScoringContext, usual: readonly Address[]) {
  const seconds = { own: [] as number[], shared: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const wallets = usual.slice(round * ON_DEMAND.wallets, (round + 1) * ON_DEMAND.wallets);
    seconds.own.push(await scoreInLanes(context, wallets));
    seconds.shared.push(await scoreInLanes({ ...context, contacts: createContactCaches() }, wallets));
  }
  return { own: median(seconds.own), shared: median(seconds.shared) };
}

async function scoreInLanes(context: ScoringContext, wallets: readonly Address[]): Promise<number> {
  const started = performance.now();
  const waiting = wallets.values();
  const lanes = Array.from({ length: ON_DEMAND.lanes }, async () => {
    for (const wallet of waiting) {
      if ((await scoreAtFinalized(context, [wallet]))?.records.length !== 1)
        throw new Error(`${wallet} was not scored`);
    }
  });
  await Promise.all(lanes);
  return (performance.now() - started) / 1_000;
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
