import { randomUUID } from "node:crypto";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, x402Client, x402HTTPClient } from "@x402/fetch";
import type { Hex } from "viem";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { Faults } from "../faults.ts";
import { pick, type Random } from "../random.ts";
import { AGENTS } from "../stand/chain.ts";
import type { Ask, Asked } from "./ask.ts";
import { noteRefusal } from "./key-calls.ts";
import { type Lane, type Operation, startLane } from "./lane.ts";

/** One call paid for by a wallet: one authorization, presented until it is answered. */
export type Purchase = Operation & {
  readonly path: string;
  readonly idempotencyKey: string;
  authorization: Authorization | null;
  headers: Readonly<Record<string, string>> | null;
  claim: string | null;
  /** The settlement that its answer named: of another payment of the wallet for the same request, where that was owed the answer. */
  settledBy: Hex | null;
  /** expired: too late to be taken. Its money must not have moved. */
  outcome: "open" | "answered" | "refused" | "expired";
};

type Authorization = { readonly nonce: Hex; readonly amount: bigint; readonly validBefore: number };

/** Before an address; all are settled after the work. */
const PATHS = ["/ahs/route/", "/risk/", "/ahs/"] as const;
const PACE = { everyMs: 700, atOnce: 3 };
/** Delay after its expiry before an unused authorization is checked. */
const EXPIRED_AFTER_MS = 5_000;

/** Has a wallet pay for calls over x402, by the official client's own signing. */
export function startPurchases({
  ask,
  random,
  faults,
}: {
  ask: Ask;
  random: Random;
  faults: Faults;
}): Lane<Purchase> {
  const buyer = new x402Client()
    .register("eip155:31337", new ExactEvmScheme(roleAccounts().payer))
    .setSpendControls(false);
  const sign = async (purchase: Purchase, terms: string): Promise<void> => {
    const payload = await buyer.createPaymentPayload(JSON.parse(terms) as PaymentRequired);
    purchase.authorization = authorizationOf(payload.payload);
    purchase.headers = new x402HTTPClient(buyer).encodePaymentSignatureHeader(payload);
  };
  const askFor = ({ path, headers, idempotencyKey, claim }: Purchase): Promise<Asked> => {
    const proof = claim === null ? headers : { "x-payment-claim": claim };
    return ask({
      method: "GET",
      path,
      headers: proof === null ? {} : { ...proof, "idempotency-key": idempotencyKey },
      body: null,
    });
  };
  return startLane<Purchase>({
    name: "purchases",
    pace: PACE,
    begin: () => ({
      startedAt: performance.now(),
      doneAt: null,
      path: pick(random, PATHS) + pick(random, AGENTS),
      idempotencyKey: randomUUID(),
      authorization: null,
      headers: null,
      claim: null,
      settledBy: null,
      outcome: "open",
    }),
    attempt: async (purchase) => {
      const asked = await askFor(purchase);
      switch (asked.kind) {
        case "again":
          purchase.claim = asked.claim ?? purchase.claim;
          return asked.waitMs;
        case "refused":
          purchase.outcome = "refused";
          noteRefusal(purchase.path, asked, faults);
          return null;
        case "answered":
          purchase.outcome = "answered";
          purchase.settledBy = settlementOf(asked.headers);
          if (purchase.settledBy === null) faults.note("a purchase without PAYMENT-RESPONSE", purchase.path);
          purchase.doneAt = performance.now();
          return null;
        case "unpaid":
          if (purchase.authorization === null) {
            await sign(purchase, asked.body);
            return 0;
          }
          return afterRefusedPayment(purchase, asked.body, faults);
      }
    },
  });
}

/** The transaction that an answer names as its settlement; null for a voucher's, which has none. */
export function settlementOf(headers: Headers): Hex | null {
  const report = headers.get("payment-response");
  return report === null ? null : ((decodePaymentResponseHeader(report).transaction || null) as Hex | null);
}

/** A payment that is not taken: by its claim it may be owed no more, by its time it may have ended. */
function afterRefusedPayment(purchase: Purchase, body: string, faults: Faults): number | null {
  if (purchase.claim !== null) {
    purchase.claim = null;
    return 500;
  }
  const ended = (purchase.authorization?.validBefore ?? 0) * 1_000 + EXPIRED_AFTER_MS;
  if (Date.now() > ended) {
    purchase.outcome = "expired";
    return null;
  }
  const { error } = JSON.parse(body) as { error?: string };
  // Refused some seconds before its end, since it could not be settled by then.
  if (error?.startsWith("payment_expired") === true) return 1_000;
  faults.note("402 to a payment that is good", String(error));
  return 1_000;
}

function authorizationOf(payload: unknown): Authorization {
  const { authorization } = payload as {
    authorization: { readonly nonce: Hex; readonly value: string; readonly validBefore: string };
  };
  const { nonce, value, validBefore } = authorization;
  return { nonce, amount: BigInt(value), validBefore: Number(validBefore) };
}
