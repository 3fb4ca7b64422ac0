import type { Address, Hex } from "viem";
import type { CallOutcomes, Executed, SentCall } from "../store/failed-calls.ts";
import { type CallIntent, readIntent } from "./call-intent.ts";
import type { NodeBlock, WalletState } from "./recovery-node.ts";

/** Why a failed transaction is not offered again. */
export type RefusalCode =
  | "contract_wallet"
  | "too_old"
  | "listed_account"
  | "repaired"
  | "maybe_repaired"
  | "history_too_long"
  | "under_way"
  | "under_way_unseen"
  | "deadline_passed"
  | "not_tried"
  | "target_gone"
  | "simulation_fails"
  | "approval_revoked"
  | "insufficient_allowance"
  | "insufficient_tokens"
  | "insufficient_balance"
  | "duplicate";

/** A failure that is not offered; `by` is the transaction that makes it needless, where there is one. */
export type Refused = {
  readonly call: SentCall;
  readonly code: RefusalCode;
  readonly detail: string;
  readonly by: Hex | null;
};

/** A failure that nothing known so far speaks against. */
export type Candidate = { readonly call: SentCall; readonly intent: CallIntent };

export type SortedFailures = {
  /** Newest first. */
  readonly candidates: readonly Candidate[];
  readonly refused: readonly Refused[];
};

/** Failures older than this are not offered again. */
export const RECENT_DAYS = 14;
/** Most that are tried for one answer: each costs the node a handful of calls. */
export const MAX_TRIED = 30;

const SECONDS_PER_DAY = 86_400;
/** It takes somebody a while to look at an offer, sign it and have it mined. */
const DEADLINE_MARGIN_SECONDS = 60n;

type Known = {
  readonly wallet: Address;
  /** Sanctioned accounts and mixers among those that the wallet deals with; lower-case. */
  readonly listed: ReadonlySet<Address>;
  readonly outcomes: CallOutcomes;
  readonly state: WalletState;
  readonly block: NodeBlock;
};

/** Tells failures that are worth trying from those that are not, by what the index and the node know without trying. */
export function sortFailures(known: Known): SortedFailures {
  const judge = judgeOf(known);
  const candidates: Candidate[] = [];
  const refused: Refused[] = [];
  for (const call of known.outcomes.failures) {
    const intent = readIntent(call, known.wallet);
    const refusal = judge(call, intent) ?? (candidates.length < MAX_TRIED ? null : NOT_TRIED);
    if (refusal === null) candidates.push({ call, intent });
    else refused.push({ call, ...refusal });
  }
  return { candidates, refused };
}

type Refusal = Omit<Refused, "call">;

const NOT_TRIED: Refusal = {
  code: "not_tried",
  detail: `Only the newest ${MAX_TRIED} failures are tried at once; send what is offered and ask again.`,
  by: null,
};

function judgeOf({ wallet, listed, outcomes, state, block }: Known) {
  const since = block.timestamp - RECENT_DAYS * SECONDS_PER_DAY;
  const successes = byKey(outcomes.successes, wallet);
  const underWay = byKey(state.underWay, wallet);
  const unseen = state.pendingNonce - state.nonce - state.underWay.length;
  return (call: SentCall, { keys, parties, deadline }: CallIntent): Refusal | null => {
    if (state.account === "contract") {
      return refuse("contract_wallet", "The wallet is a contract: no key signs its transactions.");
    }
    if (call.timestamp < since) {
      return refuse("too_old", `It failed more than ${RECENT_DAYS} days ago.`);
    }
    if (parties.some((party) => listed.has(party))) {
      return refuse("listed_account", "It deals with a sanctioned account or a mixer.");
    }
    const repair = keys.flatMap((key) => successes.get(key) ?? []).find((success) => isLater(success, call));
    if (repair !== undefined) {
      return refuse("repaired", `Transaction ${repair.hash} brought about the same later.`, repair.hash);
    }
    if (outcomes.executed.some((execution) => mayHaveRepaired(execution, call))) {
      return refuse("maybe_repaired", "The account's own code made a call of the same method since.");
    }
    if (outcomes.completeFrom !== null && call.block < outcomes.completeFrom) {
      const detail = "The wallet has sent too much since to tell whether it was made good.";
      return refuse("history_too_long", detail);
    }
    const [pending] = keys.flatMap((key) => underWay.get(key) ?? []);
    if (pending !== undefined) {
      return refuse("under_way", `Transaction ${pending.hash} for the same is under way.`, pending.hash);
    }
    if (unseen > 0) {
      const detail = `${unseen} transactions of the wallet are under way that the node does not show: one may be this.`;
      return refuse("under_way_unseen", detail);
    }
    if (deadline !== null && deadline <= BigInt(block.timestamp) + DEADLINE_MARGIN_SECONDS) {
      return refuse("deadline_passed", `Its calldata is valid until unix second ${deadline} only.`);
    }
    return null;
  };
}

function refuse(code: RefusalCode, detail: string, by: Hex | null = null): Refusal {
  return { code, detail, by };
}

function byKey<Call extends Pick<SentCall, "to" | "input" | "value">>(
  calls: readonly Call[],
  wallet: Address,
): ReadonlyMap<string, readonly Call[]> {
  const found = new Map<string, Call[]>();
  for (const call of calls) {
    for (const key of readIntent(call, wallet).keys) {
      const known = found.get(key);
      if (known === undefined) found.set(key, [call]);
      else known.push(call);
    }
  }
  return found;
}

type Place = Pick<SentCall, "block" | "transactionIndex">;

function isLater(one: Place, other: Place): boolean {
  return one.block === other.block ? one.transactionIndex > other.transactionIndex : one.block > other.block;
}

/** Of an execution its calldata is not known. */
function mayHaveRepaired({ to, selector, block }: Executed, call: SentCall): boolean {
  return to === call.to && selector === call.selector && block >= call.block;
}
