import type { Logger } from "pino";
import type { Address } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import type { Database } from "../../db/database.ts";
import type { CrashWatch } from "./crash-watch.ts";
import type { Market } from "./market.ts";
import type { EnrichMetrics } from "./metrics.ts";
import type { DelegationWatch } from "./read-delegations.ts";
import type { FeedWatch } from "./read-feeds.ts";
import type { ReadReceipts } from "./read-receipts.ts";

export type EnrichLimits = {
  /** Most blocks of one eth_getLogs. */
  readonly maxBlocks: number;
  /** Most addresses in one filter. */
  readonly maxWallets: number;
  /** Most logs of one range of several blocks; more are read in smaller ranges. */
  readonly maxLogs: number;
  /** Most blocks with own calls or executions, each a request, in one range: what a kill can cost. */
  readonly maxCallBlocks: number;
  /** Most requests under way. */
  readonly concurrency: number;
};

export const enrichLimits: EnrichLimits = {
  maxBlocks: 2_000,
  maxWallets: 500,
  maxLogs: 20_000,
  maxCallBlocks: 250,
  concurrency: 4,
};

/** What reading and storing a range needs. */
export type EnrichContext = {
  readonly db: Database;
  readonly client: ChainReader;
  readonly readReceipts: ReadReceipts;
  readonly chainId: number;
  /** Views schema of the index, chain_<id>. */
  readonly schema: string;
  readonly market: Market;
  /** ERC-4337 entry points whose events are believed, lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
  /** Ranges of one block that timed out: where they stand, and how often in a row. */
  readonly timeouts: Map<"chain" | "past", { readonly from: number; readonly times: number }>;
  readonly crashes: CrashWatch;
  /** Ranges stored by this process. */
  readonly progress: { commits: number };
  readonly feeds: FeedWatch;
  readonly delegations: DelegationWatch;
  readonly limits: EnrichLimits;
  readonly metrics: EnrichMetrics;
  readonly logger: Logger;
};
