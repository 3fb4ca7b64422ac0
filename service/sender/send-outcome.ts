import { pauseAfter } from "../db/run-loop.ts";
import { type KeylessPass, type NoncedTransaction, nonced } from "./send-pass.ts";
import type { SendFailure } from "./send-rpc.ts";
import type { MinedReceipt } from "./send-step.ts";
import { type SenderTransactionPatch, updateTransaction, WITHOUT_NONCE } from "./sender-transactions.ts";

export async function update(
  pass: KeylessPass,
  transaction: { readonly id: number },
  patch: SenderTransactionPatch,
): Promise<NoncedTransaction> {
  return nonced(await updateTransaction(pass.db, transaction.id, patch));
}

/** Stores the block a transaction is in and when it was first seen there; gas and cost are counted once, when that is final. */
export async function recordMined(
  pass: KeylessPass,
  transaction: NoncedTransaction,
  mined: { readonly receipt: MinedReceipt; readonly final: boolean },
): Promise<void> {
  const { hash, block, ok, gasUsed, costWei } = mined.receipt;
  const labels = { purpose: transaction.purpose };
  const isKnown = transaction.minedHash === hash && transaction.minedBlock === block;
  await updateTransaction(pass.db, transaction.id, {
    state: ok ? "mined" : "reverted",
    final: mined.final,
    minedHash: hash,
    minedBlock: block,
    ...(isKnown ? {} : { minedAt: pass.now() }),
    gasUsed,
    costWei,
  });
  if (!isKnown) {
    pass.metrics.mined.inc({ ...labels, outcome: ok ? "mined" : "reverted" });
    pass.logger.info({ transaction: transaction.id, ...labels, hash, block, ok }, "transaction mined");
  }
  if (!mined.final) return;
  pass.metrics.gasUsed.inc(labels, Number(gasUsed));
  pass.metrics.costWei.inc(labels, Number(costWei));
}

/** A reorg took the transaction out of the chain: it is under way again. */
export async function recordUnmined(
  pass: KeylessPass,
  transaction: NoncedTransaction,
): Promise<NoncedTransaction> {
  pass.metrics.reorged.inc();
  pass.logger.warn({ transaction: transaction.id, block: transaction.minedBlock }, "transaction reorged out");
  const unmined = { minedHash: null, minedBlock: null, minedAt: null, gasUsed: null, costWei: null };
  return update(pass, transaction, { ...unmined, state: "broadcast" });
}

/** A stranger's transaction has the nonce for good: this one starts over with another. */
export async function requeue(pass: KeylessPass, transaction: NoncedTransaction): Promise<void> {
  const error = `nonce ${transaction.nonce} was used by a transaction that is not ours`;
  pass.logger.error({ transaction: transaction.id, hashes: transaction.hashes }, error);
  pass.metrics.failures.inc({ kind: "nonce_used" });
  await updateTransaction(pass.db, transaction.id, {
    ...WITHOUT_NONCE,
    state: "queued",
    failure: "nonce_used",
    error,
  });
}

/** One that was never signed gives its nonce back, and waits for another. */
export async function release(pass: KeylessPass, transaction: NoncedTransaction): Promise<void> {
  await updateTransaction(pass.db, transaction.id, { ...WITHOUT_NONCE, state: "queued" });
}

/** Tried again later, as it is; by default after a pause that grows with the attempts. */
export async function postpone(
  pass: KeylessPass,
  transaction: { readonly id: number; readonly attempts: number },
  failure: SendFailure,
  pauseMs = pauseAfter(transaction.attempts, pass.policy.retryMs),
): Promise<void> {
  pass.logger.warn({ transaction: transaction.id, failure }, "transaction postponed");
  await updateTransaction(pass.db, transaction.id, {
    attempts: transaction.attempts + 1,
    notBefore: new Date(pass.now().getTime() + pauseMs),
    failure: failure.kind,
    error: failure.message,
  });
}

/** Never retried, and holds no nonce. Its requester decides what follows. */
export async function fail(
  pass: KeylessPass,
  transaction: { readonly id: number },
  failure: SendFailure,
): Promise<void> {
  pass.logger.warn({ transaction: transaction.id, failure }, "transaction failed before it was sent");
  await updateTransaction(pass.db, transaction.id, {
    ...WITHOUT_NONCE,
    state: "failed",
    failure: failure.kind,
    error: failure.message,
    revertData: failure.revertData,
  });
}

/** Ends a transaction that the key must not send: it is never signed, and its nonce is free unless a signed one exists. */
export async function forbid(
  pass: KeylessPass,
  transaction: Pick<NoncedTransaction, "id" | "purpose" | "to" | "hashes">,
  reason: string,
): Promise<void> {
  const { id, purpose, to } = transaction;
  pass.logger.error({ transaction: id, purpose, to, reason }, "queued what this key must not send");
  pass.metrics.failures.inc({ kind: "forbidden" });
  const failure = { kind: "forbidden", message: reason, revertData: null } as const;
  await (transaction.hashes.length === 0 ? fail : note)(pass, transaction, failure);
}

/** Keeps the failure on record without changing the course of the transaction. */
export async function note(
  pass: KeylessPass,
  transaction: { readonly id: number },
  failure: SendFailure,
): Promise<void> {
  pass.logger.warn({ transaction: transaction.id, failure }, "transaction not accepted");
  const notBefore = new Date(pass.now().getTime() + pauseAfter(0, pass.policy.retryMs));
  const { kind, message } = failure;
  await updateTransaction(pass.db, transaction.id, { notBefore, failure: kind, error: message });
}
