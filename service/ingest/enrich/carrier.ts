import type { Address, Hex } from "viem";
import { z } from "zod";
import { EnrichFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/raw-log.ts";
import { logAnswer, type RawReceipt, type RawTransaction } from "../../chain/node/rpc-answers.ts";

/** A mined transaction in which smart accounts executed something. */
export type CarryingTransaction = {
  readonly index: number;
  readonly to: Address | null;
  readonly input: Hex;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  /** All its logs, in order. */
  readonly logs: readonly RawLog[];
};

/** A transaction with its receipt; throws an EnrichFailure where the two are not of one transaction, or the logs are none. */
export function carrierOf(receipt: RawReceipt, transaction: RawTransaction | null): CarryingTransaction {
  const fits =
    transaction?.hash === receipt.transactionHash &&
    transaction.blockHash === receipt.blockHash &&
    transaction.transactionIndex === receipt.transactionIndex;
  if (!fits) {
    const hash = receipt.transactionHash;
    throw new EnrichFailure("inconsistent", `${hash} has a receipt and is not itself there`);
  }
  return {
    index: receipt.transactionIndex,
    to: transaction.to ?? null,
    input: transaction.input,
    gasLimit: transaction.gas,
    gasUsed: receipt.gasUsed,
    gasPrice: receipt.effectiveGasPrice,
    logs: receiptLogs(receipt),
  };
}

/** The logs of a receipt, in order; throws an EnrichFailure where they are none. */
export function receiptLogs(receipt: RawReceipt): readonly RawLog[] {
  const logs = z.array(logAnswer).safeParse(receipt.logs);
  if (!logs.success) {
    throw new EnrichFailure("garbage", `the receipt of ${receipt.transactionHash} has no readable logs`);
  }
  return logs.data;
}
