import { zeroAddress } from "viem";
import { hasRoom } from "../db/day-budget.ts";
import type { EnrolmentRow } from "./enrolments.ts";
import { fateOfTransaction } from "./score-fate.ts";

/**
 * followed: for good. wait: for the sender, the index or finality. send: no request exists yet. retry: the request came to
 * nothing. refused: asking again changes nothing.
 */
export type EnrolmentFate =
  | { readonly kind: "followed" | "wait" | "send" }
  | { kind: "retry" | "refused"; detail: string };

/**
 * Judges an enrolment by the index first, and by its transaction only if the index shows nothing: a request that may
 * still be mined is never repeated.
 */
export function fateOfEnrolment(
  row: EnrolmentRow,
  {
    indexedBlock,
    finalityBlocks,
  }: {
    indexedBlock: number;
    /** Blocks behind the indexed one that cannot be reorged. */
    finalityBlocks: number;
  },
): EnrolmentFate {
  const { wallet, followedBlock, transaction } = row;
  if (row.isUnfollowed && row.state === "pending") {
    return { kind: "refused", detail: "the operator does not follow it" };
  }
  if (followedBlock !== null) {
    return { kind: followedBlock <= indexedBlock - finalityBlocks ? "followed" : "wait" };
  }
  if (row.state === "pending") {
    // The one address that the oracle refuses for itself.
    return wallet === zeroAddress
      ? { kind: "refused", detail: "the oracle follows no zero address" }
      : { kind: "send" };
  }
  if (transaction === null)
    throw new Error(`the enrolment of ${wallet} is ${row.state} without a transaction`);
  switch (fateOfTransaction(transaction, indexedBlock)) {
    case "under_way":
      return { kind: "wait" };
    case "refused":
      return { kind: "retry", detail: `not sent: ${transaction.failure ?? "unknown"}` };
    case "reverted":
      return transaction.final ? { kind: "retry", detail: "the request was reverted" } : { kind: "wait" };
    case "lost":
      return {
        kind: "refused",
        detail: `the index shows no request in block ${transaction.minedBlock}`,
      };
  }
}

/** Share of a day's requests for wallets of registries. */
export const REGISTRY_SHARE = 1 / 4;

/**
 * Selects the due requests to send today. Paid requests may use the whole daily limit, of which no payer has more than it leaves to the
 * others; those of registries only its first quarter, so that paid ones find room.
 */
export function sendableToday<Row extends Pick<EnrolmentRow, "cause" | "requestedBy" | "hadToday">>(
  due: readonly Row[],
  {
    perDay,
    sentToday,
  }: {
    /** Requests that may be sent in the UTC day, and those that were. */
    perDay: number;
    sentToday: number;
  },
): readonly Row[] {
  const sendable: Row[] = [];
  for (const row of due) {
    const isPaid = row.cause === "paid";
    const ceiling = isPaid ? perDay : Math.ceil(perDay * REGISTRY_SHARE);
    const now = sendable.filter(({ requestedBy }) => requestedBy === row.requestedBy).length;
    const own = isPaid && row.requestedBy !== null ? row.hadToday + now : 0;
    if (hasRoom({ ceiling, used: sentToday + sendable.length, own })) sendable.push(row);
  }
  return sendable;
}
