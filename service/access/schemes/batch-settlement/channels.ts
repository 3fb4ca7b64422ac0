import { and, eq, gt, lte, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { type Database, underDeadline } from "../../../db/database.ts";
import { payment, paymentChannel } from "../../../db/tables/payment.ts";
import type { PresentedPayment } from "../../access.ts";
import { REQUEST_MS } from "../../payments/payments.ts";
import { type SeenChannel, type VoucherPayment, voucherOf } from "./channel-contract.ts";

export type StoredChannel = typeof paymentChannel.$inferSelect;

/** A channel as a request sees it. */
export type Channel = SeenChannel &
  Pick<StoredChannel, "charged" | "signature" | "seenAt"> & {
    /** Whether it was charged before. */
    readonly isStored: boolean;
  };

/** charged: stored with the payment, for good. mismatch: the voucher is not the next one. short: the channel's money does not cover it. */
export type ChargeOutcome = "charged" | "mismatch" | "short" | "gone";

/** Time for which a channel is charged by what was seen of it. Withdrawals take a day, and are announced on chain before. */
const SEEN_MS = 60_000;
/** Channels of one payer that are charged at once; each serves one request at a time. */
export const MOST_CHANNELS = 50;
/** Unclaimed money of a channel from which on it is claimed soon: 0.25 USD. */
export const COLLECT_AMOUNT = 250_000n;
/** Pause between two looks at a channel with unclaimed money: withdrawals take a day. */
export const LOOK_MS = 3_600_000;
/** Looks that are not urgent are due together, so that one transaction claims for many channels. */
const ROUND_MS = 600_000;

/** The end of the round that a moment belongs to. */
export function roundOf(moment: Date): Date {
  return new Date(Math.ceil(moment.getTime() / ROUND_MS) * ROUND_MS);
}

/** The sum up to which vouchers are taken: the money of the channel without that which its payer is about to withdraw. */
export function coverOf({ balance, withdrawing }: SeenChannel): bigint {
  return balance - withdrawing;
}

export type ChannelStore = ReturnType<typeof createChannelStore>;

/** Rows of ahs.payment_channel of one chain. `readSeen` reads the newest block and throws its node's errors. */
export function createChannelStore({
  db: pool,
  chainId,
  readSeen,
  now,
}: {
  readonly db: Database;
  readonly chainId: number;
  readonly readSeen: (channelId: Hex) => Promise<SeenChannel>;
  readonly now: () => Date;
}) {
  const db = underDeadline(pool);
  const after = (ms: number) => new Date(now().getTime() + ms);

  async function find(channelId: Hex): Promise<StoredChannel | null> {
    const [row] = await db.select().from(paymentChannel).where(eq(paymentChannel.id, channelId));
    return row ?? null;
  }

  /** The channel by what was seen of it lately, or by the chain. */
  async function read(channelId: Hex, { fresh = false } = {}): Promise<Channel> {
    const row = await find(channelId);
    if (row !== null && !fresh && row.seenAt > after(-SEEN_MS)) return { ...row, isStored: true };
    const seen = { ...(await readSeen(channelId)), seenAt: now() };
    const updated = await updateSeen(db, channelId, seen);
    if (updated !== null) return { ...updated, isStored: true };
    const newer = row === null ? null : await find(channelId);
    if (newer !== null) return { ...newer, isStored: true };
    // Without a row nothing of it waits to be claimed.
    return { ...seen, charged: seen.collected, signature: null, isStored: false };
  }

  return {
    read,
    /** Whether a payer has as many channels as one may have. */
    isFull: async (payer: PresentedPayment["payer"]): Promise<boolean> =>
      (await db.$count(paymentChannel, eq(paymentChannel.payer, payer))) >= MOST_CHANNELS,
    /**
     * Charges the voucher of a reserved payment, in one transaction with the payment's row: it is settled if and only if its
     * channel was charged. "gone" if the row no longer belongs to the request.
     */
    async charge(
      id: string,
      presented: PresentedPayment,
      { channel, transaction }: { readonly channel: Channel; readonly transaction: Hex | null },
    ): Promise<ChargeOutcome> {
      const voucher = voucherOf(presented);
      if (coverOf(channel) < voucher.amount) return "short";
      const refused = new Error("not charged");
      try {
        return await pool.transaction(async (tx) => {
          const [settled] = await tx
            .update(payment)
            .set({
              state: "settled",
              transactionHash: transaction,
              chargedAmount: presented.amount,
              settledAt: now(),
              confirmAt: null,
              error: null,
              deadline: after(REQUEST_MS),
              updatedAt: now(),
            })
            .where(and(eq(payment.id, id), eq(payment.state, "reserved"), gt(payment.deadline, now())))
            .returning({ id: payment.id });
          if (settled === undefined) return "gone";
          if (!channel.isStored) await insert(tx, voucher, channel);
          if (!(await add(tx, voucher, presented.amount))) throw refused;
          return "charged";
        });
      } catch (error) {
        if (error !== refused) throw error;
        const stored = await find(voucher.channelId);
        const isNext = stored !== null && stored.charged + presented.amount === voucher.amount;
        return isNext ? "short" : "mismatch";
      }
    },
  };

  async function insert(tx: NodePgDatabase, { config, channelId }: VoucherPayment, channel: Channel) {
    const { isStored: _, ...seen } = channel;
    await tx
      .insert(paymentChannel)
      .values({
        ...seen,
        id: channelId,
        chainId,
        payer: config.payer,
        receiver: config.receiver,
        token: config.token,
        authorizer: config.receiverAuthorizer,
        withdrawDelay: config.withdrawDelay,
        salt: config.salt,
        lookAt: roundOf(after(LOOK_MS)),
        createdAt: now(),
        updatedAt: now(),
      })
      .onConflictDoNothing();
  }

  /** Returns false if the voucher is not the next one of its channel, or its money does not cover it. */
  async function add(tx: NodePgDatabase, { channelId, amount, signature }: VoucherPayment, price: bigint) {
    const { charged, collected, balance, withdrawing, unclaimedSince, lookAt } = paymentChannel;
    const [soon, later] = [roundOf(now()).toISOString(), roundOf(after(LOOK_MS)).toISOString()];
    const added = await tx
      .update(paymentChannel)
      .set({
        charged: amount,
        signature,
        updatedAt: now(),
        unclaimedSince: sql`coalesce(${unclaimedSince}, ${now().toISOString()}::timestamptz)`,
        lookAt: sql`least(${lookAt}, case when ${amount.toString()}::numeric - ${collected} >= ${COLLECT_AMOUNT.toString()}::numeric
          then ${soon}::timestamptz else ${later}::timestamptz end)`,
      })
      .where(
        and(
          eq(paymentChannel.id, channelId),
          eq(charged, amount - price),
          sql`${amount.toString()}::numeric <= ${balance} - ${withdrawing}`,
        ),
      )
      .returning({ id: paymentChannel.id });
    return added.length > 0;
  }
}

/**
 * Stores what was seen of a channel at a block, unless a newer one was seen; null without such a row. A withdrawal has the worker
 * look at once. Claims that the row knows nothing of, as after a restore, raise what counts as charged.
 */
export async function updateSeen(
  db: NodePgDatabase,
  channelId: Hex,
  { seenAt, ...seen }: SeenChannel & Pick<StoredChannel, "seenAt">,
): Promise<StoredChannel | null> {
  const { id, charged, signature, lookAt, seenBlock } = paymentChannel;
  const collected = sql`${seen.collected.toString()}::numeric`;
  const [row] = await db
    .update(paymentChannel)
    .set({
      ...seen,
      seenAt,
      charged: sql`greatest(${charged}, ${collected})`,
      signature: sql`case when ${charged} >= ${collected} then ${signature} end`,
      ...(seen.withdrawAskedAt === null
        ? {}
        : { lookAt: sql`least(${lookAt}, ${seenAt.toISOString()}::timestamptz)` }),
    })
    .where(and(eq(id, channelId), lte(seenBlock, seen.seenBlock)))
    .returning();
  return row ?? null;
}
