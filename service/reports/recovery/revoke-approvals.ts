import { type Address, encodeFunctionData, erc20Abi, erc721Abi, formatEther, type Hex } from "viem";
import type { OpenApproval } from "../../model/features/types.ts";
import { mapLimited } from "../../net/map-limited.ts";
import { MAX_SIMULATIONS, type Recovery, requireSameBlock, simulateInOrder } from "./open-recovery.ts";
import type { RecoveryNode, Trial } from "./recovery-node.ts";
import { gasLimitOf, highestCost, type UnsignedTransaction } from "./unsigned-transaction.ts";

type TriedRevocation = {
  readonly approval: OpenApproval;
  readonly data: Hex;
  /** Null where no key signs for the wallet. */
  readonly trial: Trial | null;
};

/** A transaction that revokes an approval, or why none is offered. */
type Revocation = {
  readonly approval: OpenApproval;
  readonly outcome:
    | { kind: "ready"; transaction: UnsignedTransaction; gas: bigint; maxCost: bigint }
    | { kind: "refused"; detail: string };
};

/** Most approvals read per answer, and most revocations simulated: each costs the node several calls. */
const MAX_READ = 200;
const MAX_REVOCATIONS = 30;
const NOT_TRIED = `only ${MAX_REVOCATIONS} are simulated at once; send those and ask again`;
const UNSETTLED = "it passes a simulation alone, but not together with the others";
const AT_ONCE = 8;
/**
 * Highest accepted gas limit, several times what tokens need. The token's code decides the gas; a higher use may aim at
 * the balance.
 */
const MAX_REVOCATION_GAS = 200_000n;

/**
 * Reads which approvals are open at the recovery's block, in the given order. `exposed` is the wallet's balance of an
 * ERC-20 token; null if unknown, and for collections. An approval counts as open if its token gives no valid answer.
 * Throws a NodeFailure.
 */
export async function readOpenApprovals(
  { wallet, block }: Pick<Recovery, "wallet" | "block">,
  node: RecoveryNode,
  approvals: readonly OpenApproval[],
) {
  const balances = new Map<Address, Promise<bigint | null>>();
  const balanceOf = (token: Address): Promise<bigint | null> => {
    const known = balances.get(token) ?? node.holding(wallet, { token, spender: null }, block.number);
    balances.set(token, known);
    return known;
  };
  const read = await mapLimited(approvals.slice(0, MAX_READ), AT_ONCE, async (approval) => {
    if (!(await isOpen(node, wallet, { approval, block: block.number }))) return null;
    return { approval, exposed: approval.kind === "amount" ? await balanceOf(approval.token) : null };
  });
  const unread = approvals.slice(MAX_READ).map((approval) => ({ approval, exposed: null }));
  return [...read.filter((one) => one !== null), ...unread];
}

/** Tries to take the first of the approvals back at the block of the recovery, in the order given. Throws a NodeFailure. */
export async function tryRevocations(
  recovery: Recovery,
  node: RecoveryNode,
  approvals: readonly OpenApproval[],
): Promise<readonly TriedRevocation[]> {
  const { wallet, block, state } = recovery;
  const tried = await mapLimited(approvals.slice(0, MAX_REVOCATIONS), AT_ONCE, async (approval) => {
    const data = revocationOf(approval);
    const attempt = { from: wallet, to: approval.token, data, value: 0n };
    const trial = state.account === "smart_account" ? null : await node.attempt(attempt, block);
    return { approval, data, trial };
  });
  const untried = approvals
    .slice(MAX_REVOCATIONS)
    .map((approval): TriedRevocation => failing({ approval, data: revocationOf(approval) }, NOT_TRIED));
  await requireSameBlock(node, block);
  return [...tried, ...untried];
}

/**
 * Plans the revocations that also pass in sequence; `simulatedInOrder` is false if the node cannot simulate that. Throws a
 * NodeFailure if the node stops answering or its block has changed at the end.
 */
