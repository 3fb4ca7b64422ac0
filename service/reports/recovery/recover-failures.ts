import type { Address, Hex } from "viem";
import type { Revert } from "../../chain/revert-reason.ts";
import { ranOutOfGas } from "../../model/features/behaviour.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { mapLimited } from "../../net/map-limited.ts";
import type { SentCall } from "./failed-calls.ts";
import { MAX_SIMULATIONS, type Recovery, requireSameBlock, simulateInOrder } from "./open-recovery.ts";
import { holdingKey, type PassingCall, planRetries, type RetryPlanInput } from "./plan-retries.ts";
import type { HoldingQuery, RecoveryNode } from "./recovery-node.ts";
import { type Candidate, MAX_TRIED, type Refused, sortFailures } from "./sort-failures.ts";
import type { UnsignedTransaction } from "./unsigned-transaction.ts";

/** Transactions of the plan before the retries. */
type Before = {
  readonly transactions: readonly UnsignedTransaction[];
  /** Their highest cost in wei. */
  readonly cost: bigint;
  /** Spenders whose approvals they revoke; lower-case. */
  readonly revoked: ReadonlySet<Address>;
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
  /** The score's policy defines when a call ran out of gas. */
  { before, policy }: { before: Before; policy: Policy },
) {
  const sorted = await sortFailures(recovery);
  const tried = await tryAll(recovery, node, sorted.candidates);
  const holdings = await readHoldings(recovery, node, tried.passing);
  const { plan, faults, simulatedInOrder } = await planTogether(
    { recovery, node, before, holdings },
    tried.passing,
  );
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
  return {
    /** In the order of their nonces; the others are newest first. */
    offers: plan.offers.map(caused),
    refused: refused.map(caused),
    /** Causes are by the gas alone. */
    unread: recovery.unread.map((part) => ({ ...part, cause: causeOf(part.call, null, policy) })),
    /** Whether the whole plan also passes in sequence; false if the node cannot simulate that. */
    simulatedInOrder,
  };
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
    const { call } = candidate;
    const refuse = (code: Refused["code"], detail: string) => refused.push({ call, code, detail, by: null });
    switch (trial.kind) {
      case "passes":
        passing.push({ ...candidate, gas: trial.gas, l1Fee: trial.l1Fee });
        break;
      case "no_code":
        refuse("target_gone", "The called account has no code, so the call would do nothing.");
        break;
      case "fails":
        refuse("simulation_fails", `Repeated now, it fails: ${trial.reason}`);
    }
  }
  return { passing, refused };
}

async function readHoldings(
  { wallet, block }: Recovery,
  node: RecoveryNode,
  passing: readonly PassingCall[],
): Promise<RetryPlanInput["holdings"]> {
  const queries = new Map<string, HoldingQuery>();
  for (const { token, spender } of passing.flatMap(({ intent }) => intent.spends)) {
    for (const query of [
      { token, spender: null },
      { token, spender },
    ])
      queries.set(holdingKey(query), query);
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
  readonly holdings: RetryPlanInput["holdings"];
};

/** Drops retries that fail in sequence and plans again. If that does not settle, nothing is offered. */
async function planTogether(planning: Planning, passing: readonly PassingCall[]) {
  const faults = new Map<Hex, Refused>();
  for (let simulation = 1; ; simulation += 1) {
    const plan = planOf(
      planning,
      passing.filter(({ call }) => !faults.has(call.hash)),
    );
    const found = await simulateSequence(planning, plan);
    if (found === null) return { plan, faults: [...faults.values()], simulatedInOrder: false };
    if (found.length === 0) return { plan, faults: [...faults.values()], simulatedInOrder: true };
    const dropped =
      simulation < MAX_SIMULATIONS ? found : plan.offers.map(({ call }) => failing(call, UNSETTLED));
    for (const fault of dropped) faults.set(fault.call.hash, fault);
  }
}

const UNSETTLED = "It passes a simulation alone, but not together with the other offers.";

function failing(call: Candidate["call"], detail: string): Refused {
  return { call, code: "simulation_fails", detail, by: null };
}

function planOf({ recovery, before, holdings }: Planning, passing: readonly PassingCall[]) {
  const { state, fees, chainId, block } = recovery;
  const balance = state.balance > before.cost ? state.balance - before.cost : 0n;
  return planRetries({
    passing,
    balance,
    holdings,
    fees,
    chainId,
    firstNonce: state.pendingNonce + before.transactions.length,
    blockGasLimit: block.gasLimit,
    revoked: before.revoked,
  });
}

/** The offers that fail in sequence; null if the node gives no answer or an earlier transaction fails. */
async function simulateSequence(
  { recovery, node, before }: Planning,
  { offers }: ReturnType<typeof planRetries>,
): Promise<readonly Refused[] | null> {
  if (offers.length === 0) return [];
  const sequence = [...before.transactions, ...offers.map(({ transaction }) => transaction)];
  const outcomes = await simulateInOrder(node, recovery, sequence);
  if (outcomes?.slice(0, before.transactions.length).every((fault) => fault === null) !== true) return null;
  return offers.flatMap(({ call }, place) => {
    const fault = outcomes[before.transactions.length + place];
    return fault == null ? [] : [failing(call, `Repeated after the other offers, it fails: ${fault}`)];
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
