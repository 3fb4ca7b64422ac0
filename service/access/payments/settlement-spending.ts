import type { GasPrice } from "../../chain/gas-price.ts";
import type { VerifyOutcome } from "./facilitator.ts";

/** What settlements may cost their facilitator. */
export type SettlementSpending = {
  /** Why a settlement is not paid for now; null where it is. Throws a viem or pg error when that cannot be told. */
  refusal(settlement: {
    readonly gas: bigint;
    /** Millionths of a US dollar, which are the smallest units of USDC. */
    readonly priceMicroUsd: bigint;
  }): Promise<Extract<VerifyOutcome, { readonly kind: "dear" }> | null>;
};

export type SettlementSpendingDeps = {
  readonly gasPrice: GasPrice;
  /** Most that a settlement may cost, in per cent of its price. */
  readonly maxPercent: number;
  readonly dailyGas: bigint;
  /** Gas of this UTC day's settlements so far. */
  readonly spentGas: () => Promise<bigint>;
  readonly now: () => Date;
};

/** Fees rise and fall within minutes. */
const FEES_RETRY_SECONDS = 60;
const DAY_SECONDS = 86_400;
const KEYS_ARE_SERVED =
  "This service has not asked for its settlement. Ask again later, or call with an API key.";

/** Bounds by price and by day, so that no payer can spend more of our coins than a payment is worth to us. */
export function createSettlementSpending(deps: SettlementSpendingDeps): SettlementSpending {
  const { gasPrice, maxPercent, dailyGas, spentGas, now } = deps;
  return {
    async refusal({ gas, priceMicroUsd }) {
      if ((await spentGas()) + gas > dailyGas) {
        return {
          kind: "dear",
          detail: `The gas that this service spends on settlements in a UTC day is used up. ${KEYS_ARE_SERVED}`,
          retryAfterSeconds: DAY_SECONDS - (Math.floor(now().getTime() / 1000) % DAY_SECONDS),
        };
      }
      const cost = await gasPrice.microUsd(gas);
      if (cost * 100n <= priceMicroUsd * BigInt(maxPercent)) return null;
      return {
        kind: "dear",
        detail: `Settling this payment costs about ${dollars(cost)} USD of gas now; at most ${maxPercent} % of its ${dollars(priceMicroUsd)} USD is spent. ${KEYS_ARE_SERVED}`,
        retryAfterSeconds: FEES_RETRY_SECONDS,
      };
    },
  };
}

function dollars(microUsd: bigint): string {
  return (Number(microUsd) / 1_000_000).toFixed(6);
}
