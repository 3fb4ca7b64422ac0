import type { Address } from "viem";
import { handOverQueued } from "../store/former-senders.ts";
import { readOpenTransactions } from "../store/sender-transactions.ts";
import { fail, note, recordMined, recordUnmined, release, requeue } from "./send-outcome.ts";
import { type KeylessPass, type NoncedTransaction, nonced, type SenderContext } from "./send-pass.ts";
import { decide, offer } from "./sender.ts";

/** A sender without its key: what it left is brought to an end, and nothing is signed. */
export type HandOverContext = Omit<SenderContext, "account"> & {
  readonly from: Address;
  readonly to: Address;
  /** Purposes of the role whose key changed. */
  readonly purposes: readonly string[];
  /** Those among them that only the role's holder may send. */
  readonly exclusive: readonly string[];
  /**
   * Whether the former key has lost its role as of that block: then what is exclusive and not mined can only revert, and is given up, so
   * that whoever asked for it asks the new key.
   */
  readonly hasLostRole: (finalBlock: number) => Promise<boolean>;
};

/**
 * One pass over what a former key of a role left, under that key's lock: what is signed is offered until it is mined, or given up
 * once it can have no effect; what is not signed goes to the new key. Throws a viem error when the node gives no usable answer.
 */
export async function handOverPass(context: HandOverContext): Promise<void> {
  const { chainId, from, to, purposes, db, logger } = context;
  const key = { chainId, sender: from };
  const open = (await readOpenTransactions(db, key)).map(nonced);
  if (open.length > 0) await settleOpen(context, open);
  const handed = await handOverQueued(db, { chainId, purposes, from, to });
  if (handed > 0) logger.info({ from, to, handed }, "queued transactions handed to the new key");
}

async function settleOpen(context: HandOverContext, open: readonly NoncedTransaction[]): Promise<void> {
  const { rpc, chainId, from, policy } = context;
  const head = await rpc.head();
  const latestNonce = await rpc.nonceAt(from, "latest");
  const pass = { ...context, key: { chainId, sender: from }, head, latestNonce };
  const hasLostRole = await context.hasLostRole(Math.max(head.number - policy.finalityBlocks, 0));
  for (const transaction of open) {
    const isDead = hasLostRole && context.exclusive.includes(transaction.purpose);
    await settle(pass, transaction, isDead);
  }
}

async function settle(pass: KeylessPass, transaction: NoncedTransaction, isDead: boolean): Promise<void> {
  const step = await decide(pass, transaction);
  switch (step.kind) {
    case "record":
      return recordMined(pass, transaction, step);
    case "requeue":
      return requeue(pass, transaction);
    case "sign":
      return release(pass, transaction);
    case "unmine":
      return offerAgain(pass, await recordUnmined(pass, transaction));
    case "wait":
    case "broadcast":
    case "bump": {
      const isPending = transaction.state === "prepared" || transaction.state === "broadcast";
      if (isPending && isDead) return fail(pass, transaction, DEAD);
      if (step.kind !== "wait") await offerAgain(pass, transaction);
      return;
    }
  }
}

const DEAD = {
  kind: "refused",
  message: "signed by a key that has lost its role, and given up",
  revertData: null,
} as const;

async function offerAgain(pass: KeylessPass, transaction: NoncedTransaction): Promise<void> {
  const failure = await offer(pass, transaction);
  if (failure !== null) await note(pass, transaction, failure);
}
