import type { Address, Hex } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { countText } from "../phrases.ts";
import {
  APPROVAL_SELECTORS,
  accountsOf,
  type CallIntent,
  inTurns,
  PAYMENT_SELECTORS,
  RECENT_DAYS,
  type ReadCall,
  readIntents,
} from "./call-intent.ts";
import type { CallOutcomes, FailedCall, ReportedSuccess, SentCall } from "./failed-calls.ts";
import { SWAP_SELECTORS } from "./read-swap.ts";
import type { NodeBlock, WalletState } from "./recovery-node.ts";

/** Why a failed transaction is not offered again. */
export type RefusalCode =
  | "repaired"
  | "maybe_repaired"
  | "history_too_long"
  | "under_way"
  | "under_way_unseen"
  | "wallet_listed"
  | "contract_wallet"
  | "too_old"
  | "listed_account"
  | "deadline_passed"
  | "not_tried"
  | "not_read"
  | "target_gone"
  | "simulation_fails"
  | "approval_revoked"
  | "insufficient_allowance"
  | "insufficient_tokens"
  | "insufficient_balance"
  | "duplicate";

/** Why a failure is not offered. `by` is the transaction that makes it unnecessary, if any. */
type Refusal = { readonly code: RefusalCode; readonly detail: string; readonly by: Hex | null };

export type Refused = Refusal & { readonly call: FailedCall };

export type Candidate = ReadCall<FailedCall>;

/** Most failures simulated per answer: each costs the node several calls. */
export const MAX_TRIED = 30;

/** Time that a person needs to review, sign and send an offer. */
const DEADLINE_MARGIN_SECONDS = 60n;

/** Why it is unknown whether a failure was repaired, after many transactions. */
export const TOO_LONG =
  "The wallet has sent too many transactions since to find out whether one did the same.";

/** Consistent facts about a wallet from index and node, as of one block. */
export type RecoveryFacts = {
  readonly wallet: Address;
  /** Sanctioned accounts and mixers among the wallet and all accounts that its failures involve or name; lower-case. */
  readonly listed: ReadonlySet<Address>;
  readonly outcomes: CallOutcomes;
  /** The failures of the outcomes with their intents, newest first. */
  readonly failures: readonly ReadCall<FailedCall>[];
  readonly state: WalletState;
  readonly block: NodeBlock;
};

/** Separates failures worth simulating from the others, by facts from index and node. */
export async function sortFailures(known: RecoveryFacts): Promise<{
  /** Newest first. */
  readonly candidates: readonly Candidate[];
  readonly refused: readonly Refused[];
}> {
  const judge = await judgeOf(known);
  const candidates: Candidate[] = [];
  const refused: Refused[] = [];
  await inTurns(known.failures, ({ call, intent }) => {
    const refusal = judge(call, intent) ?? (candidates.length < MAX_TRIED ? null : NOT_TRIED);
    if (refusal === null) candidates.push({ call, intent });
    else refused.push({ call, ...refusal });
  });
  return { candidates, refused };
}

const NOT_TRIED = refuse(
  "not_tried",
  `Only the newest ${MAX_TRIED} failures are simulated at once. Send the offers and ask again.`,
);

async function judgeOf(known: RecoveryFacts) {
  const { wallet, listed, state, block } = known;
  const since = block.timestamp - RECENT_DAYS * SECONDS_PER_DAY;
  const findRepair = await repairFinder(known);
  return (call: SentCall, intent: CallIntent): Refusal | null => {
    if (listed.has(wallet)) {
      return refuse("wallet_listed", "The wallet is sanctioned or a mixer.");
    }
    if (state.account === "smart_account") {
      return refuse("contract_wallet", "The wallet is a contract, and no key signs its transactions.");
    }
    if (call.timestamp < since) {
      return refuse("too_old", `It failed more than ${RECENT_DAYS} days ago.`);
    }
    if ([...accountsOf(call, intent)].some((account) => listed.has(account))) {
      return refuse("listed_account", "It calls or names a sanctioned account or a mixer.");
    }
    const repair = findRepair(call, intent);
    if (repair !== null) return repair;
    const { deadline } = intent;
    if (deadline !== null && deadline <= BigInt(block.timestamp) + DEADLINE_MARGIN_SECONDS) {
      return refuse(
        "deadline_passed",
        `Its calldata was valid until ${new Date(Number(deadline) * 1000).toISOString()}.`,
      );
    }
    return null;
  };
}

function refuse(code: RefusalCode, detail: string, by: Hex | null = null): Refusal {
  return { code, detail, by };
}

type FindRepair = (call: SentCall, intent: CallIntent) => Refusal | null;

/** Returns a search for repairs of a failure, done or pending; null without one. */
async function repairFinder(known: RecoveryFacts): Promise<FindRepair> {
  const finders = [
    await finishedFinder(known),
    reportedFinder(known),
    ownCodeFinder(known),
    await pendingFinder(known),
  ];
  return (call, intent) => {
    for (const find of finders) {
      const refusal = find(call, intent);
      if (refusal !== null) return refusal;
    }
    return null;
  };
}

