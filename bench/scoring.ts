import { setImmediate } from "node:timers/promises";
import { Client } from "pg";
import type { Address } from "viem";
import { inputsFile, policyFile, rowsDigest, sanctionsFile } from "../service/features/inputs-hash.ts";
import { readSanctionsList, readWalletRows } from "../service/features/read-rows.ts";
import { scoreWallet } from "../service/features/score-wallet.ts";
import type { AsOf, WalletRows } from "../service/features/types.ts";
import { AHS_2026_0 as policy } from "../service/score/policy.ts";
import { createIndexTables, createTransactionIndexes } from "../test/service/features/index-tables.ts";
import { atLeast, atMost, type BenchRow } from "./bench-row.ts";

export type ScoringBenchOptions = {
  /** An empty database. */
  readonly databaseUrl: string;
};

const SCHEMA = "chain_31337";
const CHAIN_ID = 31_337;
const BLOCKS = 8_000;
/** As many as the workers score on one snapshot. */
const BATCH = 1_000;
const PAUSE_AFTER = 20;
const ONE_WALLET_RUNS = 200;

/** Wallets of one size: so many, with so many calls each, named apart by their prefix. */
type Population = { readonly prefix: string; readonly wallets: number; readonly calls: number };

const USUAL: Population = { prefix: "usual", wallets: 10_000, calls: 100 };
const BUSY: Population = { prefix: "busy", wallets: 400, calls: 1_000 };

/** Reads, scores and hashes the inputs of whole populations from tables shaped like the index, and compares with the bars of design.md. */
export async function benchScoring(options: ScoringBenchOptions): Promise<BenchRow[]> {
  const client = new Client({ connectionString: options.databaseUrl });
  await client.connect();
  try {
    const asOf = await seed(client);
    await client.query("begin transaction isolation level repeatable read read only");
    const usual = await walletsOf(client, USUAL);
    await scoreAll(client, { asOf, wallets: usual.slice(0, BATCH) });
    const seconds = await scoreAll(client, { asOf, wallets: usual });
    const oneMs = await scoreOneByOne(client, { asOf, wallets: usual });
    const busy = await walletsOf(client, BUSY);
    const busySeconds = await scoreAll(client, { asOf, wallets: busy });
    await client.query("commit");

    const perSecond = usual.length / seconds;
    const growth = busySeconds / busy.length / (seconds / usual.length);
    return [
      atLeast(1_500, {
        name: "scoring: wallets of 100 calls, read, scored and hashed",
        value: perSecond,
        unit: "wallets/s",
      }),
      atMost(5, { name: "scoring: one wallet, median", value: oneMs, unit: "ms" }),
      atMost(12, { name: "scoring: cost of a wallet with ten times the calls", value: growth, unit: "×" }),
    ];
  } finally {
    await client.end();
  }
}

type Task = { readonly asOf: AsOf; readonly wallets: readonly Address[] };

/** Seconds to read, score and hash the wallets in batches; the database reads the next batch while one is scored. */
async function scoreAll(client: Client, { asOf, wallets }: Task): Promise<number> {
  const read = (start: number) => {
    const batch = wallets.slice(start, start + BATCH);
    return readWalletRows(client, { schema: SCHEMA, chainId: CHAIN_ID, asOf, wallets: batch, policy });
  };
  const started = performance.now();
  const files = await hashFiles(client, asOf);
  let scored = 0;
  let next = read(0);
  for (let start = 0; start < wallets.length; start += BATCH) {
    const rows = await next;
    if (start + BATCH < wallets.length) next = read(start + BATCH);
    for (const own of rows) {
      scored += scoreOne(own, asOf, files);
      // Lets the answers that came in meanwhile send the next question.
      if (scored % PAUSE_AFTER === 0) await setImmediate();
    }
  }
  if (scored !== wallets.length) throw new Error(`${scored} of ${wallets.length} wallets were scored`);
  return (performance.now() - started) / 1_000;
}

