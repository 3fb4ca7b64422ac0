import { type Address, getAddress, zeroAddress } from "viem";
import type { Access, BoughtAnswer, PayerCaller, Settlement } from "../../../service/access/access.ts";
import { type ApiKeyAccessDeps, createApiKeyAccess } from "../../../service/access/api-key-access.ts";
import { createAccess } from "../../../service/access/create-access.ts";
import type { IdempotentAnswers } from "../../../service/access/idempotent-answers.ts";
import type { PaymentAccess } from "../../../service/access/payments/payment-access.ts";
import { Problem } from "../../../service/access/problems.ts";
import { memoryGate } from "./memory-gate.ts";

export const PAYER: Address = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

/** Headers of a request that PAYER pays for; the same number is the same payment. */
export function paidBy(number: number): { readonly "PAYMENT-SIGNATURE": string } {
  return { "PAYMENT-SIGNATURE": String(number) };
}

/** A payment that was taken, and its outcome. */
type Taken = {
  readonly units: number;
  readonly settlement: Settlement;
  outcome: "taken" | "kept" | "owed";
  answer: BoughtAnswer | null;
};

/** Access by key, and by payments without a signature. `taken` records each payment. */
export function payingAccess(
  deps: ApiKeyAccessDeps,
  answers?: IdempotentAnswers,
): { readonly access: Access; readonly taken: Taken[] } {
  const taken: Taken[] = [];
  const payments: PaymentAccess = {
    async identify(request) {
      const header = request.header("payment-signature");
      return header === undefined ? null : payerOf(header, request.units);
    },
    async recall() {
      return null;
    },
    async verify() {},
    isOwed: () => false,
    hasEnded: () => false,
    report: async () => ({}),
    async take(_caller, request, { settlement }) {
      const entry: Taken = { units: request.units, settlement, outcome: "taken", answer: null };
      taken.push(entry);
      return {
        async keep(answer) {
          entry.outcome = "kept";
          entry.answer = answer;
          return {};
        },
        async giveBack() {
          entry.outcome = "owed";
          return settlement === "before" ? { claim: "c1".repeat(32), headers: {} } : null;
        },
      };
    },
    async challenge(request, error) {
      return new Problem("balance-insufficient", `${error} (${request.units} units)`);
    },
  };
  const access = createAccess({
    keys: createApiKeyAccess(deps),
    payments,
    ...memoryGate(answers),
    payerRatePerMinute: 600,
  });
  return { access, taken };
}

function payerOf(header: string, units: number): PayerCaller {
  const amount = BigInt(units) * 1_000n;
  const requirements = {
    scheme: "exact",
    network: "eip155:31337",
    asset: zeroAddress,
    amount: String(amount),
    payTo: zeroAddress,
    maxTimeoutSeconds: 300,
    extra: {},
  } as const;
  return {
    kind: "payer",
    address: PAYER,
    payment: {
      scheme: "exact",
      payer: PAYER,
      asset: zeroAddress,
      payTo: zeroAddress,
      nonce: `0x${header.padStart(64, "0")}`,
      amount,
      validAfter: 0n,
      validBefore: 0n,
      payload: { x402Version: 2, accepted: requirements, payload: { from: getAddress(PAYER) } },
      requirements,
    },
  };
}
