import type { Address, Hex } from "viem";
import {
  readHighestNonce,
  readUnminedTransactions,
  type SenderTransaction,
} from "../store/sender-transactions.ts";
import type { SendFailure } from "./send-errors.ts";
import { type Attempt, marketFees, signAndBroadcast, told } from "./send-offer.ts";
import { fail, forbid, postpone, update } from "./send-outcome.ts";
import { nonced, type Pass, reservedWei } from "./send-pass.ts";

/** In order, each on the wire before the next takes a nonce: so a nonce that is given back is always the highest. */
export async function sendQueued(pass: Pass, queued: readonly SenderTransaction[]): Promise<void> {
  for (const transaction of queued) {
    const inFlight = (await readUnminedTransactions(pass.db, pass.key)).map(nonced);
    if (inFlight.some((other) => other.state === "prepared")) return;
    if (inFlight.length >= pass.policy.maxInFlight) return;
    if (!(await sendNext(pass, transaction, reservedWei(inFlight)))) return;
  }
}

/** False when the key's money does not reach: then it does not reach for the next one either. */
async function sendNext(pass: Pass, transaction: SenderTransaction, reserved: bigint): Promise<boolean> {
  const forbidden = pass.refuses(transaction);
  if (forbidden !== null) {
    await forbid(pass, transaction, forbidden);
    return true;
  }
  // Typed when it was queued; text columns forget it.
  const call = { to: transaction.to as Address, data: transaction.data as Hex, value: transaction.value };
  const gas = await estimate(pass, transaction, call);
  if (!gas.ok) {
    const isLater = gas.failure.kind === "insufficient_funds" || gas.failure.kind === "unreachable";
    await (isLater ? postpone : fail)(pass, transaction, gas.failure);
    return gas.failure.kind !== "insufficient_funds";
  }
  const gasLimit = (gas.value * BigInt(100 + pass.policy.gasMarginPercent)) / 100n;
  const fees = await marketFees(pass);
  const shortage = await findShortage(pass, gasLimit * fees.maxFeePerGas + transaction.value + reserved);
  if (shortage !== null) {
    await postpone(pass, transaction, shortage);
    return false;
  }
  const highest = await readHighestNonce(pass.db, pass.key);
  const nonce = highest === null ? pass.latestNonce : Math.max(pass.latestNonce, highest + 1);
  const fresh = { hashes: [], attempts: 0, notBefore: null, failure: null, error: null };
  const prepared = await update(pass, transaction, { ...fresh, ...fees, state: "prepared", nonce, gasLimit });
  pass.metrics.sent.inc({ purpose: transaction.purpose });
  await signAndBroadcast(pass, prepared, fees);
  return true;
}

/** The gas that a queued call needs. One that no node works out, or above its purpose's bound, must not stop the others. */
async function estimate(
  pass: Pass,
  { purpose }: SenderTransaction,
  call: { readonly to: Address; readonly data: Hex; readonly value: bigint },
): Promise<Attempt<bigint>> {
  const most = pass.policy.maxGas.get(purpose);
  const gas = await told(pass.rpc.estimateGas({ from: pass.key.sender, ...call }));
  if (gas.ok && (most === undefined || gas.value <= most)) return gas;
  const message = gas.ok ? `the call needs ${gas.value} gas; ${purpose} may take ${most}` : "";
  const failure = gas.ok ? ({ kind: "refused", message, revertData: null } as const) : gas.failure;
  pass.metrics.failures.inc({ kind: failure.kind });
  return { ok: false, failure };
}

async function findShortage(pass: Pass, neededWei: bigint): Promise<SendFailure | null> {
  const balance = await pass.rpc.balance(pass.key.sender);
  pass.metrics.balanceWei.set({ sender: pass.key.sender }, Number(balance));
  if (balance >= neededWei) return null;
  pass.metrics.failures.inc({ kind: "insufficient_funds" });
  const message = `balance ${balance} wei, needed at most ${neededWei} wei for this and what is under way`;
  return { kind: "insufficient_funds", message, revertData: null };
}
