import type { Address, Hex } from "viem";
import type { Revert } from "../../chain/revert-reason.ts";
import { ranOutOfGas } from "../../model/features/behaviour.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { SentCall } from "./failed-calls.ts";
import { type Recovery, requireSameBlock, type Unread } from "./open-recovery.ts";
import {
  type Funds,
  holdingKey,
  type PassingCall,
  planRetries,
  type RetryOffer,
  type RetryPlan,
} from "./plan-retries.ts";
import type { HoldingQuery, RecoveryNode, Trial } from "./recovery-node.ts";
import { type Candidate, MAX_TRIED, type Refused, sortFailures } from "./sort-failures.ts";
import { MAX_REHEARSALS, rehearseInOrder, type UnsignedTransaction } from "./unsigned-transaction.ts";

/** Transactions of the plan before the retries. */
type Before = {
  readonly transactions: readonly UnsignedTransaction[];
  /** Their highest cost in wei. */
  readonly cost: bigint;
  /** Spenders whose approvals they revoke; lower-case. */
  readonly revoked: ReadonlySet<Address>;
};

export type Recovered = {
  /** In the order of their nonces. */
  readonly offers: readonly (RetryOffer & { readonly cause: FailureCause })[];
  /** Newest first. */
  readonly refused: readonly (Refused & { readonly cause: FailureCause })[];
  /** Newest first; causes are by the gas alone. */
  readonly unread: readonly (Unread & { readonly cause: FailureCause })[];
  /** Whether the whole plan also passes in sequence; false if the node cannot simulate that. */
  readonly rehearsed: boolean;
};

export const NOTHING_BEFORE: Before = { transactions: [], cost: 0n, revoked: new Set() };

const AT_ONCE = 8;

/**
 * Simulates every candidate failure at the recovery's block and plans the retries. Throws a NodeFailure if the node
 * stops answering or its block has changed at the end.
 */
export async function recoverFailures(
  recovery: Recovery,
  node: RecoveryNode,
  {
    before,
    policy,
  }: {
    readonly before: Before;
    /** The score's policy, which defines when a call ran out of gas. */
    readonly policy: Policy;
  },
): Promise<Recovered> {
  const sorted = await sortFailures(recovery);
  const tried = await tryAll(recovery, node, sorted.candidates);
  const holdings = await readHoldings(recovery, node, tried.passing);
  const { plan, faults, rehearsed } = await planTogether({ recovery, node, before, holdings }, tried.passing);
  const newest = recovery.outcomes.failures.slice(0, MAX_TRIED);
  const replays = await mapLimited(newest, AT_ONCE, async (call) => ({
    hash: call.hash,
    revert: await node.replay(call, recovery.wallet),
  }));
  await requireSameBlock(node, recovery.block);
  const reverts = new Map(replays.map(({ hash, revert }) => [hash, revert]));
  const caused = <Part extends { readonly call: Candidate["call"] }>(part: Part) => ({
    ...part,
    cause: causeOf(part.call, reverts.get(part.call.hash) ?? null, policy),
  });
  const refused = [...sorted.refused, ...tried.refused, ...faults, ...plan.refused].toSorted(
    ({ call: a }, { call: b }) => b.block - a.block || b.transactionIndex - a.transactionIndex,
  );
  const unread = recovery.unread.map((part) => ({ ...part, cause: causeOf(part.call, null, policy) }));
  return { offers: plan.offers.map(caused), refused: refused.map(caused), unread, rehearsed };
}

async function tryAll(
  { wallet, block }: Recovery,
  node: RecoveryNode,
  candidates: readonly Candidate[],
): Promise<{ readonly passing: readonly PassingCall[]; readonly refused: readonly Refused[] }> {
  const trials = await mapLimited(candidates, AT_ONCE, async (candidate) => {
    const { to, value, input } = candidate.call;
    return { candidate, trial: await node.attempt({ from: wallet, to, value, data: input }, block) };
  });
  const passing: PassingCall[] = [];
  const refused: Refused[] = [];
  for (const { candidate, trial } of trials) {
    if (trial.kind === "passes") passing.push({ ...candidate, gas: trial.gas, l1Fee: trial.l1Fee });
    else refused.push({ call: candidate.call, ...refusalOf(trial), by: null });
  }
  return { passing, refused };
}

