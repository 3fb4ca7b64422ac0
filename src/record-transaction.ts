import type { Context, Event } from "ponder:registry";
import { transaction, wallet } from "ponder:schema";
import { selectorOf } from "./selector.ts";

/** A mined transaction with its receipt, whichever event brings it. */
export type Sent = Pick<
  Event<"RegisteredOwner:transaction:from">,
  "block" | "transaction" | "transactionReceipt"
>;

/** Stores a followed wallet's own transaction once, whichever sources deliver it, and counts it. */
export async function recordOwnCall(event: Sent, context: Context): Promise<void> {
  const followed = await context.db.find(wallet, { address: event.transaction.from });
  if (followed === null) return;
  const { hash } = event.transaction;
  const inserted = await context.db
    .insert(transaction)
    .values({ ...rowOf(event), own: true })
    .onConflictDoNothing();
  if (inserted === null) {
    // It is there as received by another followed wallet, or another source delivered it before.
    const stored = await context.db.find(transaction, { hash });
    if (stored?.own === true) return;
    await context.db.update(transaction, { hash }).set({ own: true });
  }

  await context.db.update(wallet, { address: followed.address }).set({
    ownCalls: followed.ownCalls + 1,
    ownFailures: followed.ownFailures + (event.transactionReceipt.status === "success" ? 0 : 1),
    firstCallBlock: followed.firstCallBlock ?? event.block.number,
    lastCallBlock: event.block.number,
    lastCallAt: event.block.timestamp,
    touchedBlock: event.block.number,
  });
}

/** Stores a transaction sent to a followed wallet, unless it is there already as somebody's own call. */
export async function recordReceived(event: Sent, context: Context): Promise<void> {
  if (event.transaction.to === null) return;
  const followed = await context.db.find(wallet, { address: event.transaction.to });
  if (followed === null) return;
  await context.db
    .insert(transaction)
    .values({ ...rowOf(event), own: false })
    .onConflictDoNothing();
}

function rowOf(event: Sent) {
  const { block, transaction: sent, transactionReceipt: receipt } = event;
  return {
    hash: sent.hash,
    block: block.number,
    transactionIndex: sent.transactionIndex,
    timestamp: block.timestamp,
    from: sent.from,
    to: sent.to,
    nonce: sent.nonce,
    value: sent.value,
    input: sent.input,
    selector: selectorOf(sent.input),
    gasLimit: sent.gas,
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
    baseFeePerGas: block.baseFeePerGas,
    ok: receipt.status === "success",
    contractAddress: receipt.contractAddress,
  };
}
