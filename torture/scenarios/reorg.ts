import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { freePort } from "../../bin/supervisor/child-process.ts";
import type { Database } from "../../service/db/database.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { scoreAtNewest } from "../../service/scores/score-wallets.ts";
import { enrichThrough } from "../../test/support/anvil-testkit/enrich-final.ts";
import { doubled, type Finding, lost } from "../accounts/finding.ts";
import { AGENTS } from "../stand/chain.ts";
import { openMigrated, type Stand } from "../stand/stand.ts";
import { supervise } from "../stand/supervise.ts";
import { type Injection, NEVER_RESTARTS, type ScenarioContext } from "./scenario.ts";

const PAUSE_MS = 2_000;
const FOLLOW_TIMEOUT_MS = 120_000;
const POLL_MS = 100;
/** Table and the key that orders it. */
const TABLES = [
  ["agent", "agent_id"],
  ["agent_wallet", "id"],
  ["wallet", "address"],
  ["transaction", "hash"],
  ["block", "number"],
  ["sanctions_change", "id"],
  ["oracle_score", "wallet"],
  ["oracle_root", "epoch"],
] as const;

/** Replaces the newest blocks under load, and compares what comes of it with an index that is built from nothing. */
export async function reorg(context: ScenarioContext): Promise<Injection> {
  const { stand, load, extent } = context;
  for (const depth of extent.reorgDepths) {
    await stand.chain().alone(() => stand.chain().test.reorg(depth));
    await sleep(PAUSE_MS);
  }
  const started = performance.now();
  load.setActing(false);
  const { agreedAfterMs, findings } = await context.settle();
  const recovery = agreedAfterMs === null ? Number.POSITIVE_INFINITY : agreedAfterMs / 1_000;
  await load.setMining(false);
  const differences = await compareWithFresh(stand).finally(() => load.setMining(true));
  return {
    injected: extent.reorgDepths.length,
    of: `reorgs of ${Math.min(...extent.reorgDepths)} to ${Math.max(...extent.reorgDepths)} blocks`,
    recovery,
    mayRestart: NEVER_RESTARTS,
    findings: [...findings, ...differences],
    notes: [
      `${TABLES.length} tables and ${AGENTS.length} scores compared with a fresh index, ${Math.round((performance.now() - started) / 1_000)} s in all`,
    ],
  };
}

/** Rows and scores of the index that lived through it, beside those of one that is built from nothing. */
async function compareWithFresh(stand: Stand): Promise<readonly Finding[]> {
  const { number: head, hash } = await stand.chain().head();
  await untilFollowed(stand.db, hash);
  const databaseUrl = await stand.databases.createDatabase(`fresh_${head}`);
  const db = await openMigrated(databaseUrl);
  const indexer = supervise({
    name: "fresh index",
    command: "index",
    env: {
      DATABASE_URL: databaseUrl,
      RPC_URL: stand.chain().test.rpcUrl,
      AHS_DEPLOYMENT: stand.deploymentFile,
      INDEX_PORT: String(await freePort()),
      POLLING_INTERVAL_MS: "100",
    },
    logFile: join(stand.folder, "fresh-index.log"),
  });
  try {
    await untilFollowed(db, hash);
    return [...(await compareRows(stand.db, db)), ...(await compareScores(stand, db))];
  } finally {
    await indexer.stop();
    await db.$client.end();
  }
}

async function untilFollowed({ $client }: Database, hash: string): Promise<void> {
  const deadline = performance.now() + FOLLOW_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const there = await $client.query("select to_regclass('chain_31337.block') is not null as there");
    if (there.rows[0]?.there === true) {
      const { rowCount } = await $client.query("select 1 from chain_31337.block where hash = $1", [hash]);
      if (rowCount === 1) return;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`block ${hash} is not indexed within ${FOLLOW_TIMEOUT_MS} ms`);
}

async function compareRows(live: Database, fresh: Database): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [table, key] of TABLES) {
    const [ours, theirs] = await Promise.all([live, fresh].map((db) => rowsOf(db, { table, key })));
    const known = new Set(ours);
    const wanted = new Set(theirs);
    for (const row of theirs ?? []) if (!known.has(row)) findings.push(lost(`${table}: ${row}`));
    for (const row of ours ?? []) if (!wanted.has(row)) findings.push(doubled(`${table}: ${row}`));
  }
  return findings;
}

async function rowsOf(
  db: Database,
  { table, key }: { readonly table: string; readonly key: string },
): Promise<readonly string[]> {
  const { rows } = await db.$client.query<{ row: string }>(
    `select to_jsonb(t)::text as row from chain_31337."${table}" t order by ${key}`,
  );
  return rows.map(({ row }) => row);
}

/** Scores as each of both indexes gives them at its newest final block, of which there may be two. */
async function compareScores(stand: Stand, fresh: Database): Promise<readonly Finding[]> {
  const [ours, theirs] = await Promise.all([stand.db, fresh].map((db) => scoresOf(stand, db)));
  return (theirs ?? []).flatMap((score, place) =>
    score === ours?.[place] ? [] : [lost(`score ${score}: the index that went on has ${ours?.[place]}`)],
  );
}

async function scoresOf(stand: Stand, db: Database): Promise<readonly string[]> {
  const { test } = stand.chain();
  await enrichThrough(db, test, await lastCall(db));
  const wallets = AGENTS.map((agent) => agent.toLowerCase() as Address);
  const chain = test.deployment;
  const scored = await scoreAtNewest({ db, chainId: chain.chainId, chain, policy: AHS_2026_2 }, wallets);
  if (scored === null) throw new Error("there is no block to score at");
  return scored.records
    .map(({ record: { wallet, outcome } }) => JSON.stringify({ wallet, outcome }))
    .toSorted();
}

async function lastCall(db: Database): Promise<number> {
  const { rows } = await db.$client.query<{ block: string }>(
    "select max(block) as block from chain_31337.transaction where own",
  );
  return Number(rows[0]?.block);
}
