import { zeroAddress } from "viem";
import { hasRoom } from "../db/day-budget.ts";
import type { Backoff } from "../db/run-loop.ts";
import type { Evidence, OrderKind } from "../sender/orders/order-kind.ts";
import type { EnrolmentRow } from "./enrolments.ts";

/** Requests to follow wallets: done once the index follows the wallet from a final block on, by any request. */
export function enrolmentKind(of: {
  readonly retryMs: Backoff;
  readonly indexedBlock: number;
  /** Blocks behind the indexed one that cannot be reorged. */
  readonly finalityBlocks: number;
}) {
  return {
    done: "indexed event",
    isRepeatable: false,
    retryMs: of.retryMs,
    // The index does not follow what it was asked to: asking again changes nothing.
    isForGood: ({ kind }) => kind === "lost",
    look: (row): Evidence => {
      const { followedBlock, state, transaction, attempts } = row;
      const ended = state === "pending" ? faultOf(row) : null;
      const isFinal = followedBlock !== null && followedBlock <= of.indexedBlock - of.finalityBlocks;
      return {
        transaction: state === "pending" ? null : transaction,
        failures: attempts - 1,
        shown: followedBlock === null || ended !== null ? null : isFinal ? "done" : "soon",
        ended,
        isDone: false,
      };
    },
  } satisfies OrderKind<EnrolmentRow>;
}

/** Why no request is made; null if there may be one. */
function faultOf({ isUnfollowed, wallet }: EnrolmentRow): string | null {
  if (isUnfollowed) return "the operator does not follow it";
  // The one address that the oracle refuses for itself.
  return wallet === zeroAddress ? "the oracle follows no zero address" : null;
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
