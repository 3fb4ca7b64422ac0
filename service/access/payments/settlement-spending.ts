import type { GasPrice } from "../../chain/gas-price.ts";
import { secondsLeftOfDay } from "../../db/day-budget.ts";
import { hasGasLeft, kindOfSettlement, type PayerGas, type PaymentCall } from "../../sender/send-policy.ts";
import type { PresentedPayment } from "../access.ts";
import type { VerifyOutcome } from "./facilitator.ts";

/** Fees rise and fall within minutes. */
const FEES_RETRY_SECONDS = 60;
/** How many times its gas a later step has to bring for the last part of a day's gas. */
const WORTHY = 10n;
const OF_KIND: Readonly<Record<PaymentCall, string>> = {
  unproven:
    "of wallets that made much of the gas revert that they paid for, and on early payments of much gas",
  newcomer: "of wallets that have not paid here before",
  payer: "of payments",
  laterStep: "that bring little more than their gas",
  worthyStep: "that are under way",
};
const KEYS_ARE_SERVED =
  "This service has not asked for its settlement. Ask again later, or call with an API key.";

export type SettlementSpending = ReturnType<typeof createSettlementSpending>;

/** Limits by price and by day, so that no payer can spend more of our coins than the payment is worth. */
export function createSettlementSpending(deps: {
  readonly gasPrice: GasPrice;
  /** Highest cost of a settlement, in percent of its price. */
  readonly maxPercent: number;
  readonly dailyGas: bigint;
  /** Gas of this UTC day's settlements so far. */
  readonly spentGas: () => Promise<bigint>;
  readonly payerGas: (of: Pick<PresentedPayment, "asset" | "payer">) => Promise<PayerGas>;
  readonly now: () => Date;
}) {
  const { gasPrice, maxPercent, dailyGas, spentGas, payerGas, now } = deps;
  return {
    /** The reason to refuse a settlement now; null if it is allowed. Throws a viem or pg error if that cannot be determined. */
    async refusal({
      gas,
      priceMicroUsd,
      payment,
    }: {
      readonly gas: bigint;
      /** Millionths of a US dollar, which are the smallest units of USDC. */
      readonly priceMicroUsd: bigint;
      /** Null for a step that takes no payer's money. */
      readonly payment: Pick<PresentedPayment, "asset" | "payer"> | null;
    }): Promise<Extract<VerifyOutcome, { readonly kind: "dear" }> | null> {
      const cost = await gasPrice.microUsd(gas);
      const payer = payment === null ? null : await payerGas(payment);
      const stepKind = cost * WORTHY <= priceMicroUsd ? "worthyStep" : "laterStep";
      const kind = payer === null ? stepKind : kindOfSettlement(payer, gas);
      if (!hasGasLeft(kind, { gas, dailyGas, spent: await spentGas(), payer })) {
        return {
          kind: "dear",
          detail: `The gas that this service spends in a UTC day on settlements ${OF_KIND[kind]} is used up. ${KEYS_ARE_SERVED}`,
          retryAfterSeconds: secondsLeftOfDay(now()),
        };
      }
      if (cost * 100n <= priceMicroUsd * BigInt(maxPercent)) return null;
      return {
        kind: "dear",
        detail: `Settling this payment costs about ${dollars(cost)} USD of gas now; at most ${maxPercent}% of its ${dollars(priceMicroUsd)} USD is spent. ${KEYS_ARE_SERVED}`,
        retryAfterSeconds: FEES_RETRY_SECONDS,
      };
    },
  };
}

function dollars(microUsd: bigint): string {
  return (Number(microUsd) / 1_000_000).toFixed(6);
}
