import { type Address, type Hex, zeroAddress } from "viem";
import type { NativePayment } from "./enrich-reads.ts";
import type { EnrichRows } from "./enrich-writes.ts";
import type { OwnCallRow } from "./own-call.ts";

type TransferRow = EnrichRows["transfers"][number];

/** Native coin that own transactions sent, and that others' sent to followed wallets; failed ones move none, and executions tell of none. */
export function nativeTransfers(
  chainId: number,
  calls: readonly OwnCallRow[],
  payments: readonly NativePayment[],
): readonly TransferRow[] {
  const sent = calls.flatMap((call) => {
    const { to, value, wallet, position } = call;
    if (to === null || to === undefined || value === 0n || !call.ok || position > 0) return [];
    const logIndex = ofTransaction(call.transactionIndex);
    return [row(chainId, { ...call, to, from: wallet, sender: wallet, logIndex })];
  });
  const received = payments.map((payment) =>
    row(chainId, { ...payment, sender: null, logIndex: ofTransaction(payment.transactionIndex) }),
  );
  return [...sent, ...received];
}

/** No log has it, since those count from 0. */
function ofTransaction(index: number): number {
  return -1 - index;
}

type Moved = {
  readonly block: number;
  readonly logIndex: number;
  readonly hash: Hex;
  readonly timestamp: number;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly sender: Address | null;
};

function row(chainId: number, moved: Moved): TransferRow {
  const { block, logIndex, hash, timestamp, from, to, value, sender } = moved;
  return {
    ...{ chainId, block, logIndex, item: 0, timestamp, from, to, sender },
    transactionHash: hash,
    token: zeroAddress satisfies Address,
    standard: "native",
    amount: value,
    tokenId: null,
  };
}
