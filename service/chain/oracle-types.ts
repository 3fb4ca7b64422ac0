import type { Address, Hex } from "viem";

export type OracleGrade = "A" | "B" | "C" | "D" | "E" | "F";

/** What one word of a publication says of one wallet. */
export type OracleScore = {
  readonly wallet: Address;
  readonly outcome: OracleOutcome;
  /** Basis points, 0 to 10,000. */
  readonly confidenceBps: number;
  readonly sanctioned: boolean;
  /** As in the score record, for example AHS-2026.1. */
  readonly modelVersion: string;
};

export type OracleOutcome =
  | { readonly kind: "scored"; readonly ahsScore: number; readonly d1Score: number; readonly d2Score: number }
  | { readonly kind: "insufficient" };

/** When a score was taken and how long it may be relayed; seconds, but for the block number asOf. */
export type OracleTimes = { readonly asOf: bigint; readonly asOfTime: bigint; readonly validUntil: bigint };

/** A stored record: a publication with its times, the grade derived from the score (null when insufficient). */
export type OracleRecord = Omit<OracleScore, "wallet"> & OracleTimes & { readonly grade: OracleGrade | null };

/** A leaf of an epoch's Merkle list; record is the stored form. */
export type OracleLeaf = { readonly wallet: Address; readonly record: Hex };

/** The EIP-712 message `Score` as viem signs it and as the contract takes it. */
export type OracleMessage = {
  readonly wallet: Address;
  readonly score: number;
  readonly d1: number;
  readonly d2: number;
  readonly confidence: number;
  readonly flags: number;
  readonly modelVersion: number;
  readonly asOf: bigint;
  readonly asOfTime: bigint;
  readonly validUntil: bigint;
};

/** The struct Record as the ABI decodes it. */
export type OracleView = {
  readonly exists: boolean;
  readonly score: number;
  readonly d1: number;
  readonly d2: number;
  readonly grade: number;
  readonly confidence: number;
  readonly sanctioned: boolean;
  readonly insufficient: boolean;
  readonly modelVersion: number;
  readonly asOf: bigint;
  readonly asOfTime: bigint;
  readonly validUntil: bigint;
  readonly age: bigint;
};
