import type { Hex } from "viem";
import { SignerFailure } from "./remote-signer.ts";
import { broadcast, bump, signAndBroadcast } from "./send-offer.ts";
import { recordMined, recordUnmined, requeue } from "./send-outcome.ts";
import {
  type KeylessPass,
  type NoncedTransaction,
  nonced,
  type Pass,
  type SenderContext,
} from "./send-pass.ts";
import { sendQueued } from "./send-queued.ts";
import { type MinedReceipt, nextStep, type SendStep } from "./send-step.ts";
import { readOpenTransactions, readQueuedTransactions } from "./sender-transactions.ts";

/**
 * Takes every open transaction of the key one step on, then gives nonces to queued ones. Throws a
 * viem error when the node gives no usable answer, a SignerFailure when the key's signer does not sign, once the others are
 * a step on, and a pg error when the lock's connection is gone; a later pass goes on from what is stored. Under the same head the
 * next pass does not ask about mined transactions again.
 */
export async function sendPass(
  context: SenderContext,
  previousHead: Hex | null,
): Promise<{ headHash: Hex | null; busy: boolean }> {
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
    unsigned = (await catchUnsigned(() => perform(pass, transaction, step))) ?? unsigned;
  }
  if (unsigned !== null) throw unsigned;
  await sendQueued(pass, queued);
  return { headHash: head.hash, busy: true };
}

/** Returns a SignerFailure instead of throwing it, so that mined transactions are recorded all the same. */
async function catchUnsigned(act: () => Promise<void>): Promise<SignerFailure | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof SignerFailure) return error;
    throw error;
  }
}

/** Reads the chain's facts about a transaction that holds a nonce, and decides its next step. */
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
      return signAndBroadcast(pass, transaction, transaction);
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
