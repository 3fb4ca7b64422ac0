import { and, eq, inArray, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { lowerCase } from "../db/columns.ts";
import { senderTransaction } from "../db/tables/publish.ts";
import { offer } from "./send-offer.ts";
import { fail, note, recordMined, recordUnmined, release, requeue } from "./send-outcome.ts";
import { type KeylessPass, type NoncedTransaction, nonced, type SenderContext } from "./send-pass.ts";
import { decide } from "./sender.ts";
import { readOpenTransactions, SENDER_CHANNEL } from "./sender-transactions.ts";

/** A sender without its key: what it left is brought to an end, and nothing is signed. */
export type HandOverContext = Omit<SenderContext, "account" | "refuses"> & {
  readonly from: Address;
  readonly to: Address;
  /** Purposes of the role whose key changed. */
  readonly purposes: readonly string[];
  /** Those among them that only the role's holder may send. */
  readonly exclusive: readonly string[];
  /** Whether the key that takes over holds the role now: one that was replaced itself leaves everything to its successor. */
  readonly holdsRole: () => Promise<boolean>;
  /**
   * Whether the former key has lost its role as of that block: then its exclusive transactions that are not mined can only revert.
   * They are given up, so that their owners ask the new key.
   */
  readonly hasLostRole: (finalBlock: number) => Promise<boolean>;
};

/**
 * One pass over what a former key of a role left, under that key's lock: what is signed is offered until it is mined, or given up
 * once it can have no effect; what is not signed goes to the new key. Nothing where that does not hold the role. Throws a viem error when the node gives no usable answer.
 */
export async function handOverPass(context: HandOverContext): Promise<void> {
  const { chainId, from, to, purposes, db, logger } = context;
  if (!(await context.holdsRole())) return;
  const key = { chainId, sender: from };
  const open = (await readOpenTransactions(db, key)).map(nonced);
  if (open.length > 0) await settleOpen(context, open);
  const { handed, ended } = await handOverQueued(db, { chainId, purposes, from, to });
  if (handed + ended > 0)
    logger.info({ from, to, handed, ended }, "queued transactions handed to the new key");
}

async function settleOpen(context: HandOverContext, open: readonly NoncedTransaction[]): Promise<void> {
  const { rpc, chainId, from, policy } = context;
  const head = await rpc.head();
  const latestNonce = await rpc.nonceAt(from, "latest");
  const pass = { ...context, key: { chainId, sender: from }, head, latestNonce };
  const hasLostRole = await context.hasLostRole(Math.max(head.number - policy.finalityBlocks, 0));
  // The lowest nonce that neither the chain nor a row from here on holds: what is above it is mined only if the node knows the rest.
  let gapAt = latestNonce;
  for (const transaction of open) {
    const isDead = hasLostRole && context.exclusive.includes(transaction.purpose);
    const isOpen = await settle(pass, transaction, { isDead, isAboveGap: transaction.nonce > gapAt });
    if (isOpen && transaction.nonce === gapAt) gapAt += 1;
  }
}

type Prospects = {
  /** It can have no effect any more. */
  readonly isDead: boolean;
  /** A nonce below it, unused so far, is held by no row of ours. */
  readonly isAboveGap: boolean;
};

/** Takes one a step on; whether it still holds its nonce then, and may be mined by it. */
async function settle(
  pass: KeylessPass,
  transaction: NoncedTransaction,
  prospects: Prospects,
): Promise<boolean> {
  const step = await decide(pass, transaction);
  switch (step.kind) {
    case "record":
      await recordMined(pass, transaction, step);
      return true;
    case "requeue":
      await requeue(pass, transaction);
      return false;
    case "sign":
      await release(pass, transaction);
      return false;
    case "unmine":
      await offerAgain(pass, await recordUnmined(pass, transaction));
      return true;
    case "wait":
    case "broadcast":
    case "bump":
      return settlePending(pass, transaction, { ...prospects, isQuiet: step.kind === "wait" });
  }
}

/** Offers a transaction once more before it gives up, since those with higher nonces are mined only after it. */
async function settlePending(
  pass: KeylessPass,
  transaction: NoncedTransaction,
  { isDead, isAboveGap, isQuiet }: Prospects & { readonly isQuiet: boolean },
): Promise<boolean> {
  const isPending = transaction.state === "prepared" || transaction.state === "broadcast";
  if (isPending && isDead) {
    await offerAgain(pass, transaction);
    await fail(pass, transaction, DEAD);
    return false;
  }
  if (isQuiet) return true;
  await offerAgain(pass, transaction);
  if (!isPending || !isAboveGap) return true;
  // The node counts what it knows without a gap: up to this one, if all below it is known.
  const known = await pass.rpc.nonceAt(pass.key.sender, "pending");
  if (known > transaction.nonce) return true;
  await fail(pass, transaction, CUT_OFF);
  return false;
}

const DEAD = {
  kind: "given_up",
  message: "signed by a key that has lost its role, and given up",
  revertData: null,
} as const;

const CUT_OFF = {
  kind: "given_up",
  message: "signed by a former key behind a nonce that stays unused, and given up",
  revertData: null,
} as const;

async function offerAgain(pass: KeylessPass, transaction: NoncedTransaction): Promise<void> {
  const failure = await offer(pass, transaction);
  if (failure !== null) await note(pass, transaction, failure);
}

/** Other keys than this one that have transactions of these purposes queued or not final. */
export async function readFormerSenders(
  db: NodePgDatabase,
  of: { chainId: number; purposes: readonly string[]; present: Address },
): Promise<Address[]> {
  const rows = await db
    .selectDistinct({ sender: senderTransaction.sender })
    .from(senderTransaction)
    .where(
      and(
        eq(senderTransaction.chainId, of.chainId),
        inArray(senderTransaction.purpose, [...of.purposes]),
        eq(senderTransaction.final, false),
        ne(senderTransaction.state, "failed"),
        ne(senderTransaction.sender, lowerCase(of.present)),
      ),
    );
  return rows.map(({ sender }) => sender);
}

/**
 * Hands the queued transactions of these purposes, which hold no nonce, from one key to another, and wakes its sender. One whose
 * reference the other key has used already has failed: that key's own is the one that counts. Those that only the first key may
 * send stay with it. Returns how many were handed over
 * and how many ended. Only the holder of the first key's lock may call it.
 */
async function handOverQueued(
  db: NodePgDatabase,
  of: Pick<HandOverContext, "chainId" | "purposes" | "from" | "to">,
): Promise<{ readonly handed: number; readonly ended: number }> {
  const to = lowerCase(of.to);
  const isUsed = sql`exists (select 1 from ahs.sender_transaction other where other.chain_id = ${of.chainId}
    and other.sender = ${to} and other.reference = ${senderTransaction.reference})`;
  const handed = await db
    .update(senderTransaction)
    .set({ sender: to, attempts: 0, notBefore: null, failure: null, error: null, updatedAt: sql`now()` })
    .where(and(isQueuedOf(of), sql`not ${isUsed}`))
    .returning({ id: senderTransaction.id });
  if (handed.length > 0) await db.execute(sql`select pg_notify(${SENDER_CHANNEL}, '')`);
  const ended = await db
    .update(senderTransaction)
    .set({ state: "failed", notBefore: null, failure: "given_up", error: DOUBLED, updatedAt: sql`now()` })
    .where(and(isQueuedOf(of), isUsed))
    .returning({ id: senderTransaction.id });
  return { handed: handed.length, ended: ended.length };
}

/** References of captures, returns and claims: the contract takes them from the key that the payer signed, and they wait for it. */
const OF_ONE_KEY = "/(end|collect)$";

const DOUBLED = "the key that took over sends a transaction of this reference already";

function isQueuedOf({ chainId, from, purposes }: Pick<HandOverContext, "chainId" | "purposes" | "from">) {
  return and(
    eq(senderTransaction.chainId, chainId),
    eq(senderTransaction.sender, lowerCase(from)),
    inArray(senderTransaction.purpose, [...purposes]),
    eq(senderTransaction.state, "queued"),
    sql`${senderTransaction.reference} !~ ${OF_ONE_KEY}`,
  );
}
