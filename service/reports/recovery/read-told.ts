import type { Address } from "viem";
import { mapLimited } from "../../net/map-limited.ts";
import type { CallOutcomes, FailedCall } from "./failed-calls.ts";
import type { NodeBlock, RecoveryNode, WalletState } from "./recovery-node.ts";
import { RECENT_DAYS, type RefusalCode } from "./sort-failures.ts";
import type { ToldCall } from "./told-calls.ts";

/** A failure whose calldata is not known, and why it is not offered. */
export type Unread = {
  readonly call: ToldCall;
  readonly code: RefusalCode;
  readonly detail: string;
};

/** Outcomes whose failures have the told ones among them, as far as the node knows their calldata; the others, newest first. */
export type ReadOutcomes = { readonly outcomes: CallOutcomes; readonly unread: readonly Unread[] };

type Known = {
  readonly wallet: Address;
  readonly outcomes: CallOutcomes;
  readonly state: Pick<WalletState, "account">;
  readonly block: NodeBlock;
};

/** Most that the node is asked for in one answer. */
const MAX_ASKED = 30;
const AT_ONCE = 8;
const SECONDS_PER_DAY = 86_400;

/**
 * Asks the node for the calldata of the failures that only a history source told of: of the newest of those that could be
 * offered at all. Throws a NodeFailure when it does not answer.
 */
export async function readTold(node: RecoveryNode, known: Known): Promise<ReadOutcomes> {
  const { outcomes, wallet } = known;
  const judged = outcomes.told.failures.map((call) => ({ call, refusal: unofferable(call, known) }));
  const wanted = judged.filter(({ refusal }) => refusal === null).slice(0, MAX_ASKED);
  const asked = await mapLimited(wanted, AT_ONCE, async ({ call }) => ({
    hash: call.hash,
    sent: await readSent(node, call, wallet),
  }));
  const sent = new Map(asked.map((answer) => [answer.hash, answer.sent]));
  const found = asked.flatMap((answer) => (answer.sent === null ? [] : [answer.sent]));
  const failures = [...outcomes.failures, ...found].toSorted(
    (a, b) => b.block - a.block || b.transactionIndex - a.transactionIndex,
  );
  return {
    outcomes: { ...outcomes, failures },
    unread: judged.flatMap(({ call, refusal }) => {
      if (refusal !== null) return [{ call, ...refusal }];
      const answer = sent.get(call.hash);
      if (answer === undefined) return [{ call, ...NOT_ASKED }];
      return answer === null ? [{ call, ...NOT_READ }] : [];
    }),
  };
}

type Refusal = Omit<Unread, "call">;

const NOT_READ: Refusal = {
  code: "not_read",
  detail:
    "It was sent before the index followed the wallet, and the chain's node does not know its calldata.",
};

const NOT_ASKED: Refusal = {
  code: "not_tried",
  detail: `Of failures from before the index followed the wallet only the newest ${MAX_ASKED} are read at once; send what is offered and ask again.`,
};

function unofferable(call: ToldCall, { state, block, outcomes }: Known): Refusal | null {
  if (state.account === "smart_account") {
    return { code: "contract_wallet", detail: "The wallet is a contract: no key signs its transactions." };
  }
  if (call.timestamp < block.timestamp - RECENT_DAYS * SECONDS_PER_DAY) {
    return { code: "too_old", detail: `It failed more than ${RECENT_DAYS} days ago.` };
  }
  if (state.account === "delegated_eoa") {
    const detail =
      "The wallet runs another account's code, and what that did before the index followed it is not known.";
    return { code: "maybe_repaired", detail };
  }
  if (!outcomes.told.meetsIndex) {
    const detail = "What the wallet sent between its told history and the index is not known.";
    return { code: "maybe_repaired", detail };
  }
  if (outcomes.told.completeFrom !== null && call.block < outcomes.told.completeFrom) {
    const detail = "The wallet has sent too much since to tell whether it was made good.";
    return { code: "history_too_long", detail };
  }
  return null;
}

/** Null where the node does not have it, or another in its place. */
async function readSent(node: RecoveryNode, call: ToldCall, wallet: Address): Promise<FailedCall | null> {
  const sent = await node.transaction(call.hash);
  if (sent === null || sent.from !== wallet || sent.block !== call.block) return null;
  return { ...call, nonce: sent.nonce, input: sent.input, to: sent.to, value: sent.value };
}