function refusalOf(trial: Exclude<Trial, { readonly kind: "passes" }>): Pick<Refused, "code" | "detail"> {
  switch (trial.kind) {
    case "no_code":
      return { code: "target_gone", detail: "The called account has no code: the call would do nothing." };
    case "fails":
      return { code: "simulation_fails", detail: trial.reason };
  }
}

async function readHoldings(
  { wallet, block }: Recovery,
  node: RecoveryNode,
  passing: readonly PassingCall[],
): Promise<Funds["holdings"]> {
  const queries = new Map<string, HoldingQuery>();
  for (const { token, spender } of passing.flatMap(({ intent }) => intent.spends)) {
    const asked: readonly HoldingQuery[] = [
      { token, spender: null },
      ...(spender === null ? [] : [{ token, spender }]),
    ];
    for (const query of asked) queries.set(holdingKey(query), query);
  }
  const holdings = await mapLimited([...queries], AT_ONCE, async ([key, query]) => ({
    key,
    amount: await node.holding(wallet, query, block.number),
  }));
  return new Map(holdings.flatMap(({ key, amount }) => (amount === null ? [] : [[key, amount]])));
}

type Planning = {
  readonly recovery: Recovery;
  readonly node: RecoveryNode;
  readonly before: Before;
  readonly holdings: Funds["holdings"];
};

/** Drops retries that fail in sequence and plans again. If that does not settle, nothing is offered. */
async function planTogether(
  planning: Planning,
  passing: readonly PassingCall[],
): Promise<{ readonly plan: RetryPlan; readonly faults: readonly Refused[]; readonly rehearsed: boolean }> {
  const faults = new Map<Hex, Refused>();
  for (let rehearsal = 1; ; rehearsal += 1) {
    const plan = planOf(
      planning,
      passing.filter(({ call }) => !faults.has(call.hash)),
    );
    const found = await rehearse(planning, plan);
    if (found === null) return { plan, faults: [...faults.values()], rehearsed: false };
    if (found.length === 0) return { plan, faults: [...faults.values()], rehearsed: true };
    const dropped = rehearsal < MAX_REHEARSALS ? found : plan.offers.map(({ call }) => unsettled(call));
    for (const fault of dropped) faults.set(fault.call.hash, fault);
  }
}

function unsettled(call: Candidate["call"]): Refused {
  const detail = "It passes alone, but not together with what else could be offered.";
  return { call, code: "simulation_fails", detail, by: null };
}

function planOf({ recovery, before, holdings }: Planning, passing: readonly PassingCall[]): RetryPlan {
  const { state, fees, chainId, block } = recovery;
  const balance = state.balance > before.cost ? state.balance - before.cost : 0n;
  return planRetries({
    passing,
    funds: { balance, holdings },
    fees,
    chainId,
    firstNonce: state.pendingNonce + before.transactions.length,
    blockGasLimit: block.gasLimit,
    revoked: before.revoked,
  });
}

/** The offers that fail in sequence; null if the node cannot tell or an earlier transaction fails. */
async function rehearse(
  { recovery, node, before }: Planning,
  { offers }: RetryPlan,
): Promise<readonly Refused[] | null> {
  if (offers.length === 0) return [];
  const sequence = [...before.transactions, ...offers.map(({ transaction }) => transaction)];
  const outcomes = await rehearseInOrder(node, recovery, sequence);
  if (outcomes?.slice(0, before.transactions.length).every((fault) => fault === null) !== true) return null;
  return offers.flatMap(({ call }, place) => {
    const fault = outcomes[before.transactions.length + place];
    if (fault == null) return [];
    const detail = `It fails after the transactions before it: ${fault}`;
    return [{ call, code: "simulation_fails", detail, by: null } as const];
  });
}

/** Known cause of a failed transaction. */
export type FailureCause = {
  readonly kind: "out_of_gas" | "slippage" | "reverted";
  /** Revert reason of a replay on the state before its block; null if unknown. */
  readonly reason: string | null;
};

/** Determines the cause by gas used (with the score's bound), then by the revert; `replay` is null if unknown. */
export function causeOf(
  call: Pick<SentCall, "gasUsed" | "gasLimit">,
  replay: Revert | null,
  policy: Policy,
): FailureCause {
  const reason = replay === null ? null : replay.reason;
  if (ranOutOfGas(call, policy)) return { kind: "out_of_gas", reason };
  return { kind: replay?.isSlippage === true ? "slippage" : "reverted", reason };
}
