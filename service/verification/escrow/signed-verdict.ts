import type { Address, Hex } from "viem";

export type SignedDecision = "ALLOW" | "HOLD" | "REJECT";

/** A verdict as it was signed: what anyone can bring to its evaluator until the deadline; addresses in lower case. */
export type SignedVerdict = {
  readonly decision: SignedDecision;
  readonly deliverable: Hex;
  readonly specHash: Hex;
  readonly score: number;
  readonly confidenceBps: number;
  readonly evidenceHash: Hex;
  /** Unix seconds, as the deadline. */
  readonly issuedAt: number;
  readonly deadline: number;
  readonly evaluator: Address;
  readonly signer: Address;
  readonly signature: Hex;
};

/** Columns of a settlement that were signed; int8 arrives as text. */
export type SignedColumns = {
  readonly decision: SignedDecision;
  readonly deliverable: Hex;
  readonly spec_hash: Hex;
  readonly score: number;
  readonly confidence_bps: number;
  readonly evidence_hash: Hex;
  readonly issued_at: string;
  readonly deadline: string;
  readonly evaluator: Address;
  readonly signer: Address;
  readonly signature: Hex;
};

/** The signed part of a row. */
export function signedOf(row: SignedColumns): SignedVerdict {
  return {
    decision: row.decision,
    deliverable: row.deliverable,
    specHash: row.spec_hash,
    score: row.score,
    confidenceBps: row.confidence_bps,
    evidenceHash: row.evidence_hash,
    issuedAt: Number(row.issued_at),
    deadline: Number(row.deadline),
    evaluator: row.evaluator,
    signer: row.signer,
    signature: row.signature,
  };
}
