import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { LocalAccount } from "viem/accounts";
import type { RefuseCall } from "./allowed-calls.ts";
import type { createSenderMetrics } from "./send-metrics.ts";
import type { Fees, SenderPolicy } from "./send-policy.ts";
import type { ChainHead, SenderRpc } from "./send-rpc.ts";
import type { OpenTransaction } from "./send-step.ts";
import type { SenderKey, SenderTransaction } from "./sender-transactions.ts";

export type SenderContext = {
  readonly chainId: number;
  /** A raw key, a keystore or a remote signer. */
  readonly account: LocalAccount;
  /** Asked before anything is given a nonce or signed: the queue's rows are not trusted. */
  readonly refuses: RefuseCall;
  readonly rpc: SenderRpc;
  /** The connection that holds the lock of this key: without the lock no nonce is taken and nothing is sent. */
  readonly db: NodePgDatabase;
  readonly policy: SenderPolicy;
  /** Why a call of so much gas is to wait for lower fees; null where it is not. Absent: no call waits. */
  readonly tooDear?: (
    call: { readonly id: number; readonly purpose: string },
    gas: bigint,
  ) => Promise<string | null>;
  readonly metrics: ReturnType<typeof createSenderMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** A sender's context together with the chain as one pass found it. */
export type Pass = SenderContext & { key: SenderKey; head: ChainHead; latestNonce: number };

/** A pass that signs nothing. */
export type KeylessPass = Omit<Pass, "account" | "refuses">;

/** A stored transaction that holds a nonce, and with it everything that is signed. */
export type NoncedTransaction = OpenTransaction &
  Pick<SenderTransaction, "id" | "purpose" | "to" | "data" | "value" | "raw" | "attempts"> &
  Fees & { readonly gasLimit: bigint };

/** Reads a row that holds a nonce; throws when a part is missing that is written together with the nonce. */
export function nonced(row: SenderTransaction): NoncedTransaction {
  const { state, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = row;
  if (state === "queued" || state === "failed")
    throw new Error(`transaction ${row.id} is ${state}: it holds no nonce`);
  if (nonce === null || gasLimit === null || maxFeePerGas === null || maxPriorityFeePerGas === null) {
    throw new Error(`transaction ${row.id} is ${state} without nonce, gas limit or fees`);
  }
  return { ...row, state, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas };
}

/** Wei that these transactions may still take from the key. */
export function reservedWei(transactions: readonly NoncedTransaction[]): bigint {
  return transactions.reduce(
    (sum, { gasLimit, maxFeePerGas, value }) => sum + gasLimit * maxFeePerGas + value,
    0n,
  );
}
