import { setTimeout as sleep } from "node:timers/promises";
import { openChainClient } from "../../bin/process.ts";
import type { Database } from "../../service/db/database.ts";
import { readFinalized } from "../../service/ingest/read-as-of.ts";
import type { Rising, RunningChain } from "./start-chain.ts";

const POLL_MS = 300;
const REQUEST_MS = 2_000;

/**
 * Waits until this run's indexer holds the very block that is the head now, and returns its number. A database may still hold the index of a lost chain; and
 * until its indexer takes back the blocks that were not final, the head as the last run left it.
 */
export async function awaitIndexed(
  rising: Rising,
  { db, chain, indexUrl }: { readonly db: Database; readonly chain: RunningChain; readonly indexUrl: string },
): Promise<bigint> {
  const head = await openChainClient(chain.rpcUrl).getBlock();
  const blocks = `"chain_${chain.chainId}".block`;
  await poll(rising, async () => {
    // Asked first: an indexer is ready after it has taken blocks back, and what is held then is its own.
    const isReady = (await statusOf(`${indexUrl}/ready`)) === 200;
    const held = `select count(*) as n from ${blocks} where number = ${head.number} and hash = '${head.hash}'`;
    const isIndexed = isReady && (await count(db, held))[0] === 1;
    const done = isIndexed ? Number(head.number) : await syncedBlocks(indexUrl);
    rising.progress.show("index", Math.min(done, Number(head.number)), Number(head.number));
    return isIndexed;
  });
  return head.number;
}

/**
 * Waits until every wallet that is followed since that block or earlier has a score and no publication is pending or under way. The
 * first scan asks for wallets of the second registry meanwhile: they are scored later. Before the first score, blocks are enriched.
 */
export async function awaitPublished(
  rising: Rising,
  { db, chainId, head }: { readonly db: Database; readonly chainId: number; readonly head: bigint },
): Promise<void> {
  const followed = `"chain_${chainId}".wallet where followed_block <= ${head}`;
  await poll(rising, async () => {
    const [wallets] = await count(db, `select count(*) as n from ${followed}`);
    const [scored] = await count(
      db,
      `select count(*) as n from ahs.current_score where chain_id = ${chainId}
       and wallet in (select address from ${followed})`,
    );
    if (wallets === null || scored === null || scored < wallets) {
      const [enriched] = await count(
        db,
        `select block as n from ahs.enrich_cursor where chain_id = ${chainId}`,
      );
      const final = scored === 0 ? await readFinalized(db.$client, chainId) : null;
      if (final === null || (enriched ?? 0) >= final.blockNumber)
        rising.progress.show("score", scored ?? 0, wallets ?? 0);
      else rising.progress.show("enrich", enriched ?? 0, final.blockNumber);
      return false;
    }
    const [wanted] = await count(
      db,
      `select count(*) as n from ahs.current_score where chain_id = ${chainId} and ahs_score is not null
       and wallet in (select address from ${followed})`,
    );
    const [published] = await count(
      db,
      `select count(*) as n from "chain_${chainId}".oracle_score o join ahs.current_score c on c.wallet = o.wallet
       where c.chain_id = ${chainId} and c.ahs_score is not null and c.wallet in (select address from ${followed})`,
    );
    rising.progress.show("publish", published ?? 0, wanted ?? 0);
    return published === wanted;
  });
}

/** Waits until the API answers from a fresh index. */
export async function awaitServing(rising: Rising, baseUrl: string): Promise<void> {
  rising.progress.show("serve", 0, 1);
  await poll(rising, () => servesFreshData(baseUrl));
  rising.progress.show("serve", 1, 1);
}

/** Whether the server is ready and its index fresh. */
export async function servesFreshData(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(REQUEST_MS) });
    const { index } = (await response.json()) as { readonly index?: { readonly ok: boolean } };
    return response.ok && index?.ok === true;
  } catch {
    return false;
  }
}

async function poll({ signal }: Rising, done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) {
    signal.throwIfAborted();
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** The number, or null while what it counts is not there yet: PostgreSQL's undefined_table. */
async function count(db: Database, statement: string): Promise<[number | null]> {
  try {
    const { rows } = await db.$client.query<{ n: string | null }>(statement);
    const n = rows[0]?.n;
    return [n === null || n === undefined ? null : Number(n)];
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "42P01") return [null];
    throw error;
  }
}

/** Blocks that the first pass has fetched, from the indexer's metrics; 0 while it does not answer. */
async function syncedBlocks(indexUrl: string): Promise<number> {
  try {
    const response = await fetch(`${indexUrl}/metrics`, { signal: AbortSignal.timeout(REQUEST_MS) });
    const line = /^ponder_historical_completed_blocks\{[^}]*\} (\d+)/m.exec(await response.text());
    return Number(line?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function statusOf(url: string): Promise<number | null> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS) })).status;
  } catch {
    return null;
  }
}
