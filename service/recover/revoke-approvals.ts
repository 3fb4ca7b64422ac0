import { type Address, encodeFunctionData, erc20Abi, erc721Abi, type Hex } from "viem";
import { mapLimited } from "../enrich/map-limited.ts";
import type { OpenApproval } from "../features/types.ts";
import { type Recovery, requireSameBlock } from "./open-recovery.ts";
import type { RecoveryNode, Trial } from "./recovery-node.ts";
import { gasLimitOf, highestCost, type UnsignedTransaction } from "./unsigned-transaction.ts";

/** What taking an approval back comes to. */
type RevocationOutcome =
  | {
      readonly kind: "ready";
      readonly transaction: UnsignedTransaction;
      /** Units by eth_estimateGas. */
      readonly gas: bigint;
      /** Wei. */
      readonly maxCost: bigint;
    }
  /** Why no transaction is offered. */
  | { readonly kind: "obstacle"; readonly detail: string };

type Revocation = Pick<TriedRevocation, "approval" | "exposed"> & {
  readonly outcome: RevocationOutcome;
};

export type Revocations = {
  /** Those that still stand, in the order given: nonces rise with it. */
  readonly list: readonly Revocation[];
  readonly transactions: readonly UnsignedTransaction[];
  /** Wei of all transactions. */
  readonly cost: bigint;
};

/** Most approvals that are looked at for one answer. */
const MAX_REVOCATIONS = 30;
const NOT_TRIED = `only ${MAX_REVOCATIONS} approvals are tried at once; take those back and ask again.`;
const AT_ONCE = 8;

/**
 * Tries to take approvals back at the block of the recovery, in the order given; those that were taken back meanwhile are
 * left out. Throws a NodeFailure.
 */
export async function tryRevocations(
  recovery: Recovery,
  node: RecoveryNode,
  approvals: readonly OpenApproval[],
): Promise<readonly TriedRevocation[]> {
  const tried = await mapLimited(approvals.slice(0, MAX_REVOCATIONS), AT_ONCE, (approval) =>
    tryOne(recovery, node, approval),
  );
  const untried = approvals.slice(MAX_REVOCATIONS).map((approval): TriedRevocation => {
    const data = revocationOf(approval);
    return { approval, data, exposed: null, trial: { kind: "fails", reason: NOT_TRIED } };
  });
  await requireSameBlock(node, recovery.block);
  return [...tried.filter((one) => one !== null), ...untried];
}

/** A revocation that was tried. */
export type TriedRevocation = {
  readonly approval: OpenApproval;
  readonly data: Hex;
  /** What the wallet has of an ERC-20 token, in its smallest unit; null where that is not known, and for collections. */
  readonly exposed: bigint | null;
  /** Null where no key signs for the wallet. */
  readonly trial: Trial | null;
};

/** Gives those that pass consecutive nonces in the order given, as far as the balance reaches. */
export function planRevocations(
  { state, fees, chainId, block }: Pick<Recovery, "state" | "fees" | "chainId" | "block">,
  tried: readonly TriedRevocation[],
): Revocations {
  const transactions: UnsignedTransaction[] = [];
  let cost = 0n;
  const list = tried.map(({ approval, data, exposed, trial }): Revocation => {
    const obstacle = (detail: string): Revocation => ({
      ...{ approval, exposed, outcome: { kind: "obstacle", detail } },
    });
    if (trial === null) return obstacle("The wallet is a contract: no key signs its transactions.");
    if (trial.kind === "no_code") return obstacle("The token has no code any more.");
    if (trial.kind === "fails") return obstacle(`It does not pass: ${trial.reason}`);
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
    const maxCost = highestCost(transaction, trial.l1Fee);
    if (cost + maxCost > state.balance) {
      return obstacle(`It may cost ${maxCost} wei, and ${state.balance - cost} are left.`);
    }
    cost += maxCost;
    transactions.push(transaction);
    return { approval, exposed, outcome: { kind: "ready", transaction, gas: trial.gas, maxCost } };
  });
  return { list, transactions, cost };
}

/** Null where the approval does not stand any more. */
async function tryOne(
  { wallet, block, state }: Recovery,
  node: RecoveryNode,
  approval: OpenApproval,
): Promise<TriedRevocation | null> {
  const { token, kind } = approval;
  if (!(await stands(node, wallet, { approval, block: block.number }))) return null;
  const data = revocationOf(approval);
  const [exposed, trial] = await Promise.all([
    kind === "amount" ? node.holding(wallet, { token, spender: null }, block.number) : null,
    state.account === "contract" ? null : node.attempt({ from: wallet, to: token, data, value: 0n }, block),
  ]);
  return { approval, data, exposed, trial };
}

/** What a token does not answer counts as standing. */
async function stands(
  node: RecoveryNode,
  owner: Address,
  { approval, block }: { readonly approval: OpenApproval; readonly block: number },
): Promise<boolean> {
  const { token, spender, kind } = approval;
  if (kind === "all") return (await node.approvesAll(owner, { token, spender }, block)) !== false;
  return (await node.holding(owner, { token, spender }, block)) !== 0n;
}

function revocationOf({ kind, spender }: OpenApproval): Hex {
  switch (kind) {
    case "amount":
      return encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, 0n] });
    case "all":
      return encodeFunctionData({
        abi: erc721Abi,
        functionName: "setApprovalForAll",
        args: [spender, false],
      });
  }
}
