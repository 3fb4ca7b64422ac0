import type { Address, Hex } from "viem";
import {
  APPROVAL_SELECTORS,
  type CallIntent,
  PAYMENT_SELECTORS,
  type ReadCall,
  readIntents,
} from "./call-intent.ts";
import type { CallOutcomes, SentCall } from "./failed-calls.ts";
import { SWAP_SELECTORS } from "./read-swap.ts";
import type { NodeBlock, WalletState } from "./recovery-node.ts";
import type { ToldSuccess } from "./told-calls.ts";

/** Why a failure may need nothing more. */
export type Repair = {
  readonly code: "repaired" | "maybe_repaired" | "history_too_long" | "under_way" | "under_way_unseen";
  readonly detail: string;
  /** The transaction that repaired it, or may have. */
  readonly by: Hex | null;
};

type Known = {
  readonly wallet: Address;
  readonly outcomes: CallOutcomes;
  readonly state: WalletState;
  readonly block: NodeBlock;
};

type FindRepair = (call: SentCall, intent: CallIntent) => Repair | null;

/** Returns a search for repairs of a failure, done or pending; null if there is none. */
export async function repairFinder(known: Known): Promise<FindRepair> {
  const finders = [
    await finishedFinder(known),
    toldFinder(known),
    ownCodeFinder(known),
    await pendingFinder(known),
  ];
  return (call, intent) => {
    for (const find of finders) {
      const repair = find(call, intent);
      if (repair !== null) return repair;
    }
    return null;
  };
}

/** By later successes of the wallet's own transactions. */
async function finishedFinder({ wallet, outcomes }: Known): Promise<FindRepair> {
  const successes = await indexCalls(outcomes.successes, wallet);
  return (call, intent) => {
    const isAfter = (success: SentCall) => isLater(success, call);
    const same = findByKey(intent, successes, isAfter);
    if (same !== undefined) {
      return repair("repaired", `Transaction ${same.hash} brought about the same later.`, same.hash);
    }
    const alike = findAlike(intent, successes, isAfter);
    if (alike !== undefined) {
      const detail = `Transaction ${alike.hash} of the same method succeeded later, and calldata does not tell whether for the same.`;
      return repair("maybe_repaired", detail, alike.hash);
    }
    if (outcomes.completeFrom === null || call.block >= outcomes.completeFrom) return null;
    return repair(
      "history_too_long",
      "The wallet has sent too much since to tell whether it was made good.",
      null,
    );
  };
}

/** By the wallet's own code (EIP-7702), whose calls are known only from logs and from its own calldata. */
function ownCodeFinder({ outcomes, state, block }: Known): FindRepair {
  const { executed, selfCall, enrichedBlock } = outcomes;
  return (call) => {
    if (selfCall !== null && isLater(selfCall, call)) {
      const detail = `Transaction ${selfCall.hash} ran the wallet's own code since, which may have done it.`;
      return repair("maybe_repaired", detail, selfCall.hash);
    }
    const mayHave = executed.find(
      ({ to, selector, block: at }) =>
        at >= call.block && (to === null || (to === call.to && selector === call.selector)),
    );
    if (mayHave !== undefined) {
      const what = mayHave.to === null ? "a call that is not known" : "a call of the same method";
      return repair("maybe_repaired", `The account's own code made ${what} since.`, null);
    }
    if (state.account !== "delegated_eoa" || (enrichedBlock !== null && enrichedBlock >= block.number)) {
      return null;
    }
    const detail = `The wallet runs another account's code, and what that did is read up to block ${enrichedBlock ?? "none"} only.`;
    return repair("maybe_repaired", detail, null);
  };
}

/** By transactions of the wallet that are pending at the block. */
async function pendingFinder({ wallet, state }: Known): Promise<FindRepair> {
  const underWay = await indexCalls(state.underWay, wallet);
  const ownCode = state.underWay.find(({ to, input }) => to?.toLowerCase() === wallet && input !== "0x");
  const unseen = state.pendingNonce - state.nonce - state.underWay.length;
  return (_call, intent) => {
    const same = findByKey(intent, underWay, () => true);
    if (same !== undefined) {
      return repair("under_way", `Transaction ${same.hash} for the same is under way.`, same.hash);
    }
    const alike = findAlike(intent, underWay, () => true) ?? ownCode;
    if (alike !== undefined) {
      return repair("under_way", `Transaction ${alike.hash} is under way and may do the same.`, alike.hash);
    }
    if (unseen <= 0) return null;
    const detail = `${unseen} transactions of the wallet are under way that the node does not show: one may be this.`;
    return repair("under_way_unseen", detail, null);
  };
}

