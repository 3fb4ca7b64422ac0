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
