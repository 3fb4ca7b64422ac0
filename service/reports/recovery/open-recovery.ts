import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { type Fees, suggestFees } from "../../sender/send-fees.ts";
import { senderPolicy } from "../../sender/send-policy.ts";
import { NodeFailure } from "./ask-node.ts";
import { KNOWN_SELECTORS } from "./call-intent.ts";
import type { CallOutcomes, FailedCall, OutcomesQuery } from "./failed-calls.ts";
import type { ListedAccounts } from "./listed-accounts.ts";
import { accountsOf } from "./named-accounts.ts";
import { inTurns, type ReadCall, readIntents } from "./read-intents.ts";
import { type ReadOutcomes, readTold } from "./read-told.ts";
import type { NodeBlock, RecoveryNode, WalletState } from "./recovery-node.ts";
import { RECENT_DAYS } from "./sort-failures.ts";

/** What recovering needs from outside. */
export type RecoveryPorts = {
  readonly chainId: number;
  /** Null while the index holds no block. */
  readonly outcomes: (query: OutcomesQuery) => Promise<CallOutcomes | null>;
  readonly listed: ListedAccounts;
  /** A node whose deadline begins with the call; null where the deployment names none. */
  readonly openNode: (() => RecoveryNode) | null;
};

/** A wallet as the index and the node tell it alike, as of one block. */
export type Recovery = {
  readonly wallet: Address;
  readonly chainId: number;
  readonly outcomes: CallOutcomes;
  /** Its failures with what each was meant to bring about, in their order. */
  readonly failures: readonly ReadCall<FailedCall>[];
  /** Failures that only a history source told of and whose calldata is not known. */
  readonly unread: ReadOutcomes["unread"];
  /** Sanctioned accounts and mixers among the wallet and all that its failures deal with or name; lower-case. */
  readonly listed: ReadonlySet<Address>;
  readonly block: NodeBlock;
  readonly state: WalletState;
  readonly fees: Fees;
};

/** Days of failures that are listed. */
export const LISTED_DAYS = 30;

const ATTEMPTS = 4;
const PAUSE_MS = 250;

/**
 * Reads a wallet's outcomes and its state at the newest indexed block, which everything is then simulated at. Throws a
 * NodeFailure when there is no node, when it does not answer, and when it has not the very block that the index has.
 */
export async function openRecovery(
  wallet: Address,
  { chainId, outcomes, listed, openNode }: RecoveryPorts,
): Promise<Recovery> {
  if (openNode === null) throw new NodeFailure("unreachable", "this deployment names no node");
  const node = openNode();
  for (let tried = 1; ; tried += 1) {
    const read = await outcomes({
      wallet,
      listedDays: LISTED_DAYS,
      recentDays: RECENT_DAYS,
      knownSelectors: KNOWN_SELECTORS,
    });
    if (read === null) throw new NodeFailure("behind", "the index holds no block");
    const block = await node.block(read.head.number);
    if (block?.hash === read.head.hash) {
      const state = await readState(node, wallet, read);
      const told = await readTold(node, { wallet, outcomes: read, block, ...state });
      const failures = await readIntents(told.outcomes.failures, wallet);
      const found = await listed(new Set([wallet, ...(await accountsIn(failures))]));
      return { wallet, chainId, ...told, failures, listed: found, block, ...state };
    }
    if (tried === ATTEMPTS) throw otherBlock(read.head, block?.hash ?? null);
    await sleep(PAUSE_MS);
  }
}

/** Throws a NodeFailure unless the node's block is, after its answers, still the one that it was. */
export async function requireSameBlock(node: RecoveryNode, { number, hash }: NodeBlock): Promise<void> {
  const block = await node.block(number);
  if (block?.hash !== hash) throw otherBlock({ number, hash }, block?.hash ?? null);
}

async function accountsIn(failures: Recovery["failures"]): Promise<ReadonlySet<Address>> {
  const accounts = new Set<Address>();
  await inTurns(failures, ({ call, intent }) => {
    for (const account of accountsOf(call, intent)) accounts.add(account);
  });
  return accounts;
}

async function readState(
  node: RecoveryNode,
  wallet: Address,
  { head, nextNonce }: CallOutcomes,
): Promise<Pick<Recovery, "state" | "fees">> {
  const [state, market] = await Promise.all([node.wallet(wallet, head.number), node.gasMarket()]);
  if (nextNonce !== null && state.nonce < nextNonce) {
    throw new NodeFailure("behind", `nonce ${state.nonce} at block ${head.number}, indexed are ${nextNonce}`);
  }
  // Finality has no part in the ceiling.
  const { maxFeePerGasCeiling } = senderPolicy({ finalityBlocks: 1 });
  return { state, fees: suggestFees(market, maxFeePerGasCeiling) };
}

function otherBlock(
  indexed: { readonly number: number; readonly hash: Hex },
  found: Hex | null,
): NodeFailure {
  return new NodeFailure(
    "behind",
    `block ${indexed.number} is ${found ?? "missing"}, indexed is ${indexed.hash}`,
  );
}
