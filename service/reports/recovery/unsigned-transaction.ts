import { type Address, getAddress, type Hex, serializeTransaction } from "viem";
import type { Fees } from "../../sender/send-policy.ts";

export type UnsignedTransaction = {
  readonly type: "eip1559";
  readonly chainId: number;
  readonly nonce: number;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  /** Units. */
  readonly gas: bigint;
} & Fees;

const GAS_MARGIN_PERCENT = 25n;

export const GAS_FORMULA = `eth_estimateGas at the block, plus ${GAS_MARGIN_PERCENT}%, rounded up, at most the block's gas limit`;

/** Gas limit of a call with this estimate. The margin covers state changes until it is mined. */
export function gasLimitOf(estimate: bigint, blockGasLimit: bigint): bigint {
  const wanted = (estimate * (100n + GAS_MARGIN_PERCENT) + 99n) / 100n;
  return wanted < blockGasLimit ? wanted : blockGasLimit;
}

/** The EIP-2718 envelope to sign: 0x02 and the RLP of the fields. */
export function serializeUnsigned({ to, ...transaction }: UnsignedTransaction): Hex {
  return serializeTransaction({ ...transaction, ...(to === null ? {} : { to: getAddress(to) }) });
}

/** Highest cost in wei: value, all gas at the highest price, and the rollup fee. */
export function highestCost(
  { value, gas, maxFeePerGas }: Pick<UnsignedTransaction, "value" | "gas" | "maxFeePerGas">,
  l1Fee: bigint,
): bigint {
  return value + gas * maxFeePerGas + l1Fee;
}
