import { parseAbi } from "viem";
/** Events that all ABI generations of ERC-8183 escrows have in common. */
export const jobEscrowEvents = parseAbi([
  "event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount)",
  "event JobSubmitted(uint256 indexed jobId, address indexed provider, bytes32 deliverable)",
  "event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason)",
  "event JobRejected(uint256 indexed jobId, address indexed rejector, bytes32 reason)",
  "event JobExpired(uint256 indexed jobId)",
]);

/** Events that the verdict evaluator emits. */
export const verdictEvaluatorEvents = parseAbi([
  "event VerdictSettled(address indexed escrow, uint256 indexed jobId, uint8 decision, uint16 score, bytes32 evidenceHash)",
  "event HoldRecorded(address indexed escrow, uint256 indexed jobId, bytes32 evidenceHash, uint64 reviewBy)",
]);