export async function settleRevocations(
  recovery: Recovery,
  node: RecoveryNode,
  tried: readonly TriedRevocation[],
): Promise<ReturnType<typeof planRevocations> & { readonly simulatedInOrder: boolean }> {
  let settled = tried;
  for (let simulation = 1; ; simulation += 1) {
    const plan = planRevocations(recovery, settled);
    const outcomes = await simulateInOrder(node, recovery, plan.transactions);
    await requireSameBlock(node, recovery.block);
    if (outcomes === null) return { ...plan, simulatedInOrder: false };
    if (outcomes.every((fault) => fault === null)) return { ...plan, simulatedInOrder: true };
    const faults = new Map(plan.transactions.map(({ nonce }, place) => [nonce, outcomes[place] ?? null]));
    settled = settled.map((one, place) => {
      const outcome = plan.list[place]?.outcome;
      if (outcome?.kind !== "ready") return one;
      if (simulation === MAX_SIMULATIONS) return failing(one, UNSETTLED);
      const fault = faults.get(outcome.transaction.nonce) ?? null;
      return fault === null ? one : failing(one, `after the earlier transactions, ${fault}`);
    });
  }
}

function failing(one: Pick<TriedRevocation, "approval" | "data">, reason: string): TriedRevocation {
  return { approval: one.approval, data: one.data, trial: { kind: "fails", reason } };
}

/** Gives passing revocations consecutive nonces in the given order, as far as the balance suffices; `cost` is in wei. */
export function planRevocations(
  { state, fees, chainId, block }: Pick<Recovery, "state" | "fees" | "chainId" | "block">,
  tried: readonly TriedRevocation[],
): { list: readonly Revocation[]; transactions: readonly UnsignedTransaction[]; cost: bigint } {
  const transactions: UnsignedTransaction[] = [];
  let cost = 0n;
  const list = tried.map(({ approval, data, trial }): Revocation => {
    const refused = (detail: string): Revocation => ({ approval, outcome: { kind: "refused", detail } });
    if (trial === null) return refused("The wallet is a contract, and no key signs its transactions.");
    if (trial.kind === "no_code") return refused("The token no longer has code.");
    if (trial.kind === "fails") return refused(`The revocation fails: ${trial.reason}`);
    const transaction: UnsignedTransaction = {
      type: "eip1559",
      chainId,
      nonce: state.pendingNonce + transactions.length,
      to: approval.token,
      data,
      value: 0n,
      gas: gasLimitOf(trial.gas, block.gasLimit),
      ...fees,
    };
    if (transaction.gas > MAX_REVOCATION_GAS) {
      return refused(
        `The token asks for a gas limit of ${transaction.gas}, more than ${MAX_REVOCATION_GAS}. It may try to burn the balance.`,
      );
    }
    const maxCost = highestCost(transaction, trial.l1Fee);
    if (cost + maxCost > state.balance) {
      return refused(
        `Its highest cost is ${formatEther(maxCost)} of the native coin, of which ${formatEther(state.balance - cost)} are left.`,
      );
    }
    cost += maxCost;
    transactions.push(transaction);
    return { approval, outcome: { kind: "ready", transaction, gas: trial.gas, maxCost } };
  });
  return { list, transactions, cost };
}

/** A token without a valid answer counts as an open approval. */
async function isOpen(
  node: RecoveryNode,
  owner: Address,
  { approval, block }: { approval: OpenApproval; block: number },
): Promise<boolean> {
  const { token, spender, kind } = approval;
  if (kind === "all") return (await node.approvesAll(owner, { token, spender }, block)) !== false;
  return (await node.holding(owner, { token, spender }, block)) !== 0n;
}

function revocationOf({ kind, spender }: OpenApproval): Hex {
  if (kind === "amount")
    return encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 0n] });
  return encodeFunctionData({ abi: erc721Abi, functionName: "setApprovalForAll", args: [spender, false] });
}
