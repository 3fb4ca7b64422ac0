import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { repairableTargetAbi } from "../../../../devnet/abi/repairable-target.ts";
import type {
  CallOutcomes,
  FailedCall,
  ReportedCall,
} from "../../../../service/reports/recovery/failed-calls.ts";
import type { RecoveryPorts } from "../../../../service/reports/recovery/open-recovery.ts";
import type {
  NodeBlock,
  RecoveryNode,
  WalletState,
} from "../../../../service/reports/recovery/recovery-node.ts";

const HEAD = { number: 1000, hash: `0x${"ab".repeat(32)}` as Hex, timestamp: 1_795_168_797 };
export const TARGET = "0x5fc8d32690cc91d4c39d9d3abcbd16989f875707";
export const WORK = encodeFunctionData({ abi: repairableTargetAbi, functionName: "work" });

/** A call that failed an hour before the newest block. */
export function failedCall(changes: Partial<FailedCall> = {}): FailedCall {
  return {
    hash: `0x${"f1".repeat(32)}`,
    block: 900,
    transactionIndex: 0,
    timestamp: HEAD.timestamp - 3_600,
    to: TARGET,
    nonce: 6,
    value: 0n,
    input: WORK,
    selector: WORK.slice(0, 10) as Hex,
    gasLimit: 90_000n,
    gasUsed: 24_000n,
    gasPrice: 100_000_000n,
    l1Fee: 0n,
    ...changes,
  };
}

/** One that a history source reported, from before the index followed its wallet. */
export function reportedFailure(changes: Partial<ReportedCall> = {}): ReportedCall {
  return {
    hash: `0x${"f0".repeat(32)}`,
    block: 800,
    transactionIndex: 0,
    timestamp: HEAD.timestamp - 7_200,
    to: TARGET,
    value: 0n,
    selector: WORK.slice(0, 10) as Hex,
    gasLimit: 90_000n,
    gasUsed: 24_000n,
    gasPrice: 100_000_000n,
    l1Fee: 0n,
    ...changes,
  };
}

/** One such failure, and nothing since. */
export function reportedOutcomes(changes: Partial<CallOutcomes["reported"]> = {}): CallOutcomes["reported"] {
  const failures = changes.failures ?? [reportedFailure()];
  return {
    failures,
    failuresFound: failures.length,
    successes: [],
    completeFrom: null,
    meetsIndex: true,
    ...changes,
  };
}

/** One failure that nothing made good since. */
export function callOutcomes(changes: Partial<CallOutcomes> = {}): CallOutcomes {
  const failures = changes.failures ?? [failedCall()];
  return {
    head: HEAD,
    nextNonce: 7,
    failures,
    failuresFound: failures.length,
    executions: [],
    executed: [],
    selfCall: null,
    enrichedBlock: 970,
    successes: [],
    completeFrom: null,
    reported: reportedOutcomes({ failures: [] }),
    ...changes,
  };
}

export const BLOCK: NodeBlock = { ...HEAD, gasLimit: 30_000_000n };

/** A wallet that a key signs for, with an ether and nothing under way. */
export function walletState(changes: Partial<WalletState> = {}): WalletState {
  return { balance: 10n ** 18n, account: "eoa", nonce: 7, pendingNonce: 7, underWay: [], ...changes };
}

/** A node at which everything passes. */
export function fakeNode(changes: Partial<RecoveryNode> = {}): RecoveryNode {
  return {
    block: async () => BLOCK,
    wallet: async () => walletState(),
    gasMarket: async () => ({ baseFeePerGas: 7_000n, priorityFeePerGas: 100_000_000n }),
    holding: async () => null,
    approvesAll: async () => null,
    transaction: async () => null,
    attempt: async () => ({ kind: "passes", gas: 48_100n, l1Fee: 0n }),
    simulateSequence: async (calls) => calls.map(() => null),
    replay: async () => ({ reason: `Broken(${zeroAddress}, 1)`, isSlippage: false }),
    ...changes,
  };
}

/** Ports of a wallet with one failure worth sending again. */
export function fakeRecovery(
  node: Partial<RecoveryNode> = {},
  outcomes: Partial<CallOutcomes> = {},
): RecoveryPorts {
  return {
    chainId: 31337,
    outcomes: async () => callOutcomes(outcomes),
    listed: async () => new Set(),
    openNode: () => fakeNode(node),
  };
}
