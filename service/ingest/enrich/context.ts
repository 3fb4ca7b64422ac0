import type { Logger } from "pino";
import type { Address } from "viem";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import type { Database } from "../../db/database.ts";
import type { CrashWatch } from "./crash-watch.ts";
import type { EnrichLimits } from "./enrich-limits.ts";
import type { Market } from "./market.ts";
import type { EnrichMetrics } from "./metrics.ts";
import type { ReadReceipts } from "./read-receipts.ts";

/** What is known of a feed between ranges. */
export type KnownFeed = {
  readonly feed: Address;
  /** The contract that logs its answers: its aggregator, or itself. */
  readonly source: Address;
  readonly decimals: number;
  /** Unix seconds of the range for which that was read. */
  readonly readAt: number;
};

/** Feeds by address, refreshed as ranges go on. */
type FeedWatch = Map<Address, KnownFeed>;

/** When the code of each wallet was last read, and which wallets have called since then. */
export type DelegationWatch = {
  /** Unix seconds of the chain. */
  readonly readAt: Map<Address, number>;
  readonly called: Set<Address>;
  /** Unix seconds of the chain at which the node did not give the code, for want of which it is asked again after an hour. */
  readonly failedAt: Map<Address, number>;
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
