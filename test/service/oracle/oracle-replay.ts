import type { Pool } from "pg";
import { type Address, type PublicClient, parseEventLogs } from "viem";
import { agentHealthOracleAbi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { modelVersionCode, unpackScore } from "../../../service/chain/oracle-codec.ts";

/** Rows of the view oracle_score, by column. */
type OracleRow = {
  readonly wallet: string;
  readonly present: boolean;
  readonly ahs_score: number;
  readonly sanctioned: boolean;
  readonly insufficient: boolean;
  readonly model_version: number;
  readonly safe_micro_usd: string;
  readonly as_of: string;
  readonly as_of_time: string;
};

/**
 * A substitute for the indexer in tests that need only the oracle's events: builds the views that publishing reads,
 * from the chain as it is now, anew at each call, so that reorgs need no care.
 */
export async function replayOracle(
  pool: Pool,
  chain: { client: PublicClient; oracle: Address; chainId: number },
): Promise<void> {
  const head = await chain.client.getBlockNumber({ cacheTime: 0 });
  const logs = await chain.client.getLogs({ address: chain.oracle, fromBlock: 0n, toBlock: head });
  const scores = new Map<string, OracleRow>();
  const roots = new Map<bigint, readonly [string, string]>();
  for (const log of parseEventLogs({ abi: agentHealthOracleAbi, logs })) {
    if (log.eventName === "Published") {
      for (const word of log.args.packed) apply(scores, unpackScore(word), log.args);
    } else if (log.eventName === "Invalidated") {
      for (const wallet of log.args.wallets) clear(scores, wallet.toLowerCase());
    } else if (log.eventName === "RootPublished") {
      roots.set(log.args.epoch, [log.args.root, log.args.uri]);
    }
  }
  const client = await pool.connect();
  const schema = `chain_${chain.chainId}`;
  try {
    await client.query("begin");
    await client.query(`create schema if not exists ${schema}`);
    for (const statement of TABLES) await client.query(statement.replaceAll("SCHEMA", schema));
    await client.query(`insert into ${schema}.block (number) values ($1)`, [head.toString()]);
    await client.query(
      `insert into ${schema}.oracle_score select * from json_populate_recordset(null::${schema}.oracle_score, $1)`,
      [JSON.stringify([...scores.values()])],
    );
    for (const [epoch, [root, uri]] of roots) {
      await client.query(`insert into ${schema}.oracle_root values ($1, $2, $3)`, [
        epoch.toString(),
        root,
        uri,
      ]);
    }
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** The columns that publishing reads, in the types that the indexer's views have. */
const TABLES = [
  "create table if not exists SCHEMA.block (number numeric(78) primary key)",
  `create table if not exists SCHEMA.oracle_score (
    wallet text primary key, present boolean, ahs_score integer, sanctioned boolean, insufficient boolean,
    model_version integer, safe_micro_usd numeric(78), as_of numeric(78), as_of_time numeric(78))`,
  "create table if not exists SCHEMA.oracle_root (epoch numeric(78) primary key, root text, uri text)",
  `create table if not exists SCHEMA.sanctions_change (
    address text, listed boolean, block numeric(78), log_index integer, timestamp numeric(78), transaction_hash text)`,
  "delete from SCHEMA.block",
  "delete from SCHEMA.oracle_score",
  "delete from SCHEMA.oracle_root",
];

function apply(
  scores: Map<string, OracleRow>,
  score: ReturnType<typeof unpackScore>,
  at: { readonly asOf: bigint; readonly asOfTime: bigint },
): void {
  const wallet = score.wallet.toLowerCase();
  const stored = scores.get(wallet);
  if (stored !== undefined && Number(stored.as_of) >= Number(at.asOf)) return;
  scores.set(wallet, {
    wallet,
    present: true,
    ahs_score: score.outcome.kind === "scored" ? score.outcome.ahsScore : 0,
    sanctioned: score.sanctioned,
    insufficient: score.outcome.kind === "insufficient",
    model_version: modelVersionCode(score.modelVersion),
    safe_micro_usd: score.safeMicroUsd.toString(),
    as_of: at.asOf.toString(),
    as_of_time: at.asOfTime.toString(),
  });
}

function clear(scores: Map<string, OracleRow>, wallet: string): void {
  const stored = scores.get(wallet);
  if (stored !== undefined) scores.set(wallet, { ...stored, present: false });
}
