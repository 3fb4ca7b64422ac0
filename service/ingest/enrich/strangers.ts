import type { Address } from "viem";
import type { KnownStranger, readKnownCounterparties, Slot } from "./contact-rows.ts";
import type { Dealing } from "./contacts.ts";
import type { CallBlock } from "./read-receipts.ts";

/** A transaction in a block that is read anyway. */
export type BlockCall = CallBlock["seen"][number] & { readonly block: number; readonly timestamp: number };

/** Slots for strangers of one counterparty: twice the users that full credit needs, captive ones included. */
export const MAX_STRANGERS = 64;
/** The latest callers are not evicted for few calls elsewhere: a new account has no other calls yet. */
const KEPT_RECENT = 16;
/** The scoring window: older calls count for no active wallet. */
const WINDOW_SECONDS = 180 * 86_400;

/**
 * Counts calls of strangers in chain order, in a bounded number of slots for each counterparty that a followed wallet dealt with
 * before. If they are full, a new stranger evicts the oldest one that did not call within the window, else the one with the
 * fewest calls elsewhere, except the latest callers. Returns the stored slots that are evicted (to be stored before the
 * dealings), the dealings, and all calls of the strangers that changed: null for one without any slot.
 */
export function countStrangers(
  calls: readonly BlockCall[],
  known: {
    readonly counterparties: Awaited<ReturnType<typeof readKnownCounterparties>>;
    /** At least the callers, and the holders of a slot of one of the counterparties. */
    readonly strangers: ReadonlyMap<Address, KnownStranger>;
  },
) {
  const byCounterparty = new Map<Address, CounterpartySlots>();
  for (const [address, { since, strangers: users }] of known.counterparties)
    byCounterparty.set(address, { since, slots: new Map(users), left: new Set(), added: new Map() });
  const strangers = new Map(known.strangers);
  const changed = new Set<Address>();
  const ordered = calls.toSorted((a, b) => a.block - b.block || a.transactionIndex - b.transactionIndex);
  for (const call of ordered) {
    const { from, counterparty, block } = call;
    const held =
      counterparty === null || counterparty === from ? undefined : byCounterparty.get(counterparty);
    if (held !== undefined && held.since <= block) {
      const evicted = held.slots.has(from) ? null : slotToEvict(call, held.slots, strangers);
      if (evicted !== null && evicted !== "full") {
        evict(held, evicted, strangers);
        changed.add(evicted);
      }
      if (evicted !== "full") addCall(held, call, strangers);
    }
    const stranger = strangers.get(from);
    if (stranger === undefined) continue;
    strangers.set(from, { ...stranger, calls: stranger.calls + 1 });
    changed.add(from);
  }
  return {
    left: [...byCounterparty].flatMap(([counterparty, { left }]) =>
      [...left].map((account) => ({ counterparty, account })),
    ),
    dealings: [...byCounterparty].flatMap(([counterparty, { added }]) =>
      [...added].flatMap(([account, dealings]) => dealings.map((at) => ({ ...at, counterparty, account }))),
    ),
    calls: new Map([...changed].map((account) => [account, strangers.get(account)?.calls ?? null] as const)),
  };
}

/** The slots of one counterparty while calls are counted. */
type CounterpartySlots = {
  readonly since: number;
  readonly slots: Map<Address, Slot>;
  /** Stored slots that are evicted. */
  readonly left: Set<Address>;
  /** New calls of slot holders. */
  readonly added: Map<Address, Omit<Dealing, "counterparty" | "account">[]>;
};

type Strangers = Map<Address, KnownStranger>;

/** Returns the account to evict, null if a slot is free, or "full" if a call of that time may take no slot. */
function slotToEvict(
  { timestamp }: BlockCall,
  slots: ReadonlyMap<Address, Slot>,
  strangers: Strangers,
): Address | null | "full" {
  if (slots.size < MAX_STRANGERS) return null;
  const byAge = [...slots]
    .map(([account, { calls, lastTime }]) => {
      const all = strangers.get(account)?.calls ?? calls;
      return { account, lastTime, elsewhere: all - calls };
    })
    .sort((a, b) => a.lastTime - b.lastTime || (a.account < b.account ? -1 : 1));
  const [oldest] = byAge;
  if (oldest !== undefined && oldest.lastTime < timestamp - WINDOW_SECONDS) return oldest.account;
  const evicted = byAge
    .slice(0, -KEPT_RECENT)
    .reduce((worst, slot) => (slot.elsewhere < worst.elsewhere ? slot : worst));
  // A past that is read late must not evict later callers.
  return evicted.lastTime <= timestamp ? evicted.account : "full";
}

/** Evicts a slot and subtracts its calls from all calls of its stranger, or they would count as calls elsewhere. */
function evict({ slots, left, added }: CounterpartySlots, account: Address, strangers: Strangers): void {
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

/** Adds a call to the slot of its sender, which takes a slot if it has none. All calls of the stranger do not include it yet. */
function addCall({ slots, added }: CounterpartySlots, call: BlockCall, strangers: Strangers): void {
  const { from, block, timestamp } = call;
  const slot = slots.get(from);
  if (slot === undefined) {
    const stranger = strangers.get(from) ?? { calls: 0, slots: 0 };
    strangers.set(from, { ...stranger, slots: stranger.slots + 1 });
  }
  const { calls, lastTime } = slot ?? { calls: 0, lastTime: timestamp };
  slots.set(from, { calls: calls + 1, lastTime: Math.max(timestamp, lastTime) });
  const dealing = { calls: 1, sentMicroUsd: 0n, block, timestamp };
  const dealings = added.get(from);
  if (dealings === undefined) added.set(from, [dealing]);
  else dealings.push(dealing);
}
