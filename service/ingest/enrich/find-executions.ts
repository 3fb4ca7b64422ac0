import type { Address } from "viem";
import { SAFE_FAILURE, SAFE_SUCCESS } from "../../chain/node/event-topics.ts";
import type { RawLog } from "../../chain/node/raw-log.ts";
import { decodeLog } from "./decode-log.ts";
import type { Followed } from "./log-rows.ts";

/** The log by which a followed smart account is known to have executed something. */
export type Execution =
  | {
      readonly origin: "erc4337";
      readonly wallet: Address;
      readonly ok: boolean;
      readonly log: RawLog;
      readonly nonce: bigint;
      readonly gasCost: bigint;
      readonly gasUsed: bigint;
    }
  | { readonly origin: "safe"; readonly wallet: Address; readonly ok: boolean; readonly log: RawLog };

/** dropped: how many more the logs tell of than are kept. */
export type FoundExecutions = { readonly executions: readonly Execution[]; readonly dropped: number };

/** Executions of one account that are kept of one transaction: what calls itself a Safe can claim thousands for little gas. */
export const MAX_EXECUTIONS = 64;

/**
 * Executions that the logs, which are in order, tell of: operations of followed accounts by believed entry points, and what
 * followed Safes say of themselves; of each account the first of a transaction. What any other contract says is not believed.
 */
export function findExecutions(
  logs: readonly RawLog[],
  believed: { readonly followed: Followed; readonly entryPoints: ReadonlySet<Address> },
): FoundExecutions {
  const kept = new Map<string, number>();
  const executions: Execution[] = [];
  let dropped = 0;
  for (const log of logs) {
    const execution = believed.entryPoints.has(log.address) ? operationOf(log) : safeExecutionOf(log);
    const since = execution === null ? undefined : believed.followed.get(execution.wallet);
    if (execution === null || since === undefined || since > log.blockNumber) continue;
    const key = `${execution.wallet} ${log.transactionHash}`;
    const before = kept.get(key) ?? 0;
    if (before === MAX_EXECUTIONS) {
      dropped += 1;
      continue;
    }
    kept.set(key, before + 1);
    executions.push(execution);
  }
  return { executions, dropped };
}

/** The operation that a log of an entry point tells of; null for any other log. */
export function operationOf(log: RawLog): Execution | null {
  const decoded = decodeLog(log);
  if (decoded?.event !== "user_operation") return null;
  const { wallet, nonce, success, actualGasCostWei, actualGasUsed } = decoded.operation;
  return {
    origin: "erc4337",
    ...{ wallet, nonce, log, ok: success },
    gasCost: actualGasCostWei,
    gasUsed: actualGasUsed,
  };
}

const WORD_CHARACTERS = 64;
/** Hash and payment, of which the hash may be a topic. */
const SAFE_EVENT_WORDS = 2;

function safeExecutionOf(log: RawLog): Execution | null {
  const [event, ...more] = log.topics;
  if (event !== SAFE_SUCCESS && event !== SAFE_FAILURE) return null;
  const words = more.length + (log.data.length - 2) / WORD_CHARACTERS;
  if (words !== SAFE_EVENT_WORDS || more.length > 1) return null;
  return { origin: "safe", wallet: log.address, ok: event === SAFE_SUCCESS, log };
}