/** By later successes of the wallet's own transactions. */
async function finishedFinder({ wallet, outcomes }: RecoveryFacts): Promise<FindRepair> {
  const successes = await indexCalls(outcomes.successes, wallet);
  return (call, intent) => {
    const isAfter = (success: SentCall) => isLater(success, call);
    const same = findByKey(intent, successes, isAfter);
    if (same !== undefined) {
      return refuse("repaired", `Transaction ${same.hash} did the same later.`, same.hash);
    }
    const alike = findAlike(intent, successes, isAfter);
    if (alike !== undefined) {
      const detail = `Transaction ${alike.hash} of the same method succeeded later. The calldata does not show whether it did the same.`;
      return refuse("maybe_repaired", detail, alike.hash);
    }
    if (outcomes.completeFrom === null || call.block >= outcomes.completeFrom) return null;
    return refuse("history_too_long", TOO_LONG);
  };
}

/** By the wallet's own code (EIP-7702), whose calls are known only from logs and from its own calldata. */
function ownCodeFinder({ outcomes, state, block }: RecoveryFacts): FindRepair {
  const { executed, selfCall, enrichedBlock } = outcomes;
  return (call) => {
    if (selfCall !== null && isLater(selfCall, call)) {
      const detail = `Transaction ${selfCall.hash} ran the wallet's own code later and may have done the same.`;
      return refuse("maybe_repaired", detail, selfCall.hash);
    }
    const mayHave = executed.find(
      ({ to, selector, block: at }) =>
        at >= call.block && (to === null || (to === call.to && selector === call.selector)),
    );
    if (mayHave !== undefined) {
      const what = mayHave.to === null ? "an unknown call" : "a call of the same method";
      return refuse("maybe_repaired", `The wallet's own code made ${what} later.`);
    }
    if (state.account !== "delegated_eoa" || (enrichedBlock !== null && enrichedBlock >= block.number)) {
      return null;
    }
    const detail = `The wallet runs another account's code, whose calls are ${enrichedBlock === null ? "not read yet" : `read up to block ${enrichedBlock} only`}.`;
    return refuse("maybe_repaired", detail);
  };
}

/** By transactions of the wallet that are pending at the block. */
async function pendingFinder({ wallet, state }: RecoveryFacts): Promise<FindRepair> {
  const underWay = await indexCalls(state.underWay, wallet);
  const ownCode = state.underWay.find(({ to, input }) => to?.toLowerCase() === wallet && input !== "0x");
  const unseen = state.pendingNonce - state.nonce - state.underWay.length;
  return (_call, intent) => {
    const same = findByKey(intent, underWay, () => true);
    if (same !== undefined) {
      return refuse("under_way", `Pending transaction ${same.hash} does the same.`, same.hash);
    }
    const alike = findAlike(intent, underWay, () => true) ?? ownCode;
    if (alike !== undefined) {
      return refuse("under_way", `Pending transaction ${alike.hash} may do the same.`, alike.hash);
    }
    if (unseen <= 0) return null;
    const detail = `The node does not show ${countText(unseen, "pending transaction")} of the wallet. One may do the same.`;
    return refuse("under_way_unseen", detail);
  };
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

function isLater(
  one: Pick<SentCall, "block" | "transactionIndex">,
  other: Pick<SentCall, "block" | "transactionIndex">,
): boolean {
  return one.block === other.block ? one.transactionIndex > other.transactionIndex : one.block > other.block;
}

/**
 * By a later reported success with the same effect, else by one that may have had it, since its calldata is unknown.
 * Recipients of payments are known.
 */
function reportedFinder({ wallet, outcomes }: RecoveryFacts): FindRepair {
  return (call, intent) => {
    const later = outcomes.reported.successes.filter((success) => isLater(success, call));
    const same = later.find((success) => intent.keys.includes(paymentKey(success) ?? ""));
    if (same !== undefined) {
      return refuse("repaired", `Transaction ${same.hash} did the same later.`, same.hash);
    }
    const hidden = later.filter((success) => paymentKey(success) === null);
    const similar = hidden.find(
      (success) => success.to?.toLowerCase() === wallet || isSimilar(success, call, intent.kind),
    );
    if (similar === undefined) return null;
    const detail = `Transaction ${similar.hash} came later and may have done the same. Its calldata is unknown.`;
    return refuse("maybe_repaired", detail, similar.hash);
  };
}

/** The key of a payment, as `readPayment` makes it; null for any other call. */
function paymentKey({ to, selector, recipient }: ReportedSuccess): string | null {
  if (to === null) return null;
  if (selector === null) return `transfer:native:${to.toLowerCase()}`;
  if (recipient === null || !PAYMENT_SELECTORS.includes(selector)) return null;
  return `transfer:${to.toLowerCase()}:${recipient.toLowerCase()}`;
}

/** The same method of the same account; of swaps any other, of approvals any other of the same token. */
function isSimilar({ to, selector }: ReportedSuccess, call: SentCall, kind: CallIntent["kind"]): boolean {
  const isOneOf = (selectors: readonly Hex[]) => selector !== null && selectors.includes(selector);
  if (kind === "swap" && isOneOf(SWAP_SELECTORS)) return true;
  if (to?.toLowerCase() !== call.to?.toLowerCase()) return false;
  return selector === call.selector || (kind === "approval" && isOneOf(APPROVAL_SELECTORS));
}
