import { type Address, getAddress, numberToHex } from "viem";
import type { Deployment } from "../service/chain/deployments.ts";
import { type Database, migrateDatabase } from "../service/db/database.ts";
import { marketOf, type Population, seedScoring } from "./scoring-population.ts";

const CHAIN_ID = 31_337;
const POPULATION: Population = { prefix: "read", wallets: 500, calls: 40 };

/** Followed wallets under a fresh head, each with a score that differs from its neighbour's. */
export async function seedScores(
  db: Database,
  databaseUrl: string,
  population: Population = POPULATION,
): Promise<readonly Address[]> {
  await migrateDatabase(db);
  await seedScoring(databaseUrl, [population]);
  await db.$client.query(`
    create table chain_${CHAIN_ID}.oracle_score (
      wallet text primary key, ahs_score integer, insufficient boolean, as_of numeric(78), transaction_hash text,
      published_at timestamptz, present boolean)`);
  await db.$client.query(
    `update chain_${CHAIN_ID}.block set timestamp = $1 where number = (select max(number) from chain_${CHAIN_ID}.block)`,
    [Math.floor(Date.now() / 1_000)],
  );
  const { rows } = await db.$client.query<{ address: Address }>(
    `select address from chain_${CHAIN_ID}.wallet order by address`,
  );
  await db.$client.query(SCORES, [CHAIN_ID]);
  return rows.map(({ address }) => address);
}

const SCORES = `
  with scored as (
    insert into ahs.score (chain_id, wallet, as_of_block, as_of_hash, as_of_time, model_version, ahs_score, d1_score, d2_score,
      grade, confidence_micros, confidence_level, sanctioned, sanctions_flags, patterns, features, coverage, inputs_hash)
    select $1::int, address, 7990, '0x11', now(), 'AHS-2026.2', 75 + length(address) % 10, 80, 80, 'B', 800000, 'HIGH', false,
      '[]', '[]', '[]', '{"fromBlock":0,"fromTimestamp":0,"toBlock":7990,"complete":true,"sources":["index"]}', '0x22'
    from chain_31337.wallet
    returning *
  )
  insert into ahs.current_score (chain_id, wallet, score_id, as_of_block, ahs_score, grade, confidence_micros, confidence_level, as_of_time, sanctioned)
  select chain_id, wallet, id, as_of_block, ahs_score, grade, confidence_micros, confidence_level, as_of_time, sanctioned from scored`;

/** A deployment of the seeded chain, whose contracts are never called. */
export async function deploymentOf(databaseUrl: string): Promise<Deployment> {
  const place = (number: number) => ({
    address: getAddress(numberToHex(number, { size: 20 })),
    startBlock: 0,
  });
  const { market, accounts } = await marketOf(databaseUrl);
  const checked = (address: Address) => getAddress(address);
  return {
    chainId: CHAIN_ID,
    name: "bench",
    startBlock: 0,
    finalityBlocks: 1,
    identityRegistry: place(0xa1),
    sanctionsList: place(0xa2),
    oracle: place(0xa3),
    verdictEvaluator: null,
    assuranceAccounts: null,
    escrows: [],
    registries: [],
    reputationRegistry: null,
    validationRegistry: null,
    usdc: place(0xa4).address,
    market: {
      native: { ...market.native, feed: checked(market.native.feed) },
      wrappedNative: null,
      tokens: market.tokens.map((token) => ({
        ...token,
        address: checked(token.address),
        feed: checked(token.feed),
      })),
    },
    accounts,
    staticWallets: [],
  };
}
