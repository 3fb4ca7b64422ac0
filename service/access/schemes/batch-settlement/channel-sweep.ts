import { and, asc, eq, inArray, isNull, lte, sql } from "drizzle-orm";
import { type Address, concatHex, type Hex, keccak256, numberToHex } from "viem";
import { underDeadline } from "../../../db/database.ts";
import { paymentChannel } from "../../../db/tables/payment.ts";
import { stepAfter, stepOf } from "../../../sender/orders/fate.ts";
import type { Step } from "../../../sender/orders/order-kind.ts";
import { enqueueSettlement, queueCall, readSettlement } from "../../../sender/payments-sender.ts";
import type { SweepDeps } from "../scheme.ts";
import { type Claimable, claimCall, readChannel, readReceiver, settleCall } from "./channel-contract.ts";
import { COLLECT_AMOUNT, coverOf, LOOK_MS, roundOf, type StoredChannel, updateSeen } from "./channels.ts";

/** Channels per pass: payments are reconciled between two. */
const BATCH = 25;
/** Vouchers per transaction: some 20,000 gas each and 45,000 for all, within SETTLEMENT_MAX_GAS. */
const VOUCHERS_PER_ORDER = 5;
/** Gas of an order and of paying out by which its cost is judged. */
const ORDER_GAS = { once: 100_000n, each: 20_000n } as const;
/** Charges are claimed after this time, however little they are. */
const COLLECT_AGE_MS = 43_200_000;
/** Pause while an order is under way, and after a failure. */
const ORDERED_MS = 2_000;
const FAILED_MS = 300_000;
/** Rows of channels without money go after a day, others after 90 days without a charge. */
const EMPTY_MS = 86_400_000;
const IDLE_MS = 90 * 86_400_000;

/**
 * Claims what vouchers are worth, and has it paid out. A channel has one order at a time, queued in the transaction that names it in the
 * channel's row; its end is read from a final block. A channel that fails is logged and looked at later.
 */
export async function sweepChannels(deps: SweepDeps): Promise<void> {
  const { db, chainId, chain, logger, now } = deps;
  const due = await underDeadline(db)
    .select()
    .from(paymentChannel)
    .where(and(eq(paymentChannel.chainId, chainId), lte(paymentChannel.lookAt, now())))
    .orderBy(asc(paymentChannel.lookAt))
    .limit(BATCH);
  if (due.length === 0) return;
  const final = await chain.finalBlock();
  const claimable: StoredChannel[] = [];
  for (const row of due) {
    const looked = await lookAt(deps, row, final.number).catch((error: unknown) => {
      logger.error({ err: error, channel: row.id }, "payment channel not looked at: looking again later");
      return { claim: null, nextMs: FAILED_MS };
    });
    if (looked.claim !== null) claimable.push(looked.claim);
    await lookAgain(deps, row, looked.nextMs);
  }
  for (const rows of ordersOf(claimable)) {
    await orderIfWorth(deps, rows).catch((error: unknown) => {
      logger.error(
        { err: error, channels: rows.map(({ id }) => id) },
        "vouchers not claimed: trying again later",
      );
    });
  }
  await payOut(deps, due, final.number);
}

/** A charge that was made meanwhile is looked at as soon as any. */
async function lookAgain({ db, now }: SweepDeps, { id }: StoredChannel, afterMs: number): Promise<void> {
  const at = (ms: number) => {
    const next = new Date(now().getTime() + ms);
    return sql`${(ms < LOOK_MS ? next : roundOf(next)).toISOString()}::timestamptz`;
  };
  const { charged, collected, lookAt } = paymentChannel;
  await underDeadline(db)
    .update(paymentChannel)
    .set({
      lookAt: sql`case when ${charged} > ${collected} then least(${at(afterMs)}, ${at(LOOK_MS)}) else ${at(afterMs)} end`,
    })
    .where(and(eq(paymentChannel.id, id), lte(lookAt, now())));
}

type Looked = {
  /** The channel as it is to be claimed now; null if not now. */
  readonly claim: StoredChannel | null;
  readonly nextMs: number;
};

