import type { Context, Event } from "ponder:registry";
import { transaction, wallet } from "ponder:schema";
import type { FollowSource } from "./follow-wallet.ts";
import { selectorOf } from "./selector.ts";

/** A mined transaction with its receipt, whichever event brings it. */
export type Sent = Pick<
  Event<"RegisteredOwner:transaction:from">,
  "block" | "transaction" | "transactionReceipt"
>;

/** The transaction, and the source whose event delivered it. */
export type Delivery = { readonly sent: Sent; readonly source: FollowSource };

/**
 * Stores a followed wallet's own transaction and counts it. Several sources may follow one wallet, each delivering all of
 * it: only the one that followed it first, and so never misses anything, is listened to.
 */
export async function recordOwnCall({ sent, source }: Delivery, context: Context): Promise<void> {
  const followed = await context.db.find(wallet, { address: sent.transaction.from });
  if (followed === null || followed.source !== source) return;
  const row = { ...rowOf(sent), own: true };
  const inserted = await context.db.insert(transaction).values(row).onConflictDoNothing();
  // It is there already when another followed wallet received it.
  if (inserted === null) await context.db.update(transaction, { hash: row.hash }).set({ own: true });

  await context.db.update(wallet, { address: followed.address }).set({
    ownCalls: followed.ownCalls + 1,
    ownFailures: followed.ownFailures + (row.ok ? 0 : 1),
    firstCallBlock: followed.firstCallBlock ?? row.block,
    lastCallBlock: row.block,
    lastCallAt: row.timestamp,
    touchedBlock: row.block,
  });
}

/** Stores a transaction sent to a followed wallet, unless it is there already as somebody's own call. */
export async function recordReceived({ sent, source }: Delivery, context: Context): Promise<void> {
  if (sent.transaction.to === null) return;
  const followed = await context.db.find(wallet, { address: sent.transaction.to });
  if (followed === null || followed.source !== source) return;
  await context.db
    .insert(transaction)
    .values({ ...rowOf(sent), own: false })
    .onConflictDoNothing();
}

function rowOf({ block, transaction: sent, transactionReceipt: receipt }: Sent) {
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
