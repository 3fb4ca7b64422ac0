import { type Address, type Hex, keccak256 } from "viem";
import {
  readHighestNonce,
  readOpenTransactions,
  readQueuedTransactions,
  readUnminedTransactions,
  type SenderTransaction,
} from "../store/sender-transactions.ts";
import { classifySendFailure, isRpcError, type SendFailure } from "./send-errors.ts";
import { bumpFees, type Fees, suggestFees } from "./send-fees.ts";
import { fail, note, postpone, recordMined, recordUnmined, requeue, update } from "./send-outcome.ts";
import {
  type KeylessPass,
  type NoncedTransaction,
  nonced,
  type Pass,
  reservedWei,
  type SenderContext,
} from "./send-pass.ts";
import { type MinedReceipt, nextStep, type SendStep } from "./send-step.ts";
import { SignerFailure } from "./signer-failure.ts";

/** What one pass saw; under the same head the next one need not ask again about mined transactions. */
export type PassResult = { readonly headHash: Hex | null; readonly busy: boolean };

/**
 * Takes every open transaction of the key one step on, whoever left it there, then gives nonces to queued ones. Throws a
 * viem error when the node gives no usable answer, a SignerFailure when the key's signer does not sign, once the others are
 * a step on, and a pg error when the lock's connection is gone; a later pass goes on from what is stored.
 */
export async function sendPass(context: SenderContext, previousHead: Hex | null): Promise<PassResult> {
  const key = { chainId: context.chainId, sender: context.account.address };
  const open = (await readOpenTransactions(context.db, key)).map(nonced);
  const due = { now: context.now(), limit: context.policy.maxInFlight };
  const queued = await readQueuedTransactions(context.db, key, due);
  if (open.length === 0 && queued.length === 0) return { headHash: previousHead, busy: false };
  const head = await context.rpc.head();
  const latestNonce = await context.rpc.nonceAt(key.sender, "latest");
  const pass: Pass = { ...context, key, head, latestNonce };
  let unsigned: SignerFailure | null = null;
  for (const transaction of open) {
    const isMined = transaction.state === "mined" || transaction.state === "reverted";
    if (isMined && head.hash === previousHead) continue;
    const step = await decide(pass, transaction);
    unsigned = (await unlessUnsigned(() => perform(pass, transaction, step))) ?? unsigned;
  }
  if (unsigned !== null) throw unsigned;
  await sendQueued(pass, queued);
  return { headHash: head.hash, busy: true };
}

/** A signer that does not sign must not keep what is mined from being noted. */
async function unlessUnsigned(act: () => Promise<void>): Promise<SignerFailure | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof SignerFailure) return error;
    throw error;
  }
}

/** What to do with a transaction that holds a nonce, by what the chain shows of it now. */
export async function decide(pass: KeylessPass, transaction: NoncedTransaction): Promise<SendStep> {
  const isNonceUsed = pass.latestNonce > transaction.nonce;
  const receipt = isNonceUsed ? await findReceipt(pass, transaction) : null;
  const finalBlock = Math.max(pass.head.number - pass.policy.finalityBlocks, 0);
  const isForeign = isNonceUsed && receipt === null;
  const finalNonce = isForeign ? await pass.rpc.nonceAt(pass.key.sender, finalBlock) : 0;
  const { head, latestNonce } = pass;
  return nextStep(
    transaction,
    { headBlock: head.number, latestNonce, finalNonce, receipt, now: pass.now() },
    pass.policy,
  );
}

async function findReceipt(pass: KeylessPass, transaction: NoncedTransaction): Promise<MinedReceipt | null> {
  for (const hash of transaction.hashes.toReversed()) {
    const receipt = await pass.rpc.receipt(hash);
    if (receipt !== null) return receipt;
  }
  return null;
}

async function perform(pass: Pass, transaction: NoncedTransaction, step: SendStep): Promise<void> {
  switch (step.kind) {
    case "wait":
      return;
    case "sign":
      return broadcast(pass, await sign(pass, transaction, transaction));
    case "broadcast":
      return broadcast(pass, transaction);
    case "bump":
      return bump(pass, transaction);
    case "record":
      return recordMined(pass, transaction, step);
    case "unmine":
      return broadcast(pass, await recordUnmined(pass, transaction));
    case "requeue":
      return requeue(pass, transaction);
  }
}

