import { type Address, getAddress, type Hex, hashTypedData, isHex, size } from "viem";

/** Most seconds from the signing of a verdict to its deadline. */
export const verdictLifeSeconds = 86_400n;

/** The signed struct, as the evaluator takes it. */
export type VerdictMessage = {
  readonly escrow: Address;
  readonly jobId: bigint;
  /** As in the job's JobSubmitted event. */
  readonly deliverable: Hex;
  readonly specHash: Hex;
  /** 1 ALLOW, 2 REJECT, 3 HOLD. */
  readonly decision: number;
  /** 0 to 100. */
  readonly score: number;
  /** 0 to 10000. */
  readonly confidenceBps: number;
  /** keccak256 of the evidence document; the escrow's `reason`. */
  readonly evidenceHash: Hex;
  /** Unix seconds. */
  readonly issuedAt: bigint;
  /** Last second at which it may be brought. */
  readonly deadline: bigint;
};

/** Which evaluator on which chain a verdict is signed for. */
export type EvaluatorName = { readonly chainId: number; readonly address: Address };

/** The struct with its address in EIP-55; throws on a value that no evaluator would take. */
export function verdictMessage(verdict: VerdictMessage): VerdictMessage {
  const { jobId, issuedAt, deadline } = verdict;
  bounded("decision", BigInt(verdict.decision), [1n, 3n]);
  bounded("score", BigInt(verdict.score), [0n, 100n]);
  bounded("confidenceBps", BigInt(verdict.confidenceBps), [0n, 10_000n]);
  bounded("jobId", jobId, [0n, 2n ** 256n - 1n]);
  bounded("issuedAt", issuedAt, [1n, 2n ** 64n - 1n - verdictLifeSeconds]);
  bounded("deadline", deadline, [issuedAt, issuedAt + verdictLifeSeconds]);
  for (const name of ["deliverable", "specHash", "evidenceHash"] as const) requireHash(name, verdict[name]);
  return { ...verdict, escrow: getAddress(verdict.escrow) };
}

/** EIP-712 typed data of a verdict for one evaluator on one chain, as viem's signTypedData and hashTypedData take it. */
export function verdictTypedData(evaluator: EvaluatorName, message: VerdictMessage) {
  return {
    domain: {
      name: "Agent Health Verdicts",
      version: "1",
      chainId: evaluator.chainId,
      verifyingContract: evaluator.address,
    },
    types: verdictTypes,
    primaryType: "Verdict",
    message,
  } as const;
}

/** Returns the digest that a signer signs; equals the evaluator's `verdictDigest`. */
export function verdictDigest(evaluator: EvaluatorName, message: VerdictMessage): Hex {
  return hashTypedData(verdictTypedData(evaluator, message));
}

const verdictTypes = {
  Verdict: [
    { name: "escrow", type: "address" },
    { name: "jobId", type: "uint256" },
    { name: "deliverable", type: "bytes32" },
    { name: "specHash", type: "bytes32" },
    { name: "decision", type: "uint8" },
    { name: "score", type: "uint16" },
    { name: "confidenceBps", type: "uint16" },
    { name: "evidenceHash", type: "bytes32" },
    { name: "issuedAt", type: "uint64" },
    { name: "deadline", type: "uint64" },
  ],
} as const;

function bounded(name: string, value: bigint, [least, most]: readonly [bigint, bigint]): void {
  if (value < least || value > most) throw new Error(`${name}: expected ${least} to ${most}, got ${value}`);
}

function requireHash(name: string, value: Hex): void {
  if (!isHex(value) || size(value) !== 32) throw new Error(`${name}: expected 32 bytes of hex, got ${value}`);
}
