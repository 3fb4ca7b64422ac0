import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Address } from "viem";
import type { Deployment, SamplingRule } from "../../chain/deployments.ts";
import type { ChainReader } from "../../chain/node/chain-reader.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { metricsOf } from "../../db/metrics.ts";
import type { createCrashWatch } from "./crash-watch.ts";
import type { createReceiptReader, NodeState } from "./read-receipts.ts";
import type { createTraceReader } from "./read-traces.ts";

/** A price feed as it is cached between ranges. */
export type KnownFeed = {
  readonly feed: Address;
  /** The contract that logs its answers: its aggregator, or itself. */
  readonly source: Address;
  readonly decimals: number;
  /** Unix seconds of the range for which that was read. */
  readonly readAt: number;
};

export type EnrichContext = {
  readonly db: Database;
  readonly client: ChainReader;
  readonly readReceipts: ReturnType<typeof createReceiptReader>;
  readonly node: NodeState;
  readonly readTrace: ReturnType<typeof createTraceReader>;
  readonly chainId: number;
  /** Whether the time before the index follows a wallet is read from a batch source. */
  readonly warms: boolean;
  readonly market: Market;
  /** Which blocks are read whole. */
  readonly rule: SamplingRule;
  /** ERC-4337 entry points whose events are believed, lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
  /** Ranges of one block that timed out: their block, and how often in a row. */
  readonly timeouts: Map<"chain" | "past", { readonly from: number; readonly times: number }>;
  readonly crashes: ReturnType<typeof createCrashWatch>;
  /** Ranges stored by this process. */
  readonly progress: { commits: number };
  /** Feeds by address, refreshed as ranges go on. */
  readonly feeds: Map<Address, KnownFeed>;
  /**
   * When each wallet's code was last read, or not returned by the node (Unix seconds of the chain), which wallets called since without
   * its being known who signed, and which signed a delegation.
   */
  readonly delegations: {
    readonly readAt: Map<Address, number>;
    readonly called: Set<Address>;
    readonly signed: Set<Address>;
    readonly failedAt: Map<Address, number>;
  };
  readonly limits: EnrichLimits;
  readonly metrics: EnrichMetrics;
  readonly logger: Logger;
};

export const enrichLimits = {
  /** Most blocks of one eth_getLogs. */
  maxBlocks: 2_000,
  /** Most addresses in one filter. */
  maxWallets: 500,
  /** Price of eth_getBlockReceipts in per cent of that of eth_getLogs: 20 to 60 compute units at Alchemy. */
  receiptsPercent: 33,
  /** Most logs of one range of several blocks; more are read in smaller ranges. */
  maxLogs: 20_000,
  /** Most blocks with own calls or executions and sampled ones, each a request, in one range: what a kill can cost. */
  maxCallBlocks: 250,
  /** Most requests under way. */
  concurrency: 4,
};

export type EnrichLimits = typeof enrichLimits;

export type EnrichMetrics = ReturnType<typeof createEnrichMetrics>;

export function createEnrichMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    lagBlocks: gauge("ahs_enrich_lag_blocks", "Finalized blocks of the index that are not enriched yet"),
    pastWallets: gauge("ahs_enrich_past_wallets", "Wallets whose own past is not read up to the cursor yet"),
    requests: counter("ahs_enrich_requests_total", "Requests to the node, retries included", "method"),
    rows: counter("ahs_enrich_rows_total", "Rows written", "table"),
    failures: counter(
      "ahs_enrich_failures_total",
      "Ranges that could not be read, by kind; they are tried again",
      "kind",
    ),
    leftOut: counter(
      "ahs_enrich_left_out_total",
      "What no answer of the node has room for, is more than is kept, or ended processes, by what it is; it is not read again",
      "what",
    ),
    dropped: counter(
      "ahs_enrich_rows_dropped_total",
      "Rows deleted whose time was over: transfers of unlisted tokens that others claimed, users of contracts",
      "table",
    ),
    factFailures: counter(
      "ahs_enrich_fact_failures_total",
      "Accounts of which the source gave no facts, by reason; they are asked for again",
      "reason",
    ),
  };
}

/** A coin or token with a price feed. */
export type PricedToken = { readonly decimals: number; readonly feed: Address };

/** Tokens and price feeds of the chain's deployment; addresses are lower-case. */
export type Market = {
  /** Null where no feed prices the native coin. */
  readonly native: PricedToken | null;
  readonly wrappedNative: Address | null;
  /** Recognised ERC-20 tokens, whose logs are trusted. */
  readonly listed: ReadonlySet<Address>;
  /** Recognised ERC-20 tokens that a feed prices. */
  readonly tokens: ReadonlyMap<Address, PricedToken>;
  /** Every feed once, by rising address. */
  readonly feeds: readonly Address[];
};

/** The market of a deployment in the form that enrichment compares with. */
export function marketOf({ market }: Deployment): Market {
  const native = priced(market.native);
  const tokens = new Map<Address, PricedToken>();
  for (const token of market.tokens) {
    const known = priced(token);
    if (known !== null) tokens.set(lowerCase(token.address), known);
  }
  const feeds = [...(native === null ? [] : [native]), ...tokens.values()].map(({ feed }) => feed);
  const wrappedNative = market.wrappedNative === null ? null : lowerCase(market.wrappedNative);
  const recognised = market.tokens.map(({ address }) => lowerCase(address));
  return {
    native,
    wrappedNative,
    listed: new Set([...recognised, ...(wrappedNative === null ? [] : [wrappedNative])]),
    tokens,
    feeds: [...new Set(feeds)].toSorted(),
  };
}

function priced(token: { readonly decimals: number; readonly feed: Address | null }): PricedToken | null {
  return token.feed === null ? null : { decimals: token.decimals, feed: lowerCase(token.feed) };
}
