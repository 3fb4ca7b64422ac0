import type { Hex } from "viem";
import type { Deployment } from "../chain/deployments.ts";
import type { Database } from "../db/database.ts";
import { type ArrayReader, readSnapshot } from "../db/index-snapshot.ts";
import type { SanctionsFlag } from "../model/features/types.ts";
import { readImport } from "./import-list.ts";
import { sanctionsListHash } from "./list-file.ts";
import { readSanctionsEntries } from "./sanctions.ts";
import { countUncheckedWallets, readNewestBlock } from "./sanctions-readings.ts";

/** State of a source of sanctions. */
export type SourceStatus = {
  readonly source: SanctionsFlag["source"];
  /** Until when what it says is known: the newest indexed block, or the last import; null where it never was. */
  readonly checkedAt: Date | null;
  /** A block, or the list's own date; null without one. */
  readonly edition: string | null;
  readonly entries: number;
  /** Null as long as checkedAt is. */
  readonly listHash: Hex | null;
  /** Number of wallets that the contract was not asked about yet; null for a source that lists all of its entries. */
  readonly unchecked: number | null;
};

/** Every source, the contract first where the chain has one, at one moment. */
export async function readSanctionsSources(
  db: Database,
  { chainId, sanctionsList }: Pick<Deployment, "chainId" | "sanctionsList">,
): Promise<readonly SourceStatus[]> {
  return readSnapshot(db, async (client) => [
    ...(sanctionsList === null ? [] : [await contractStatus(client, chainId)]),
    await importStatus(client, "ofac-sdn"),
  ]);
}

/** Throws if there is no source: a chain without a sanctions contract, before the first import. */
export async function requireSanctionsSource(
  db: Database,
  chain: Pick<Deployment, "chainId" | "sanctionsList">,
): Promise<void> {
  if (chain.sanctionsList !== null) return;
  const sources = await readSanctionsSources(db, chain);
  if (sources.some(({ checkedAt }) => checkedAt !== null)) return;
  throw new Error(
    `chain ${chain.chainId} has no sanctions contract, and no list was ever imported: sanctioned wallets could not be recognised. Run "ahs sanctions import" first`,
  );
}

const NEVER_READ = { checkedAt: null, edition: null, entries: 0, listHash: null, unchecked: null };

async function contractStatus(client: ArrayReader, chainId: number): Promise<SourceStatus> {
  const source = "chainalysis-oracle";
  const block = await readNewestBlock(client, chainId);
  if (block === null) return { source, ...NEVER_READ };
  const all = await readSanctionsEntries(client, { chainId, asOfBlock: block.blockNumber });
  const entries = all.filter((entry) => entry.source === source);
  return {
    source,
    checkedAt: new Date(block.timestamp * 1000),
    edition: `block ${block.blockNumber}`,
    entries: entries.length,
    listHash: sanctionsListHash(entries),
    unchecked: await countUncheckedWallets(client, chainId),
  };
}

async function importStatus(client: ArrayReader, source: SanctionsFlag["source"]): Promise<SourceStatus> {
  return { source, ...NEVER_READ, ...(await readImport(client, source)) };
}

/** Returns the sources' status from a cache, without a read at every call. */
export type SourceWatch = () => Promise<readonly SourceStatus[]>;

/** Hashing a whole list is costly, so the result is cached this long. */
const KEEP_MS = 10_000;

/** Reads the sources anew after ten seconds; while that fails, the last state stays. Throws only before anything was read. */
export function createSourceWatch(options: {
  readonly read: () => Promise<readonly SourceStatus[]>;
  readonly monotonicMs: () => number;
}): SourceWatch {
  let known: readonly SourceStatus[] | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let running: Promise<readonly SourceStatus[]> | null = null;
  const renew = async (): Promise<readonly SourceStatus[]> => {
    readAt = options.monotonicMs();
    try {
      known = await options.read();
      return known;
    } catch (error) {
      if (known === null) throw error;
      return known;
    } finally {
      running = null;
    }
  };
  return () => {
    if (known !== null && options.monotonicMs() - readAt < KEEP_MS) return Promise.resolve(known);
    running ??= renew();
    return running;
  };
}

/** Seconds since the source was known to say what it says; null where it never was. */
export function ageSeconds({ checkedAt }: SourceStatus, now: Date): number | null {
  return checkedAt === null ? null : Math.max(0, Math.floor((now.getTime() - checkedAt.getTime()) / 1000));
}
