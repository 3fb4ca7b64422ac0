import { parseAbi } from "viem";
/** Events that all ABI generations of ERC-8183 escrows have in common. */
export const jobEscrowEvents = parseAbi([
  "event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount)",
  "event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable)",
  "event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason)",
  "event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason)",
  "event JobExpired(uint256 indexed jobId)",
]);

/** Events of the accounts for bonds that change what a wallet has available. */
export const assuranceEvents = parseAbi([
  "event AssuranceDeposited(address indexed wallet, address indexed from, uint256 amount, uint256 available)",
  "event WithdrawalRequested(address indexed wallet, uint256 amount, uint256 unbonding, uint256 unbondedAt, uint256 available)",
  "event WithdrawalCancelled(address indexed wallet, uint256 amount, uint256 available)",
  "event JobCommitted(address indexed wallet, address indexed escrow, uint256 indexed jobId, address client, uint256 amount, uint256 expiry, uint256 available)",
  "event CommitmentReleased(address indexed wallet, address indexed escrow, uint256 indexed jobId, uint256 amount, uint256 available)",
]);

/** Events that the verdict evaluator emits. */
export const verdictEvaluatorEvents = parseAbi([
  "event VerdictSettled(address indexed escrow, uint256 indexed jobId, uint8 decision, uint16 score, bytes32 evidenceHash)",
  "event HoldRecorded(address indexed escrow, uint256 indexed jobId, bytes32 evidenceHash, uint64 reviewBy)",
]);