async function lookAt(deps: SweepDeps, known: StoredChannel, finalBlock: bigint): Promise<Looked> {
  const { db, client, now } = deps;
  const { id } = known;
  const step = await stepOfOrder(deps, known);
  if (step?.kind === "wait") return { claim: null, nextMs: ORDERED_MS };
  const seen = await readChannel(client, id);
  const final = await readChannel(client, id, finalBlock);
  let row = await updateSeen(underDeadline(db), id, { ...seen, seenAt: now() });
  // A request has seen a newer block, or the row is gone.
  if (row === null) return { claim: null, nextMs: ORDERED_MS };
  if (step !== null) {
    const isClaimed = row.collectAsked === null || final.collected >= row.collectAsked;
    // The node may be behind that of the sender.
    if (!isClaimed && step.kind !== "again") return { claim: null, nextMs: ORDERED_MS };
    row = await endOrder(deps, row, isClaimed);
    if (row === null) return { claim: null, nextMs: ORDERED_MS };
    if (!isClaimed && step.kind === "again")
      return { claim: null, nextMs: step.at.getTime() - now().getTime() };
  }
  if (row.charged <= row.collected) {
    if (row.charged <= final.collected) await dropIfIdle(deps, row);
    return { claim: null, nextMs: EMPTY_MS };
  }
  if (row.balance <= row.collected) {
    if (final.balance < row.charged) reportLost(deps, row);
    return { claim: null, nextMs: LOOK_MS };
  }
  return isDue(row, now()) ? { claim: row, nextMs: ORDERED_MS } : { claim: null, nextMs: LOOK_MS };
}

/**
 * A withdrawal that would take what was charged comes first. Any other leaves it there: a payer who announces a little would have each
 * call claimed by itself, for more gas than it pays.
 */
function isDue(row: StoredChannel, now: Date): boolean {
  const { charged, collected, unclaimedSince } = row;
  if (charged > coverOf(row) || charged - collected >= COLLECT_AMOUNT) return true;
  return unclaimedSince !== null && now.getTime() - unclaimedSince.getTime() >= COLLECT_AGE_MS;
}

/** Claims: an order counts in a final block, and its pauses grow with the failures of the channel. */
const CLAIMS = {
  done: "final block",
  isRepeatable: false,
  retryMs: { first: 2 * FAILED_MS, longest: 16 * FAILED_MS },
} as const;

/** Step of a channel's order; null without one. */
async function stepOfOrder({ db, now }: SweepDeps, row: StoredChannel): Promise<Step | null> {
  if (row.collectOrder === null) return null;
  const transaction = await readSettlement(db, row.collectOrder);
  const failures = row.collectFailures;
  if (transaction === null) {
    const failure = { kind: "gone", cause: "its order is gone", revertData: null };
    return stepAfter(CLAIMS, { row, failures, failure }, now());
  }
  return stepOf(CLAIMS, { row, seen: { transaction, failures } }, { now: now(), indexedBlock: 0 });
}

/** The row of the channel names its order no more; null if it did not name it. */
async function endOrder(
  { db, metrics, now }: SweepDeps,
  { id, collectOrder, collectAsked }: StoredChannel,
  isClaimed: boolean,
): Promise<StoredChannel | null> {
  const { charged, collectFailures, unclaimedSince } = paymentChannel;
  const [ended] = await underDeadline(db)
    .update(paymentChannel)
    .set({
      collectOrder: null,
      collectAsked: null,
      updatedAt: now(),
      collectFailures: isClaimed ? 0 : sql`${collectFailures} + 1`,
      unclaimedSince: isClaimed
        ? sql`case when ${charged} > ${String(collectAsked ?? 0n)}::numeric then ${now().toISOString()}::timestamptz end`
        : unclaimedSince,
    })
    .where(and(eq(paymentChannel.id, id), eq(paymentChannel.collectOrder, collectOrder ?? 0)))
    .returning();
  metrics.count(isClaimed ? "collected" : "collect_failed");
  return ended ?? null;
}

/** Lost to a reorganisation of the deposit, or to a withdrawal that the worker saw too late. */
function reportLost({ metrics, logger }: SweepDeps, { id, payer, charged, balance }: StoredChannel) {
  metrics.count("lost");
  logger.error(
    { channel: id, payer, charged: String(charged), balance: String(balance) },
    "charged by vouchers that the channel's money does not cover",
  );
}

/** The chain keeps the claimed amount, so that a new row goes on where this one ended. */
async function dropIfIdle({ db, now }: SweepDeps, row: StoredChannel): Promise<void> {
  const quietMs = now().getTime() - row.updatedAt.getTime();
  if (quietMs < (row.balance <= row.collected ? EMPTY_MS : IDLE_MS)) return;
  await underDeadline(db)
    .delete(paymentChannel)
    .where(
      and(
        eq(paymentChannel.id, row.id),
        eq(paymentChannel.charged, row.charged),
        isNull(paymentChannel.collectOrder),
      ),
    );
}

