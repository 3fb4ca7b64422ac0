import { keccak256 } from "viem";
import { fail, forbid, note, postpone, update } from "./send-outcome.ts";
import type { KeylessPass, NoncedTransaction, Pass } from "./send-pass.ts";
import { bumpFees, type Fees, suggestFees } from "./send-policy.ts";
import { classifySendFailure, isRpcError, type SendFailure } from "./send-rpc.ts";

/**
 * Offers of a signed transaction that a node refuses in unknown words, some nine minutes with the pauses between: the key's other
 * transactions wait behind its nonce.
 */
const MOST_UNKNOWN = 40;

/** Signs and offers it to the node; what the key must not be made to send is neither. Throws as offer does, and a SignerFailure. */
export async function signAndBroadcast(
  pass: Pass,
  transaction: NoncedTransaction,
  fees: Fees,
): Promise<void> {
  const signed = await sign(pass, transaction, fees);
  if (signed !== null) await broadcast(pass, signed);
}

/**
 * Signs the stored content at the given fees; hash and bytes are stored before any node sees them. Null where the key must not be made
 * to send it: a third party with access to the table could have given it its nonce too.
 */
async function sign(
  pass: Pass,
  transaction: NoncedTransaction,
  fees: Fees,
): Promise<NoncedTransaction | null> {
  const forbidden = pass.refuses(transaction);
  if (forbidden !== null) {
    await forbid(pass, transaction, forbidden);
    return null;
  }
  const { nonce, to, data, value, gasLimit } = transaction;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  const content = { type: "eip1559", chainId: pass.chainId, nonce, to, data, value, gas: gasLimit } as const;
  const raw = await pass.account.signTransaction({ ...content, maxFeePerGas, maxPriorityFeePerGas });
  const hashes = [...transaction.hashes, keccak256(raw)];
  return update(pass, transaction, { maxFeePerGas, maxPriorityFeePerGas, raw, hashes });
}

/** Offers it to the node, and does what its answer asks for; throws as offer does. */
export async function broadcast(pass: Pass, transaction: NoncedTransaction): Promise<void> {
  const failure = await offer(pass, transaction);
  if (failure === null) return;
  switch (failure.kind) {
    case "underpriced":
      return bump(pass, transaction);
    case "insufficient_funds":
      return postpone(pass, transaction, failure);
    case "unknown":
      if (transaction.state !== "prepared") return note(pass, transaction, failure);
      return transaction.attempts < MOST_UNKNOWN
        ? postpone(pass, transaction, failure)
        : fail(pass, transaction, { ...failure, kind: "given_up" });
    case "refused":
    case "too_dear":
    case "over_budget":
    case "forbidden":
    case "given_up":
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
export async function bump(pass: Pass, transaction: NoncedTransaction): Promise<void> {
  const fees = bumpFees(transaction, await marketFees(pass), pass.policy.maxFeePerGasCeiling);
  const details = { transaction: transaction.id, nonce: transaction.nonce };
  if (fees === null) pass.logger.warn(details, "stuck at the fee ceiling");
  else {
    pass.metrics.feeBumps.inc();
    pass.logger.info({ ...details, maxFeePerGas: `${fees.maxFeePerGas}` }, "stuck: fees raised");
  }
  const offered = fees === null ? transaction : await sign(pass, transaction, fees);
  if (offered === null) return;
  const failure = await offer(pass, offered);
  if (failure !== null) await note(pass, offered, failure);
}

/** Hands the signed bytes to the node; null when it has them. Throws a viem error when the node gives no usable answer. */
export async function offer(pass: KeylessPass, transaction: NoncedTransaction): Promise<SendFailure | null> {
  if (transaction.raw === null)
    throw new Error(`transaction ${transaction.id} has a hash but no signed bytes`);
  const sent = await tryCall(pass.rpc.broadcast(transaction.raw));
  if (!sent.ok && sent.failure.kind !== "already_known") {
    const { kind } = sent.failure;
    if (kind === "unreachable") throw sent.error;
    pass.metrics.failures.inc({ kind });
    return sent.failure;
  }
  await update(pass, transaction, {
    state: "broadcast",
    broadcastAt: pass.now(),
    broadcastBlock: pass.head.number,
  });
  return null;
}

/** Turns what a node says of a transaction, and its silence, into a value. Throws a fault of ours or of the database. */
export async function tryCall<T>(
  call: Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; failure: SendFailure; error: unknown }> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (!isRpcError(error)) throw error;
    return { ok: false, failure: classifySendFailure(error), error };
  }
}

/** Fees as the chain asks for them now, below the ceiling; throws a viem error when the node gives no usable answer. */
export async function marketFees(pass: Pass): Promise<Fees> {
  const priorityFeePerGas = await pass.rpc.priorityFeePerGas();
  const market = { baseFeePerGas: pass.head.baseFeePerGas, priorityFeePerGas };
  return suggestFees(market, pass.policy.maxFeePerGasCeiling);
}
