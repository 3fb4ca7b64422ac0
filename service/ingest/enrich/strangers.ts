import type { Address } from "viem";
import type { KnownCounterparty, KnownStranger, Slot } from "./contact-rows.ts";
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
  /** Slots that were held before and are given up, to be stored before the dealings. */
  readonly left: readonly { readonly counterparty: Address; readonly account: Address }[];
  readonly dealings: readonly Dealing[];
  /** All calls of the strangers that called or left, to whomever; null of one that holds no slot any more. */
  readonly calls: ReadonlyMap<Address, number | null>;
};

/** Distinct strangers that are kept for one counterparty: twice the users that a full credit takes, captive ones among them. */
export const MAX_STRANGERS = 64;
/** Those of them that called last stay whatever they do elsewhere: somebody new has no other calls yet. */
const KEPT_RECENT = 16;
/** The scoring window: whoever did not call for that long counts for nobody that is active. */
const WINDOW_SECONDS = 180 * 86_400;

type Known = {
  readonly counterparties: ReadonlyMap<Address, KnownCounterparty>;
  /** At least those that call, and those that hold a slot of one of the counterparties. */
  readonly strangers: ReadonlyMap<Address, KnownStranger>;
};

/**
 * Which calls of strangers are kept, in the order of the chain: those to a counterparty that a followed wallet dealt with by
 * then; of a stranger that is known by then every call is counted. Of a counterparty with as many strangers as are kept, a new
 * one takes the slot of one that did not call within the window, else, the last callers left aside, of the one with the
 * fewest calls to others.
 */
export function countStrangers(calls: readonly BlockCall[], known: Known): StrangerCounts {
  const book = openBook(known);
  const strangers = new Map(known.strangers);
  const changed = new Set<Address>();
  for (const call of inOrder(calls)) {
    const { from, counterparty, block } = call;
    const page = counterparty === null || counterparty === from ? undefined : book.get(counterparty);
    if (page !== undefined && page.since <= block) {
      const leaving = page.slots.has(from) ? null : leavingFor(call, page.slots, strangers);
      if (leaving !== null && leaving !== "nobody") {
        putOut(page, leaving, strangers);
        changed.add(leaving);
      }
      if (leaving !== "nobody") admit(page, call, strangers);
    }
    const stranger = strangers.get(from);
    if (stranger === undefined) continue;
    strangers.set(from, { ...stranger, calls: stranger.calls + 1 });
    changed.add(from);
  }
  return {
    left: [...book].flatMap(([counterparty, { left }]) =>
      [...left].map((account) => ({ counterparty, account })),
    ),
    dealings: [...book].flatMap(([counterparty, { added }]) =>
      [...added].flatMap(([account, dealings]) => dealings.map((at) => ({ ...at, counterparty, account }))),
    ),
    calls: new Map([...changed].map((account) => [account, strangers.get(account)?.calls ?? null])),
  };
}

/** One counterparty while calls are counted. */
type Page = {
  readonly since: number;
  readonly slots: Map<Address, Slot>;
  /** Held before, and given up. */
  readonly left: Set<Address>;
  /** New calls of those that hold a slot. */
  readonly added: Map<Address, Omit<Dealing, "counterparty" | "account">[]>;
};

type Strangers = Map<Address, KnownStranger>;

function openBook({ counterparties }: Known): ReadonlyMap<Address, Page> {
  return new Map(
    [...counterparties].map(([address, { since, strangers }]) => [
      address,
      { since, slots: new Map(strangers), left: new Set(), added: new Map() },
    ]),
  );
}

/** Whose slot somebody new takes; null where one is free, nobody where none may be taken by a call of that time. */
function leavingFor(
  { timestamp }: BlockCall,
  slots: ReadonlyMap<Address, Slot>,
  strangers: Strangers,
): Address | null | "nobody" {
  if (slots.size < MAX_STRANGERS) return null;
  const byAge = [...slots]
    .map(([account, { calls, lastTime }]) => {
      const all = strangers.get(account)?.calls ?? calls;
      return { account, lastTime, elsewhere: all - calls };
    })
    .sort((a, b) => a.lastTime - b.lastTime || (a.account < b.account ? -1 : 1));
  const [oldest] = byAge;
  if (oldest !== undefined && oldest.lastTime < timestamp - WINDOW_SECONDS) return oldest.account;
  const leaving = byAge
    .slice(0, -KEPT_RECENT)
    .reduce((worst, slot) => (slot.elsewhere < worst.elsewhere ? slot : worst));
  // A past that is read late must not put out who came after it.
  return leaving.lastTime <= timestamp ? leaving.account : "nobody";
}

/** Takes a slot back; the calls that it told of are no longer among all calls of its stranger, or they would seem to go elsewhere. */
function putOut({ slots, left, added }: Page, account: Address, strangers: Strangers): void {
  const slot = slots.get(account);
  const stranger = strangers.get(account);
  slots.delete(account);
  const fresh = added.get(account)?.length ?? 0;
  added.delete(account);
  if (slot === undefined) return;
  if (slot.calls > fresh) left.add(account);
  if (stranger === undefined) return;
  const held = stranger.slots - 1;
  if (held < 1) strangers.delete(account);
  else strangers.set(account, { slots: held, calls: Math.max(0, stranger.calls - slot.calls) });
}

/** Adds a call to the slot of its sender, which takes one if it has none; the call itself is not among all its calls yet. */
function admit({ slots, added }: Page, call: BlockCall, strangers: Strangers): void {
  const { from, block, timestamp } = call;
  const slot = slots.get(from);
  if (slot === undefined) {
    const stranger = strangers.get(from) ?? { calls: 0, slots: 0 };
    strangers.set(from, { ...stranger, slots: stranger.slots + 1 });
  }
  slots.set(from, {
    calls: (slot === undefined ? 0 : slot.calls) + 1,
    lastTime: Math.max(timestamp, slot === undefined ? timestamp : slot.lastTime),
  });
  const dealing = { calls: 1, sentMicroUsd: 0n, block, timestamp };
  const dealings = added.get(from);
  if (dealings === undefined) added.set(from, [dealing]);
  else dealings.push(dealing);
}

function inOrder(calls: readonly BlockCall[]): readonly BlockCall[] {
  return calls.toSorted((a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex);
}
