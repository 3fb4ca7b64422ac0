import { setTimeout as sleep } from "node:timers/promises";
import type { Address, Hex } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import type { Database } from "../../db/database.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { readSanctionsFlags } from "../../sanctions/sanctions.ts";
import { type Fees, senderPolicy, suggestFees } from "../../sender/send-policy.ts";
import { accountsOf, inTurns, RECENT_DAYS, readIntents, readRecentOutcomes } from "./call-intent.ts";
import type { CallOutcomes, FailedCall, OutcomesQuery, ReportedCall } from "./failed-calls.ts";
import type { NodeBlock, RecoveryNode, WalletState } from "./recovery-node.ts";
import { type RecoveryFacts, type RefusalCode, TOO_LONG } from "./sort-failures.ts";
import type { UnsignedTransaction } from "./unsigned-transaction.ts";

/** Outside dependencies of recovery. */
export type RecoveryPorts = {
  readonly chainId: number;
  /** Null while the index holds no block. */
  readonly outcomes: (query: OutcomesQuery) => Promise<CallOutcomes | null>;
  readonly listed: ReturnType<typeof createListedAccounts>;
  /** Opens a node, whose deadline begins with the call; null if the deployment names none. */
  readonly openNode: (() => RecoveryNode) | null;
};

export type Recovery = RecoveryFacts & {
  readonly chainId: number;
  /** Failures reported only by a history source, with unknown calldata, newest first. */
  readonly unread: readonly Unread[];
  readonly fees: Fees;
};

const ATTEMPTS = 4;
const PAUSE_MS = 250;

/**
 * Reads a wallet's outcomes and its state at the newest indexed block, where everything is then simulated. Throws a
 * NodeFailure if there is no node, if it does not answer, or if its block differs from the indexed one.
 */
export async function openRecovery(
  wallet: Address,
  { chainId, outcomes, listed, openNode }: RecoveryPorts,
): Promise<Recovery> {
  if (openNode === null) throw new NodeFailure("unreachable", "this deployment names no node");
  const node = openNode();
  for (let tried = 1; ; tried += 1) {
    const read = await readRecentOutcomes(wallet, { outcomes });
    if (read === null) throw new NodeFailure("node_behind", "the index holds no block");
    const block = await node.block(read.head.number);
    if (block?.hash === read.head.hash) {
      const state = await readState(node, wallet, read);
      const reported = await readReported(node, { wallet, outcomes: read, block, ...state });
      const failures = await readIntents(reported.outcomes.failures, wallet);
      const found = await listed(new Set([wallet, ...(await accountsIn(failures))]));
      return { wallet, chainId, ...reported, failures, listed: found, block, ...state };
    }
    if (tried === ATTEMPTS) throw otherBlock(read.head, block?.hash ?? null);
    await sleep(PAUSE_MS);
  }
}

/** Throws a NodeFailure unless the node still has the same block after its answers. */
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
    throw new NodeFailure(
      "node_behind",
      `nonce ${state.nonce} at block ${head.number}, indexed are ${nextNonce}`,
    );
  }
  // Finality has no part in the ceiling.
  const { maxFeePerGasCeiling } = senderPolicy({ finalityBlocks: 1 });
  return { state, fees: suggestFees(market, maxFeePerGasCeiling) };
}

function otherBlock(indexed: { number: number; hash: Hex }, found: Hex | null): NodeFailure {
  return new NodeFailure(
    "node_behind",
    `block ${indexed.number} is ${found ?? "missing"}, indexed is ${indexed.hash}`,
  );
}

/** Most simulations: each fault leads to a new plan without it. */
export const MAX_SIMULATIONS = 4;

/**
 * Simulates transactions of the wallet in sequence: per transaction the failure reason, or null if it passes. Null if
 * the node cannot do that. A single one was already simulated. Throws a NodeFailure.
 */
export async function simulateInOrder(
  node: RecoveryNode,
  { wallet, block }: Pick<Recovery, "wallet" | "block">,
  transactions: readonly UnsignedTransaction[],
): Promise<readonly (string | null)[] | null> {
  if (transactions.length < 2) return transactions.map(() => null);
  return node.simulateSequence(
    transactions.map(({ to, data, value, gas }) => ({ from: wallet, to, data, value, gas })),
    block,
  );
}

/** A failure with unknown calldata, and why it is not offered. */
type Unread = { readonly call: ReportedCall; readonly code: RefusalCode; readonly detail: string };

/** Most transactions requested from the node per answer. */
const MAX_ASKED = 30;
const AT_ONCE = 8;

/**
 * Asks the node for the calldata of failures reported only by a history source: the newest that could be offered. They
 * join the failures of the outcomes; `unread` are the others. Throws a NodeFailure if it does not answer.
 */
export async function readReported(
  node: RecoveryNode,
  known: Pick<RecoveryFacts, "wallet" | "outcomes" | "block"> & {
    readonly state: Pick<WalletState, "account">;
  },
): Promise<Pick<Recovery, "outcomes" | "unread">> {
  const { outcomes, wallet } = known;
  const judged = outcomes.reported.failures.map((call) => ({ call, refusal: unofferable(call, known) }));
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

const NOT_READ = {
  code: "not_read",
  detail: "It was sent before the index followed the wallet, and the node does not know its calldata.",
} as const;

const NOT_ASKED = {
  code: "not_tried",
  detail: `Only the newest ${MAX_ASKED} failures from before the index followed the wallet are read at once. Send the offers and ask again.`,
} as const;

function unofferable(
  call: ReportedCall,
  { state, block, outcomes }: Parameters<typeof readReported>[1],
): Omit<Unread, "call"> | null {
  const { meetsIndex, completeFrom } = outcomes.reported;
  if (state.account === "smart_account") {
    return {
      code: "contract_wallet",
      detail: "The wallet is a contract, and no key signs its transactions.",
    };
  }
  if (call.timestamp < block.timestamp - RECENT_DAYS * SECONDS_PER_DAY) {
    return { code: "too_old", detail: `It failed more than ${RECENT_DAYS} days ago.` };
  }
  if (state.account === "delegated_eoa") {
    const detail =
      "The wallet runs another account's code, whose calls before the index followed it are unknown.";
    return { code: "maybe_repaired", detail };
  }
  if (!meetsIndex) {
    const detail = "The transactions between the reported history and the index are unknown.";
    return { code: "maybe_repaired", detail };
  }
  if (completeFrom !== null && call.block < completeFrom)
    return { code: "history_too_long", detail: TOO_LONG };
  return null;
}

/** Null where the node does not have it, or another in its place. */
async function readSent(node: RecoveryNode, call: ReportedCall, wallet: Address): Promise<FailedCall | null> {
  const sent = await node.transaction(call.hash);
  if (sent === null || sent.from !== wallet || sent.block !== call.block) return null;
  return { ...call, nonce: sent.nonce, input: sent.input, to: sent.to, value: sent.value };
}

/** Returns which of some lower-case accounts are sanctioned at the newest indexed block, or mixers of the deployment. */
export function createListedAccounts(
  db: Database,
  { chainId, mixers }: { chainId: number; mixers: readonly Address[] },
): (accounts: ReadonlySet<Address>) => Promise<ReadonlySet<Address>> {
  const known = new Set(mixers.map((mixer) => mixer.toLowerCase()));
  return async (accounts) => {
    const flags = await readSanctionsFlags(db, chainId, [...accounts]);
    return new Set([...accounts].filter((account) => flags.has(account) || known.has(account)));
  };
}