/** In order, each on the wire before the next takes a nonce: so a nonce that is given back is always the highest. */
async function sendQueued(pass: Pass, queued: readonly SenderTransaction[]): Promise<void> {
  for (const transaction of queued) {
    const inFlight = (await readUnminedTransactions(pass.db, pass.key)).map(nonced);
    if (inFlight.some((other) => other.state === "prepared")) return;
    if (inFlight.length >= pass.policy.maxInFlight) return;
    if (!(await sendNext(pass, transaction, reservedWei(inFlight)))) return;
  }
}

/** False when the key's money does not reach: then it does not reach for the next one either. */
async function sendNext(pass: Pass, transaction: SenderTransaction, reserved: bigint): Promise<boolean> {
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
  await broadcast(pass, await sign(pass, prepared, fees));
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

async function marketFees(pass: Pass): Promise<Fees> {
  const priorityFeePerGas = await pass.rpc.priorityFeePerGas();
  const market = { baseFeePerGas: pass.head.baseFeePerGas, priorityFeePerGas };
  return suggestFees(market, pass.policy.maxFeePerGasCeiling);
}

/** Signs the stored content at the given fees; hash and bytes are stored before any node sees them. */
async function sign(pass: Pass, transaction: NoncedTransaction, fees: Fees): Promise<NoncedTransaction> {
  const { nonce, to, data, value, gasLimit } = transaction;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  const content = { type: "eip1559", chainId: pass.chainId, nonce, to, data, value, gas: gasLimit } as const;
  const raw = await pass.account.signTransaction({ ...content, maxFeePerGas, maxPriorityFeePerGas });
  const hashes = [...transaction.hashes, keccak256(raw)];
  return update(pass, transaction, { maxFeePerGas, maxPriorityFeePerGas, raw, hashes });
}

async function broadcast(pass: Pass, transaction: NoncedTransaction): Promise<void> {
  const failure = await offer(pass, transaction);
  if (failure === null) return;
  switch (failure.kind) {
    case "underpriced":
      return bump(pass, transaction);
    case "insufficient_funds":
      return postpone(pass, transaction, failure);
    case "refused":
    case "reverted_in_simulation":
      // A node that took it before may still mine it; one that was never taken gives its nonce back.
      return transaction.state === "prepared"
        ? fail(pass, transaction, failure)
        : note(pass, transaction, failure);
    case "nonce_used":
    case "already_known":
    case "unreachable":
      return note(pass, transaction, failure);
  }
}

/** Replaces a transaction by itself at higher fees; at the ceiling it is only offered again. */
async function bump(pass: Pass, transaction: NoncedTransaction): Promise<void> {
  const fees = bumpFees(transaction, await marketFees(pass), pass.policy.maxFeePerGasCeiling);
  const details = { transaction: transaction.id, nonce: transaction.nonce };
  if (fees === null) pass.logger.warn(details, "stuck at the fee ceiling");
  else {
    pass.metrics.feeBumps.inc();
    pass.logger.info({ ...details, maxFeePerGas: `${fees.maxFeePerGas}` }, "stuck: fees raised");
  }
  const offered = fees === null ? transaction : await sign(pass, transaction, fees);
  const failure = await offer(pass, offered);
  if (failure !== null) await note(pass, offered, failure);
}

/** Hands the signed bytes to the node; null when it has them. Throws a viem error when the node gives no usable answer. */
export async function offer(pass: KeylessPass, transaction: NoncedTransaction): Promise<SendFailure | null> {
  if (transaction.raw === null)
    throw new Error(`transaction ${transaction.id} has a hash but no signed bytes`);
  const sent = await attempt(pass, pass.rpc.broadcast(transaction.raw));
  if (!sent.ok && sent.failure.kind !== "already_known") return sent.failure;
  await update(pass, transaction, {
    state: "broadcast",
    broadcastAt: pass.now(),
    broadcastBlock: pass.head.number,
  });
  return null;
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: SendFailure };

/** Turns what a node says of a transaction into a value; a node that says nothing ends the pass. */
async function attempt<T>(pass: KeylessPass, call: Promise<T>): Promise<Attempt<T>> {
  const attempted = await told(call);
  if (attempted.ok) return attempted;
  const { kind } = attempted.failure;
  if (kind === "unreachable") throw attempted.error;
  if (kind !== "already_known") pass.metrics.failures.inc({ kind });
  return attempted;
}

/** The same with the silence of a node as a value; throws what is a fault of ours or of the database. */
async function told<T>(
  call: Promise<T>,
): Promise<Attempt<T> & ({ readonly ok: true } | { readonly ok: false; readonly error: unknown })> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (!isRpcError(error)) throw error;
    return { ok: false, failure: classifySendFailure(error), error };
  }
}
