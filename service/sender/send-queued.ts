import { payerOfCall, readPayerGas } from "./payments-sender.ts";
import { marketFees, signAndBroadcast, tryCall } from "./send-offer.ts";
import { fail, forbid, postpone, update } from "./send-outcome.ts";
import { nonced, type Pass, reservedWei } from "./send-pass.ts";
import { hasGasLeft, kindOfSettlement } from "./send-policy.ts";
import type { SendFailure } from "./send-rpc.ts";
import {
  readGasSpent,
  readHighestNonce,
  readUnminedTransactions,
  type SenderTransaction,
} from "./sender-transactions.ts";

/** Failures that end a queued transaction. All others pass, or say nothing about it. */
const FOR_GOOD: ReadonlySet<SendFailure["kind"]> = new Set(["refused", "forbidden"]);
/** Pause before a revert is simulated again, in first pauses of the policy: another block, and maybe another node, answers then. */
const CONFIRMATION_PAUSES = 4;

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
  const gas = await estimate(pass, transaction);
  if (typeof gas !== "bigint") {
    await failOrPostpone(pass, transaction, gas);
    return gas.kind !== "insufficient_funds";
  }
  const gasLimit = (gas * BigInt(100 + pass.policy.gasMarginPercent)) / 100n;
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

/** A revert counts if the next simulation, some blocks later, shows it as well: one node may be behind the others. */
async function failOrPostpone(
  pass: Pass,
  transaction: SenderTransaction,
  failure: SendFailure,
): Promise<void> {
  const isRevert = failure.kind === "reverted_in_simulation";
  if (FOR_GOOD.has(failure.kind) || (isRevert && transaction.failure === failure.kind))
    return fail(pass, transaction, failure);
  const pauseMs = isRevert ? CONFIRMATION_PAUSES * pass.policy.retryMs.first : undefined;
  return postpone(pass, transaction, failure, pauseMs);
}

/** The gas that a queued call needs. One that no node works out, or above its purpose's bound, must not stop the others. */
async function estimate(pass: Pass, transaction: SenderTransaction): Promise<bigint | SendFailure> {
  const { to, data, value } = transaction;
  const tried = await tryCall(pass.rpc.estimateGas({ from: pass.key.sender, to, data, value }));
  const found = tried.ok
    ? ((await findExcess(pass, transaction, tried.value)) ?? tried.value)
    : tried.failure;
  if (typeof found !== "bigint") pass.metrics.failures.inc({ kind: found.kind });
  return found;
}

/** Why a call of so much gas is not sent, for good or now; null where it may be. */
async function findExcess(
  pass: Pass,
  { id, purpose, reference }: Pick<SenderTransaction, "id" | "purpose" | "reference">,
  gas: bigint,
): Promise<SendFailure | null> {
  const most = pass.policy.maxGas.get(purpose);
  if (most !== undefined && gas > most) {
    const message = `the call needs ${gas} gas; ${purpose} may take ${most}`;
    return { kind: "refused", message, revertData: null };
  }
  const budget = pass.policy.budgets.find(({ purposes }) => purposes.includes(purpose));
  if (budget !== undefined) {
    const { purposes, dailyGas } = budget;
    const { chainId } = pass.key;
    const spent = await readGasSpent(pass.db, { chainId, purposes, now: pass.now() });
    const prefix = payerOfCall({ purpose, reference });
    const payer =
      prefix === null ? null : await readPayerGas(pass.db, { chainId, payer: prefix, now: pass.now() });
    // The gas of a later step was compared with its money before it was queued.
    const kind = payer === null ? "worthyStep" : kindOfSettlement(payer, gas);
    if (!hasGasLeft(kind, { gas, dailyGas, spent, payer })) {
      const message = `${purpose} has used ${spent} of ${dailyGas} gas of this UTC day, needs ${gas}, and is a ${kind}`;
      return { kind: "over_budget", message, revertData: null };
    }
  }
  const message = (await pass.tooDear?.({ id, purpose }, gas)) ?? null;
  return message === null ? null : { kind: "too_dear", message, revertData: null };
}

async function findShortage(pass: Pass, neededWei: bigint): Promise<SendFailure | null> {
  const balance = await pass.rpc.balance(pass.key.sender);
  pass.metrics.balanceWei.set({ sender: pass.key.sender }, Number(balance));
  if (balance >= neededWei) return null;
  pass.metrics.failures.inc({ kind: "insufficient_funds" });
  const message = `balance ${balance} wei, needed at most ${neededWei} wei for this and what is under way`;
  return { kind: "insufficient_funds", message, revertData: null };
}