/** Median milliseconds to read and score one wallet alone. */
async function scoreOneByOne(client: Client, { asOf, wallets }: Task): Promise<number> {
  const files = await hashFiles(client, asOf);
  const times: number[] = [];
  const step = Math.floor(wallets.length / ONE_WALLET_RUNS);
  for (let position = 0; position < wallets.length; position += step) {
    const started = performance.now();
    const [own] = await readWalletRows(client, {
      schema: SCHEMA,
      chainId: CHAIN_ID,
      asOf,
      wallets: wallets.slice(position, position + 1),
      policy,
    });
    if (own === undefined) throw new Error("the wallet was not found");
    scoreOne(own, asOf, files);
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

type FileHashes = { readonly policyHash: `0x${string}`; readonly sanctionsHash: `0x${string}` };

async function hashFiles(client: Client, asOf: AsOf): Promise<FileHashes> {
  const list = await readSanctionsList(client, { schema: SCHEMA, asOf });
  return { policyHash: policyFile(policy).hash, sanctionsHash: sanctionsFile(list).hash };
}

/** One scored wallet; throws where the record is not scored, as every wallet of the bench should be. */
function scoreOne(rows: WalletRows, asOf: AsOf, files: FileHashes): 1 {
  const { outcome } = scoreWallet({ rows, asOf, policy });
  const { hash } = inputsFile({ ...files, rowsDigest: rowsDigest(rows), asOf });
  if (outcome.kind !== "scored" || hash.length !== 66) throw new Error(`${rows.wallet} was not scored`);
  return 1;
}

/** A chain of 90 days whose calls are stored block by block, as an index stores them. */
async function seed(client: Client): Promise<AsOf> {
  await createIndexTables(client, SCHEMA);
  await client.query(
    `insert into ${SCHEMA}.block
     select n, '0x' || md5('b' || n) || md5('h' || n), 1767571200 + n * 972, 1000000000 from generate_series(0, $1) n`,
    [BLOCKS],
  );
  for (const population of [USUAL, BUSY]) await seedPopulation(client, population);
  await createTransactionIndexes(client, SCHEMA);
  // What autovacuum and the checkpointer would have done long before.
  await client.query(`vacuum (analyze) ${SCHEMA}.transaction, ${SCHEMA}.wallet, ${SCHEMA}.block`);
  await client.query("checkpoint");
  const { rows } = await client.query<{ hash: `0x${string}`; timestamp: string }>(
    `select hash, timestamp from ${SCHEMA}.block where number = $1`,
    [BLOCKS],
  );
  const [newest] = rows;
  if (newest === undefined) throw new Error("the chain was not seeded");
  return { blockNumber: BLOCKS, blockHash: newest.hash, timestamp: Number(newest.timestamp) };
}

async function seedPopulation(client: Client, { prefix, wallets, calls }: Population): Promise<void> {
  const address = (name: string) =>
    `'0x' || substr(md5('${prefix}' || ${name}) || md5(${name}::text), 1, 40)`;
  await client.query(
    `insert into ${SCHEMA}.wallet
     select ${address("w")}, 'registered', 0, $2, 0, 0, $3, 0, 0 from generate_series(1, $1::int) w`,
    [wallets, calls, BLOCKS],
  );
  await client.query(
    `insert into ${SCHEMA}.transaction
     select '0x' || md5('${prefix}' || n) || md5('t' || n), block, n % 1000, 1767571200 + block * 972,
       ${address("(n % $1 + 1)")}, '0x' || md5('c' || n % 37) || '00000000', n / $1, 0,
       '0xa9059cbb' || repeat('00', 64), '0xa9059cbb', 100000, 40000 + n % 30000, 1000000000 + n % 97, 1000000000,
       n % 23 <> 0, null, true
     from (select n, (n::bigint * ${BLOCKS} / ($1::bigint * $2)) as block from generate_series(0, $1::int * $2::int - 1) n) as sent`,
    [wallets, calls],
  );
}

async function walletsOf(client: Client, { wallets, calls }: Population): Promise<readonly Address[]> {
  const { rows } = await client.query<{ address: Address }>(
    `select address from ${SCHEMA}.wallet where own_calls = $1 order by address`,
    [calls],
  );
  if (rows.length !== wallets) throw new Error(`${rows.length} of ${wallets} wallets were seeded`);
  return rows.map((row) => row.address);
}
