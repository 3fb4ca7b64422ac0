import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";
import { findSettlement, type SettlementTransaction } from "../../sender/payments-sender.ts";
import type { Authorization } from "./payment-chain.ts";
import type { StoredPayment } from "./payments.ts";
import type { PaymentSighting } from "./reconcile-payment.ts";

/** Payments of one round. */
export const BATCH = 100;
/** An authorization may have been carried out before it was shown to us; clients date them a few minutes back. */
export const LOOK_BACK_MS = 15 * 60_000;
/** As many as one node answers beside everything else. */
const AT_ONCE = 4;
const SOONEST_MS = 5_000;
const LATEST_MS = 300_000;
/** Of its age, so that each pause is longer than the one before. */
const SHARE_OF_AGE = 0.125;

/** What the chain is asked about it; columns of text forget that they hold addresses and a nonce. */
export function authorizationOf(row: StoredPayment): Authorization {
  return {
    asset: row.asset as Address,
    payer: row.payer as Address,
    payTo: row.payTo as Address,
    nonce: row.nonce as Hex,
    amount: row.amount,
  };
}

/** Whether our own sender may still carry it out. */
export async function findOrder(
  { db, chainId }: { readonly db: Database; readonly chainId: number },
  authorization: Authorization,
): Promise<PaymentSighting["order"]> {
  return orderOf(await findSettlement(db, chainId, authorization));
}

/** When something of that age is looked at again: in 5 s to 5 min. */
export function laterOf(since: Date, now: Date): Date {
  const pauseMs = (now.getTime() - since.getTime()) * SHARE_OF_AGE;
  return new Date(now.getTime() + Math.min(Math.max(pauseMs, SOONEST_MS), LATEST_MS));
}

/** Does it for every row, for a few at once; throws what the first that fails throws. */
export async function forEachFew(
  rows: readonly StoredPayment[],
  act: (row: StoredPayment) => Promise<void>,
): Promise<void> {
  const left = rows.values();
  const worker = async (): Promise<void> => {
    for (const row of left) await act(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function orderOf(order: SettlementTransaction | null): PaymentSighting["order"] {
  if (order === null) return "none";
  switch (order.state) {
    case "failed":
      return "dead";
    case "reverted":
      return order.final ? "dead" : "open";
    case "queued":
    case "prepared":
    case "broadcast":
    case "mined":
      return "open";
  }
}
