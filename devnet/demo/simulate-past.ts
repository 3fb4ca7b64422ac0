import type { Deployment } from "../../service/chain/deployments.ts";
import { holdChain, isIndexed } from "../../service/db/chain-fence.ts";
import type { Database } from "../../service/db/database.ts";
import { readBlock } from "../../service/db/index-snapshot.ts";
import { score } from "../../service/db/tables/score.ts";
import type { AsOf } from "../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { nightOf, nightStart } from "../../service/registries/nightly/scan-runs.ts";
import { rowsDigest } from "../../service/scores/inputs-hash.ts";
import { createContactCaches } from "../../service/scores/read/contact-graph.ts";
import type { ReadRows } from "../../service/scores/read/read-rows.ts";
import { readFollowedWallets } from "../../service/scores/run-scoring.ts";
import { type InputRecord, readInParts, scoreRead } from "../../service/scores/score-wallets.ts";
import { keepInputFiles, toRow } from "../../service/scores/store-records.ts";
import { hasPastScans, type PastNight, storePastScans } from "./past-scans.ts";

const DAY_SECONDS = 86_400;
const NIGHTS = 14;
const WEEK_SECONDS = 7 * DAY_SECONDS;
/** More wallets would take minutes. */
const MOST_WALLETS = 1_000;

/**
 * Gives the local chain a past, once: weekly scores since the chain's first week, fourteen nights with their scores and
 * scans, and a day of hourly probes. Returns whether it did so now. Scores are computed as of their blocks; none is published, becomes current or is
 * notified. The scans and probes are simulated.
 */
export async function simulatePast({
  db,
  deployment,
  now,
  signal,
}: {
  readonly db: Database;
  readonly deployment: Pick<Deployment, "chainId" | "market" | "accounts" | "identityRegistry">;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}): Promise<boolean> {
  const { chainId } = deployment;
  if (await hasPastScans(db, chainId)) return false;
  const wallets = await readFollowedWallets(db, chainId);
  if (wallets.length > MOST_WALLETS) return false;
  const context = { db, chainId, chain: deployment, policy: AHS_2026_2 };
  // Facts of other accounts are those of today at every block.
  const cache = createContactCaches()("past");
  const nights: PastNight[] = [];
  for (const { asOf, night } of await readPastBlocks(db, chainId, now())) {
    const scored: InputRecord[] = [];
    for await (const read of readInParts(context, { wallets, at: asOf, contacts: () => cache })) {
      signal.throwIfAborted();
      const known = read.known.map((rows) => knownThen(rows, asOf));
      const part = await scoreRead({ ...read, known, strangers: [] }, context.policy);
      await keepInputFiles(db, [
        ...part.files,
        ...part.records.flatMap(({ inputs, counterparties }) => [inputs, counterparties]),
      ]);
      scored.push(...part.records);
    }
    await storePastScores(db, { chainId, asOf, scored });
    if (night !== null) nights.push({ asOf, night, records: scored.map(({ record }) => record) });
  }
  await storePastScans(db, { deployment, nights, now: now() });
  return nights.length > 0;
}

type PastBlock = {
  readonly asOf: AsOf;
  /** UTC day of the scan; null for a weekly score. */
  readonly night: string | null;
};

/** Blocks to score at, the oldest first: one a week, then one a night, all before the first score of the service. */
async function readPastBlocks(db: Database, chainId: number, now: Date): Promise<readonly PastBlock[]> {
  const { rows } = await db.$client.query<{ start: number; end: number }>(
    `select (select min(timestamp)::float8 from "chain_${chainId}".block) as start,
       (select min(as_of_block)::float8 from ahs.score where chain_id = $1 and id > 0) as end`,
    [chainId],
  );
  const [{ start, end } = { start: 0, end: 0 }] = rows;
  const moments = pastMoments(now, start);
  const blocks = new Map<number, PastBlock>();
  for (const { at, night } of moments) {
    const asOf = await readBlock(db.$client, {
      text: `select number::float8, hash, timestamp::float8 from "chain_${chainId}".block
             where timestamp <= $1 and number < $2 order by number desc limit 1`,
      values: [at, end],
    });
    if (asOf !== null) blocks.set(asOf.blockNumber, { asOf, night });
  }
  return [...blocks.values()];
}

/** Moments of the past in Unix seconds, the oldest first. */
export function pastMoments(
  now: Date,
  start: number,
): readonly { readonly at: number; readonly night: string | null }[] {
  const nights = Array.from({ length: NIGHTS }, (_, i) => {
    const night = nightOf(new Date(now.getTime() - (NIGHTS - i) * DAY_SECONDS * 1_000));
    return { at: nightStart(night).getTime() / 1_000, night };
  }).filter(({ at }) => at >= start);
  const weeks: { at: number; night: null }[] = [];
  const first = nights[0]?.at ?? 0;
  for (let at = first - WEEK_SECONDS; at >= start + WEEK_SECONDS; at -= WEEK_SECONDS) {
    weeks.unshift({ at, night: null });
  }
  return [...weeks, ...nights];
}

/** Rows without what the wallet did after the block: approvals and answers of its services are read as of now. */
function knownThen({ rows }: ReadRows, { timestamp }: AsOf): ReadRows {
  const { approvals, servicesUpAt } = rows;
  const then = {
    ...rows,
    approvals: approvals === null ? null : approvals.filter(({ approvedAt }) => approvedAt <= timestamp),
    servicesUpAt: servicesUpAt !== null && servicesUpAt <= timestamp ? servicesUpAt : null,
  };
  return { rows: then, digest: rowsDigest(then) };
}

/** Unix seconds after all blocks of today's chains. */
const LATEST_SECONDS = 10_000_000_000;
/** Ids of one second. */
const IDS_A_SECOND = 100_000;

/** Stores the scores of one block under ids below zero that rise with its time: readers rely on this order. */
async function storePastScores(
  db: Database,
  {
    chainId,
    asOf,
    scored,
  }: { readonly chainId: number; readonly asOf: AsOf; readonly scored: readonly InputRecord[] },
): Promise<void> {
  if (scored.length === 0) return;
  const firstId = (asOf.timestamp - LATEST_SECONDS) * IDS_A_SECOND;
  const createdAt = new Date(asOf.timestamp * 1_000);
  const rows = scored.map((record, i) => ({ ...toRow(record), id: firstId + i, createdAt }));
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    if (!(await isIndexed(tx, chainId, asOf))) return;
    await tx.insert(score).overridingSystemValue().values(rows).onConflictDoNothing();
  });
}
