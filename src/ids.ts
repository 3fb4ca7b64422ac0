import type { Address, Hex } from "viem";

/** Key of one span of agent_wallet: `7:1042:3` is agent 7's wallet as set by log 3 of block 1042. */
export function agentWalletId(agentId: bigint, blockNumber: bigint, logIndex: number): string {
  return `${agentId}:${blockNumber}:${logIndex}`;
}

/** Key of one sanctions change: `1042:3:0` is the first address of log 3 of block 1042. */
export function sanctionsChangeId(blockNumber: bigint, logIndex: number, position: number): string {
  return `${blockNumber}:${logIndex}:${position}`;
}

/** Key of one score request: `0xab…:3` is log 3 of that transaction. */
export function scoreRequestId(transactionHash: Hex, logIndex: number): string {
  return `${transactionHash}:${logIndex}`;
}

/** Key of one job: `0xab…:7` is job 7 of that escrow, in lower case. */
export function jobId(escrow: Address, number: bigint): string {
  return `${escrow.toLowerCase()}:${number}`;
}

/** Key of one event of the evaluator: `0xab…:3` is log 3 of that transaction. */
export function verdictEventId(transactionHash: Hex, logIndex: number): string {
  return `${transactionHash}:${logIndex}`;
}

/** Key of a wallet's bond after one block: `0xab…:1042`, in lower case. */
export function bondChangeId(wallet: Address, blockNumber: bigint): string {
  return `${wallet.toLowerCase()}:${blockNumber}`;
}