function repair(code: Repair["code"], detail: string, by: Hex | null): Repair {
  return { code, detail, by };
}

type Indexed<Call> = {
  readonly byKey: ReadonlyMap<string, readonly Call[]>;
  readonly byMethod: ReadonlyMap<string, readonly ReadCall<Call>[]>;
};

async function indexCalls<Call extends Pick<SentCall, "to" | "input" | "value">>(
  calls: readonly Call[],
  wallet: Address,
): Promise<Indexed<Call>> {
  const read = await readIntents(calls, wallet);
  const keyed = read.flatMap(({ call, intent }) => intent.keys.map((key) => ({ key, call })));
  const byKey = new Map(
    [...Map.groupBy(keyed, ({ key }) => key)].map(([key, of]) => [key, of.map(({ call }) => call)]),
  );
  return { byKey, byMethod: Map.groupBy(read, ({ intent }) => intent.method) };
}

/** The first call with the same effect. */
function findByKey<Call>(
  { keys }: CallIntent,
  { byKey }: Indexed<Call>,
  fits: (call: Call) => boolean,
): Call | undefined {
  for (const key of keys) {
    const found = byKey.get(key)?.find(fits);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first call of the same method, if the calldata of one of the two does not show its purpose. */
function findAlike<Call>(
  { kind, method }: CallIntent,
  { byMethod }: Indexed<Call>,
  fits: (call: Call) => boolean,
): Call | undefined {
  const isUnclear = (other: CallIntent) => kind === "other" || other.kind === "other";
  return byMethod.get(method)?.find(({ call, intent }) => isUnclear(intent) && fits(call))?.call;
}

type Place = Pick<SentCall, "block" | "transactionIndex">;

function isLater(one: Place, other: Place): boolean {
  return one.block === other.block ? one.transactionIndex > other.transactionIndex : one.block > other.block;
}

/** A repair of an earlier failure by a reported success. */
type ToldRepair = {
  readonly code: "repaired" | "maybe_repaired";
  readonly detail: string;
  readonly by: Hex;
};

/**
 * Finds a later reported success with the same effect, else one that may have had it, since its calldata is unknown;
 * else null. Recipients of payments are known.
 */
export function toldFinder({
  wallet,
  outcomes,
}: {
  readonly wallet: Address;
  readonly outcomes: { readonly told: { readonly successes: readonly ToldSuccess[] } };
}) {
  return (call: SentCall, intent: Pick<CallIntent, "kind" | "keys">): ToldRepair | null => {
    const later = outcomes.told.successes.filter((success) => isLater(success, call));
    const same = later.find((success) => intent.keys.includes(paymentKey(success) ?? ""));
    if (same !== undefined) {
      const detail = `Transaction ${same.hash} brought about the same later.`;
      return { code: "repaired", detail, by: same.hash };
    }
    const hidden = later.filter((success) => paymentKey(success) === null);
    const similar = hidden.find(
      (success) => runsOwnCode(success, wallet) || isSimilar(success, call, intent.kind),
    );
    if (similar === undefined) return null;
    const detail = `Transaction ${similar.hash} came later and may have done the same: its calldata is not known.`;
    return { code: "maybe_repaired", detail, by: similar.hash };
  };
}

/** The key of a payment, as `readPayment` makes it; null for any other call. */
function paymentKey({ to, selector, recipient }: ToldSuccess): string | null {
  if (to === null) return null;
  if (selector === null) return `transfer:native:${to.toLowerCase()}`;
  if (recipient === null || !PAYMENT_SELECTORS.includes(selector)) return null;
  return `transfer:${to.toLowerCase()}:${recipient.toLowerCase()}`;
}

function runsOwnCode({ to }: ToldSuccess, wallet: Address): boolean {
  return to?.toLowerCase() === wallet;
}

/** The same method of the same account; of swaps any other, of approvals any other of the same token. */
function isSimilar({ to, selector }: ToldSuccess, call: SentCall, kind: CallIntent["kind"]): boolean {
  if (kind === "swap" && isOneOf(SWAP_SELECTORS, selector)) return true;
  if (to?.toLowerCase() !== call.to?.toLowerCase()) return false;
  if (kind === "approval" && isOneOf(APPROVAL_SELECTORS, selector)) return true;
  return selector === call.selector;
}

function isOneOf(selectors: readonly Hex[], selector: Hex | null): boolean {
  return selector !== null && selectors.includes(selector);
}
