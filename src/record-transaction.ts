import type { Context, Event } from "ponder:registry";
import { transaction, wallet } from "ponder:schema";
import type { Hex } from "viem";
import { indexSettings } from "../ponder.config.ts";
import { type FollowSource, findFollowed } from "./follow-wallet.ts";
import { countReceived, RECEIVED_BOUND } from "./received-rate.ts";

const receivedBound = indexSettings.deployment.receivedBound ?? RECEIVED_BOUND;

/** A mined transaction with its receipt, whichever event brings it. */
type Sent = Pick<Event<"RegisteredOwner:transaction:from">, "block" | "transaction" | "transactionReceipt">;

/** The transaction, and the source whose event delivered it. */
type Delivery = { readonly sent: Sent; readonly source: FollowSource };

/**
 * Stores a followed wallet's own transaction and counts it. Several sources may follow one wallet, each delivering all of
 * it: only the one that followed it first, and so never misses anything, is listened to.
 */
export async function recordOwnCall({ sent, source }: Delivery, context: Context): Promise<void> {
  const followed = await findFollowed(context, { address: sent.transaction.from, source });
  if (followed === null) return;
  const own = { own: true, input: sent.transaction.input };
  const row = { ...rowOf(sent), ...own };
  const inserted = await context.db.insert(transaction).values(row).onConflictDoNothing();
  // It is there already when another followed wallet received it.
  if (inserted === null) await context.db.update(transaction, { hash: row.hash }).set(own);

  await context.db.update(wallet, { address: followed.address }).set({
    ownCalls: followed.ownCalls + 1,
    ownFailures: followed.ownFailures + (row.ok ? 0 : 1),
    firstCallBlock: followed.firstCallBlock ?? row.block,
    lastCallBlock: row.block,
    lastCallAt: row.timestamp,
    touchedBlock: row.block,
  });
}

/**
 * Stores a transaction sent to a followed wallet without its calldata, within the bound of what one wallet may receive, unless it
 * is there already as an own call of another.
 */
export async function recordReceived({ sent, source }: Delivery, context: Context): Promise<void> {
  if (sent.transaction.to === null) return;
  const followed = await findFollowed(context, { address: sent.transaction.to, source });
  if (followed === null) return;
  const { count, isStored } = countReceived(followed, sent.block.number, receivedBound);
  if (count !== null) await context.db.update(wallet, { address: followed.address }).set(count);
  if (!isStored) return;
  await context.db
    .insert(transaction)
    .values({ ...rowOf(sent), own: false, input: null })
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
    selector: selectorOf(sent.input),
    gasLimit: sent.gas,
    gasUsed: receipt.gasUsed,
    effectiveGasPrice: receipt.effectiveGasPrice,
    baseFeePerGas: block.baseFeePerGas,
    ok: receipt.status === "success",
    contractAddress: receipt.contractAddress,
  };
}

const SELECTOR_CHARACTERS = 10;

/** First four bytes of the calldata; null where there are fewer, as in a plain transfer. */
function selectorOf(input: Hex): Hex | null {
  return input.length < SELECTOR_CHARACTERS ? null : (input.slice(0, SELECTOR_CHARACTERS) as Hex);
}
