import { and, asc, eq, gte, inArray, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { type EnrolmentState, enrolment } from "../db/tables/history.ts";
import { senderTransaction } from "../db/tables/publish.ts";
import { type SentTransaction, transactionColumns } from "./publish-intents.ts";

/** Purpose under which requests to follow a wallet are sent, and counted. */
export const ENROL_PURPOSE = "enrol";

/** An enrolment that is not settled, with what the index and the sender know of it. */
export type EnrolmentRow = Pick<
  typeof enrolment.$inferSelect,
  "wallet" | "state" | "attempts" | "notBefore" | "cause"
> & {
  /** Block from which the index follows the wallet; null while it does not. */
  readonly followedBlock: number | null;
  /** Whether the operator does not want it followed. */
  readonly isUnfollowed: boolean;
  /** The transaction that carries the request, once it is sent. */
  readonly transaction: SentTransaction | null;
};

/** Whether a call of the wallet's own is known, by the index or a source of history: a token or a router has none. */
export async function hasOwnCall(
  tx: NodePgDatabase,
  { chainId, wallet }: { readonly chainId: number; readonly wallet: string },
): Promise<boolean> {
  const { rows } = await tx.execute<{ known: boolean }>(
    sql`select exists (select from ahs.own_call where chain_id = ${chainId} and wallet = ${wallet}) as known`,
  );
  return rows[0]?.known === true;
}

/** Asks for a wallet (lower-case) that somebody pays for to be followed, unless it is, is not to be, or somebody paid for it before. */
export async function requestEnrolment(
  tx: NodePgDatabase,
  { chainId, wallet, now }: { readonly chainId: number; readonly wallet: string; readonly now: Date },
): Promise<void> {
  await tx.execute(sql`
    insert into ${enrolment} (chain_id, wallet, state, requested_at, cause)
    select ${chainId}, ${wallet}, 'pending', ${now.toISOString()}::timestamptz, 'paid'
    where not exists (select from ${walletView(chainId)} where address = ${wallet})
      and not exists (select from ahs.unfollowed where chain_id = ${chainId} and address = ${wallet})
    on conflict (chain_id, wallet) do update set cause = 'paid' where enrolment.cause <> 'paid'`);
}

/** Enrolments on their way, and of those that wait as many as given that are due, paid ones first, then the oldest; the former first. */
export async function readOpenEnrolments(
  tx: NodePgDatabase,
  chainId: number,
  due: { readonly now: Date; readonly limit: number },
): Promise<EnrolmentRow[]> {
  const columns = {
    wallet: enrolment.wallet,
    state: enrolment.state,
    attempts: enrolment.attempts,
    notBefore: enrolment.notBefore,
    cause: enrolment.cause,
    followedBlock: sql<number | null>`(
      select followed_block::float8 from ${walletView(chainId)} where address = ${enrolment.wallet})`,
    isUnfollowed: sql<boolean>`exists (
      select from ahs.unfollowed u where u.chain_id = ${chainId} and u.address = ${enrolment.wallet})`,
    transaction: transactionColumns,
  };
  const ofState = (state: EnrolmentState) =>
    tx
      .select(columns)
      .from(enrolment)
      .leftJoin(senderTransaction, eq(senderTransaction.id, enrolment.senderTransactionId))
      .where(
        and(
          eq(enrolment.chainId, chainId),
          eq(enrolment.state, state),
          or(isNull(enrolment.notBefore), lte(enrolment.notBefore, due.now)),
        ),
      )
      .orderBy(asc(enrolment.cause), asc(enrolment.requestedAt), asc(enrolment.wallet));
  const sent = await ofState("sent");
  return [...sent, ...(await ofState("pending").limit(due.limit))];
}

/** Whether a request waits that is due. */
export async function hasDueEnrolment(db: NodePgDatabase, chainId: number, now: Date): Promise<boolean> {
  const rows = await db
    .select({ wallet: enrolment.wallet })
    .from(enrolment)
    .where(
      and(
        eq(enrolment.chainId, chainId),
        eq(enrolment.state, "pending"),
        or(isNull(enrolment.notBefore), lte(enrolment.notBefore, now)),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

/** Requests of the UTC day that were handed to the sender, those left out that never went out. */
export async function countSentToday(tx: NodePgDatabase, chainId: number, now: Date): Promise<number> {
  const midnight = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  return tx.$count(
    senderTransaction,
    and(
      eq(senderTransaction.chainId, chainId),
      eq(senderTransaction.purpose, ENROL_PURPOSE),
      gte(senderTransaction.createdAt, midnight),
      ne(senderTransaction.state, "failed"),
    ),
  );
}

/** Enrolments of each state that is not settled. */
export async function countOpenEnrolments(
  db: NodePgDatabase,
  chainId: number,
): Promise<{ readonly pending: number; readonly sent: number }> {
  const rows = await db
    .select({ state: enrolment.state, count: sql<string>`count(*)` })
    .from(enrolment)
    .where(and(eq(enrolment.chainId, chainId), inArray(enrolment.state, ["pending", "sent"])))
    .groupBy(enrolment.state);
  const countOf = (state: EnrolmentState) => {
    const found = rows.find((row) => row.state === state);
    return found === undefined ? 0 : Number(found.count);
  };
  return { pending: countOf("pending"), sent: countOf("sent") };
}

export type EnrolmentPatch = {
  readonly state: EnrolmentState;
  readonly senderTransactionId?: number;
  readonly attempts?: number;
  readonly notBefore?: Date | null;
  readonly detail?: string | null;
};

/** Changes an enrolment; throws when it is gone or no longer in the state it was read in. */
export async function patchEnrolment(
  tx: NodePgDatabase,
  key: { readonly chainId: number; readonly wallet: Address; readonly from: EnrolmentState },
  patch: EnrolmentPatch,
): Promise<void> {
  const changed = await tx
    .update(enrolment)
    .set(patch)
    .where(
      and(
        eq(enrolment.chainId, key.chainId),
        eq(enrolment.wallet, key.wallet),
        eq(enrolment.state, key.from),
      ),
    )
    .returning({ wallet: enrolment.wallet });
  if (changed.length === 0) throw new Error(`the enrolment of ${key.wallet} is no longer ${key.from}`);
}

function walletView(chainId: number) {
  return sql`${sql.identifier(`chain_${chainId}`)}.${sql.identifier("wallet")}`;
}
