import type { Address } from "viem";
import type { KnownCounterparty } from "../store/contacts.ts";
import type { Dealing } from "./contacts.ts";

/** A transaction in a block that is read anyway. */
export type BlockCall = {
  readonly block: number;
  readonly timestamp: number;
  readonly transactionIndex: number;
  readonly from: Address;
  /** Whom it went to, or paid by a lone token transfer; null for a creation. */
  readonly counterparty: Address | null;
};

export type StrangerCounts = {
  readonly dealings: readonly Dealing[];
  /** Calls by stranger, to whomever. */
  readonly calls: ReadonlyMap<Address, number>;
};

/** Distinct strangers that are kept for one counterparty: twice the users that a full credit takes, captive ones among them. */
export const MAX_STRANGERS = 64;

/**
 * Which calls of strangers are kept, in the order of the chain: those to a counterparty that a followed wallet dealt with by
 * then, of the first strangers that use it; of a stranger that is known by then every call is counted.
 */
export function countStrangers(
  calls: readonly BlockCall[],
  known: {
    readonly counterparties: ReadonlyMap<Address, KnownCounterparty>;
    readonly strangers: ReadonlySet<Address>;
  },
): StrangerCounts {
  const users = new Map(
    [...known.counterparties].map(([address, { strangers }]) => [address, new Set(strangers)]),
  );
  const strangers = new Set(known.strangers);
  const counts = new Map<Address, number>();
  const dealings: Dealing[] = [];
  for (const { from, counterparty, block, timestamp } of inOrder(calls)) {
    if (counterparty !== null && counterparty !== from) {
      const since = known.counterparties.get(counterparty)?.since;
      const usersOfIt = users.get(counterparty);
      if (since !== undefined && since <= block && usersOfIt !== undefined && isAdmitted(usersOfIt, from)) {
        usersOfIt.add(from);
        strangers.add(from);
        dealings.push({ counterparty, account: from, calls: 1, sentMicroUsd: 0n, block, timestamp });
      }
    }
    if (strangers.has(from)) counts.set(from, (counts.get(from) ?? 0) + 1);
  }
  return { dealings, calls: counts };
}

function isAdmitted(users: ReadonlySet<Address>, account: Address): boolean {
  return users.has(account) || users.size < MAX_STRANGERS;
}

function inOrder(calls: readonly BlockCall[]): readonly BlockCall[] {
  return calls.toSorted((a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex);
}
