import type { Address, Hex } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { accountsOf, type CallIntent, inTurns, type ReadCall } from "./call-intent.ts";
import type { CallOutcomes, FailedCall, SentCall } from "./failed-calls.ts";
import { type Repair, repairFinder } from "./find-repair.ts";
import type { NodeBlock, WalletState } from "./recovery-node.ts";

/** Why a failed transaction is not offered again. */
export type RefusalCode =
  | Repair["code"]
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

/** A failure that is not offered. `by` is the transaction that makes it unnecessary, if any. */
export type Refused = {
  readonly call: FailedCall;
  readonly code: RefusalCode;
  readonly detail: string;
  readonly by: Hex | null;
};

/** A failure without a known reason against a retry. */
export type Candidate = ReadCall<FailedCall>;

/** Failures older than this are not offered again. */
export const RECENT_DAYS = 14;
/** Most failures simulated per answer: each costs the node several calls. */
export const MAX_TRIED = 30;

/** Time that a person needs to review, sign and send an offer. */
const DEADLINE_MARGIN_SECONDS = 60n;

type Known = {
  readonly wallet: Address;
  /** Sanctioned accounts and mixers among the wallet and all accounts that its failures involve or name; lower-case. */
  readonly listed: ReadonlySet<Address>;
  readonly outcomes: CallOutcomes;
  /** The failures of the outcomes, newest first. */
  readonly failures: readonly ReadCall<FailedCall>[];
  readonly state: WalletState;
  readonly block: NodeBlock;
};

/** Separates failures worth simulating from the others, by facts from index and node. */
export async function sortFailures(known: Known): Promise<{
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

type Refusal = Omit<Refused, "call">;

const NOT_TRIED: Refusal = {
  code: "not_tried",
  detail: `Only the newest ${MAX_TRIED} failures are tried at once; send what is offered and ask again.`,
  by: null,
};

async function judgeOf(known: Known) {
  const { wallet, listed, state, block } = known;
  const since = block.timestamp - RECENT_DAYS * SECONDS_PER_DAY;
  const findRepair = await repairFinder(known);
  return (call: SentCall, intent: CallIntent): Refusal | null => {
    if (listed.has(wallet)) {
      return refuse("wallet_listed", "The wallet itself is sanctioned, or a mixer.");
    }
    if (state.account === "smart_account") {
      return refuse("contract_wallet", "The wallet is a contract: no key signs its transactions.");
    }
    if (call.timestamp < since) {
      return refuse("too_old", `It failed more than ${RECENT_DAYS} days ago.`);
    }
    if ([...accountsOf(call, intent)].some((account) => listed.has(account))) {
      return refuse("listed_account", "It deals with a sanctioned account or a mixer, or names one.");
    }
    const repair = findRepair(call, intent);
    if (repair !== null) return repair;
    const { deadline } = intent;
    if (deadline !== null && deadline <= BigInt(block.timestamp) + DEADLINE_MARGIN_SECONDS) {
      return refuse("deadline_passed", `Its calldata is valid until unix second ${deadline} only.`);
    }
    return null;
  };
}

function refuse(code: RefusalCode, detail: string): Refusal {
  return { code, detail, by: null };
}
