import type { Address, Hex } from "viem";

/** The block a record speaks for: the newest finalized one that the index held when the rows were read. */
export type AsOf = {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  /** Unix seconds of that block. */
  readonly timestamp: number;
};

/** One call that the wallet itself made and that was mined, whatever its outcome. */
export type OwnCall = {
  readonly hash: Hex;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** The called account; null for a contract creation. */
  readonly to: Address | null;
  /** First four bytes of the calldata; null for a plain transfer. */
  readonly selector: Hex | null;
  readonly value: bigint;
  readonly ok: boolean;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Wei paid for it. */
  readonly fee: bigint;
};

export type SanctionsFlag = {
  readonly source: "chainalysis-oracle" | "ofac-sdn";
  readonly reference: string;
  /** ISO 8601 UTC. */
  readonly detected_at: string;
};

/** Which part of the chain the rows cover. */
export type Coverage = {
  readonly fromBlock: number;
  readonly fromTimestamp: number;
  readonly toBlock: number;
  /** Whether every own call of the scoring window up to toBlock is in the rows. */
  readonly complete: boolean;
  readonly sources: readonly string[];
};

/** Everything the model may look at for one wallet, in any order. */
export type WalletRows = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly calls: readonly OwnCall[];
  readonly sanctions: readonly SanctionsFlag[];
  readonly coverage: Coverage;
  /** Unix seconds of the chain's first block; null where the index starts later than the chain. */
  readonly chainStartTimestamp: number | null;
};