/** Groups channels into transactions: by account, and one whose order failed by itself, so that it spoils no other. */
function ordersOf(channels: readonly StoredChannel[]): readonly (readonly StoredChannel[])[] {
  const groups = Map.groupBy(channels, ({ id, authorizer, collectFailures }) =>
    collectFailures === 0 ? authorizer : id,
  );
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / VOUCHERS_PER_ORDER) }, (_, index) =>
      group.slice(index * VOUCHERS_PER_ORDER, (index + 1) * VOUCHERS_PER_ORDER),
    ),
  );
}

/** Waits for lower fees where an order costs too much of what it claims. */
async function orderIfWorth(deps: SweepDeps, rows: readonly StoredChannel[]): Promise<void> {
  const { db, spending, metrics, now } = deps;
  const gas = ORDER_GAS.once + ORDER_GAS.each * BigInt(rows.length);
  const priceMicroUsd = rows.reduce((sum, { charged, collected }) => sum + charged - collected, 0n);
  if (((await spending?.refusal({ gas, priceMicroUsd, payment: null })) ?? null) === null)
    return orderClaim(deps, rows);
  metrics.count("too_dear");
  const ids = rows.map(({ id }) => id);
  await underDeadline(db)
    .update(paymentChannel)
    .set({ lookAt: new Date(now().getTime() + FAILED_MS) })
    .where(inArray(paymentChannel.id, ids));
}

/** Queues the order, and names it in the rows of its channels, or neither. */
async function orderClaim({ db, chainId, now }: SweepDeps, rows: readonly StoredChannel[]): Promise<void> {
  const vouchers = rows.map(claimableOf);
  const [first] = rows;
  if (first === undefined) return;
  const { authorizer, receiver, token } = first;
  const call = claimCall(vouchers);
  await db.transaction(async (tx) => {
    const ids = rows.map(({ id }) => id);
    const free = await tx
      .select({ id: paymentChannel.id })
      .from(paymentChannel)
      .where(and(inArray(paymentChannel.id, ids), isNull(paymentChannel.collectOrder)))
      .orderBy(asc(paymentChannel.id))
      .for("update");
    if (free.length !== rows.length) return;
    // A repeated claim is another order: the row says whether one is under way.
    const nonce = keccak256(concatHex([call.data, numberToHex(now().getTime(), { size: 32 })]));
    const order = await queueCall(
      tx,
      { chainId, sender: authorizer },
      {
        authorization: { scheme: "batch-settlement", asset: token, payer: receiver, nonce, step: "collect" },
        ...call,
      },
    );
    for (const [index, { id }] of rows.entries()) {
      await tx
        .update(paymentChannel)
        .set({ collectOrder: order, collectAsked: vouchers[index]?.amount ?? null })
        .where(eq(paymentChannel.id, id));
    }
  });
}

function claimableOf({ charged, balance, signature, ...row }: StoredChannel): Claimable {
  if (signature === null) throw new Error(`channel ${row.id} was charged without a voucher`);
  const { payer, receiver, authorizer: receiverAuthorizer, token, withdrawDelay, salt } = row;
  return {
    config: { payer, payerAuthorizer: payer, receiver, receiverAuthorizer, token, withdrawDelay, salt },
    voucherAmount: charged,
    signature,
    amount: charged < balance ? charged : balance,
  };
}

/** Pays out what a final block shows as claimed, once for each total. */
async function payOut(
  { db, chainId, client, logger }: SweepDeps,
  rows: readonly StoredChannel[],
  finalBlock: bigint,
): Promise<void> {
  const receivers = Map.groupBy(
    rows,
    ({ authorizer, receiver, token }) => `${authorizer} ${receiver} ${token}`,
  );
  for (const [first] of receivers.values()) {
    if (first === undefined) continue;
    try {
      await payOutTo({ db, chainId, client }, first, finalBlock);
    } catch (error) {
      logger.error(
        { err: error, receiver: first.receiver },
        "claimed money not paid out: trying again later",
      );
    }
  }
}

async function payOutTo(
  { db, chainId, client }: Pick<SweepDeps, "db" | "chainId" | "client">,
  of: { readonly authorizer: Address; readonly receiver: Address; readonly token: Address },
  finalBlock: bigint,
): Promise<void> {
  const { claimed } = await readReceiver(client, of, finalBlock);
  const { settled } = await readReceiver(client, of);
  if (claimed <= settled) return;
  const nonce: Hex = numberToHex(claimed, { size: 32 });
  await enqueueSettlement(
    db,
    { chainId, sender: of.authorizer },
    {
      authorization: {
        scheme: "batch-settlement",
        asset: of.token,
        payer: of.receiver,
        nonce,
        step: "settle",
      },
      ...settleCall(of.receiver, of.token),
    },
  );
}
