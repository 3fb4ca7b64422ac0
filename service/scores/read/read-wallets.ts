import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { ReadPoint } from "../../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Coverage, Delegation } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { servicesUp, type WalletRow, walletFacts } from "./read-wallets.sql.ts";

/** Facts about a wallet besides its calls. */
export type WalletFacts = {
  readonly address: Address;
  readonly coverage: Coverage;
  /** Unix seconds; null where the index starts later than the chain. */
  readonly chainStartTimestamp: number | null;
  /** Unix seconds of the window's first moment; null without an own call. */
  readonly windowStart: number | null;
  /** Whether enriched blocks since it is followed are still to be read for it, or it is not followed. */
  readonly pastOpen: boolean;
  /** Whether some of its calls come from a history source. */
  readonly hasHistory: boolean;
  readonly delegation: Delegation | null;
  /** Unix seconds at which the day began on which a service of one of its agents last answered; null where none did. */
  readonly servicesUpAt: number | null;
};

export type WalletsQuery = {
  readonly chainId: number;
  readonly point: ReadPoint;
  /** Lower-case, each once. */
  readonly wallets: readonly Address[];
  /** Gives the window to read. */
  readonly policy: Policy;
};

/** Facts of the wallets that the index follows by the record's block, or that have a history from a source. */
export async function readWalletFacts(
  client: ClientBase,
  query: WalletsQuery,
): Promise<readonly WalletFacts[]> {
  const { chainId, point, wallets } = query;
  const { rows } = await client.query<WalletRow>(
    walletFacts(chainId, {
      wallets,
      asOfBlock: point.asOf.blockNumber,
      enrichedBlock: point.enriched.blockNumber,
    }),
  );
  const services = await readServices(client, query);
  return rows.map((row) => {
    const { address, pastOpen, delegation } = row;
    // A chain whose blocks are indexed from 0 or 1 on is indexed from its beginning.
    const chainStartTimestamp = row.firstBlock <= 1 ? row.firstTimestamp : null;
    const windowStart =
      row.lastTimestamp === null ? null : row.lastTimestamp - query.policy.window.days * SECONDS_PER_DAY;
    return {
      address,
      pastOpen,
      delegation,
      chainStartTimestamp,
      windowStart,
      coverage: coverageOf(row, { chainStartTimestamp, windowStart, enrichedTo: point.enriched.blockNumber }),
      hasHistory: row.past !== null,
      servicesUpAt: services.get(address) ?? null,
    };
  });
}

/**
 * Coverage of the index and a history source together, if they meet; else of the index alone. The index misses no
 * own call if it followed the wallet from the chain's first block, if the wallet's first known call is its first ever
 * (nonce 0), or if the window starts after the wallet was followed.
 */
function coverageOf(
  { address, followedBlock, followedTimestamp, firstNonce, pastOpen, past }: WalletRow,
  within: Pick<WalletFacts, "chainStartTimestamp" | "windowStart"> & { readonly enrichedTo: number },
): Coverage {
  const { chainStartTimestamp, windowStart, enrichedTo } = within;
  if (followedBlock === null || followedTimestamp === null) {
    if (past === null) throw new Error(`${address} is neither followed nor reported by a source`);
    const { source, toBlock, ...covered } = past;
    return { ...covered, toBlock: Math.min(toBlock, enrichedTo), sources: [source] };
  }
  const indexComplete =
    followedTimestamp === chainStartTimestamp ||
    firstNonce === 0 ||
    (windowStart !== null && windowStart >= followedTimestamp);
  const joined = past !== null && past.toBlock >= followedBlock - 1 ? past : null;
  const isLonger = joined !== null && joined.fromBlock < followedBlock;
  return {
    fromBlock: isLonger ? joined.fromBlock : followedBlock,
    fromTimestamp: isLonger ? joined.fromTimestamp : followedTimestamp,
    toBlock: Math.max(enrichedTo, followedBlock),
    complete: !pastOpen && (indexComplete || joined?.complete === true),
    sources: joined === null ? ["index"] : ["index", joined.source],
  };
}

/**
 * Day on which a declared endpoint of a current agent of the wallet last answered. To the day: otherwise every probe
 * would change the record, for a label about months.
 */
async function readServices(
  client: ClientBase,
  { chainId, wallets }: WalletsQuery,
): Promise<ReadonlyMap<Address, number>> {
  const { rows } = await client.query<[Address, number]>({
    ...servicesUp(chainId, { wallets }),
    rowMode: "array",
  });
  return new Map(rows);
}
