import { and, desc, eq, gte, inArray, ne, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import { lowerCase } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { startOfDay } from "../db/day-budget.ts";
import { feedback, senderTransaction } from "../db/tables/publish.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import type { FeedbackScore } from "./feedback-document.ts";
import { type CandidateRow, type FeedbackScope, feedbackCandidates } from "./feedback-rows.sql.ts";
import type { FeedbackCandidate, Spent } from "./plan-feedback.ts";

/** Purpose under which feedback is sent, and its cost is counted. */
export const FEEDBACK_PURPOSE = "feedback";

const ofScope = ({ chainId, registry, client }: FeedbackScope) =>
  and(
    eq(feedback.chainId, chainId),
    eq(feedback.registry, lowerCase(registry)),
    eq(feedback.client, lowerCase(client)),
  );

/** A call that is not settled, with its transaction. */
export type FeedbackRow = Awaited<ReturnType<typeof readUnsettledFeedback>>[number];

/** Calls that are sent, and confirmed ones whose transaction failed after a reorg. */
export async function readUnsettledFeedback(db: NodePgDatabase, scope: FeedbackScope) {
  const { id, agentId, kind } = feedback;
  const failed = and(
    eq(senderTransaction.chainId, scope.chainId),
    eq(senderTransaction.purpose, FEEDBACK_PURPOSE),
    inArray(senderTransaction.state, ["failed", "reverted"]),
    eq(feedback.state, "confirmed"),
  );
  return db
    .select({
      id,
      agentId,
      kind,
      transaction: orderColumns,
    })
    .from(feedback)
    .innerJoin(senderTransaction, eq(senderTransaction.id, feedback.senderTransactionId))
    .where(and(ofScope(scope), sql`(${feedback.state} = 'sent' or ${failed})`));
}

export async function patchFeedback(
  db: NodePgDatabase,
  id: number,
  patch: Partial<
    Pick<typeof feedback.$inferInsert, "state" | "feedbackIndex" | "error" | "senderTransactionId">
  >,
): Promise<void> {
  await db.update(feedback).set(patch).where(eq(feedback.id, id));
}

/** Writes the row of a call and returns its id; its transaction is named next. */
export async function insertFeedback(
  db: NodePgDatabase,
  row: Omit<typeof feedback.$inferInsert, "state" | "senderTransactionId">,
): Promise<number> {
  const scope = { registry: lowerCase(row.registry), client: lowerCase(row.client) };
  const [inserted] = await db
    .insert(feedback)
    .values({ ...row, ...scope, state: "sent", senderTransactionId: 0 })
    .returning({ id: feedback.id });
  if (inserted === undefined) throw new Error(`feedback for agent ${row.agentId} was not stored`);
  return inserted.id;
}

/** Marks the newest feedback for an agent as gone: the registry does not hold it. */
export async function forgetEntry(db: NodePgDatabase, scope: FeedbackScope, agentId: bigint): Promise<void> {
  const isGiven = and(
    ofScope(scope),
    eq(feedback.agentId, agentId),
    eq(feedback.kind, "give"),
    eq(feedback.state, "confirmed"),
  );
  const newest = db
    .select({ id: sql`max(${feedback.id})` })
    .from(feedback)
    .where(isGiven);
  await db
    .update(feedback)
    .set({ state: "failed", error: "taken back by another than this service" })
    .where(inArray(feedback.id, newest));
}

/** A candidate with the score that is to be left; null where none is. */
export type ScoredCandidate = FeedbackCandidate & { readonly score: FeedbackScore | null };

/**
 * Agents whose feedback in the registry differs from the current score of their wallet, without those that have a call under way or
 * are quarantined; of agents without feedback, `perWallet` a day for each wallet and `perOwner` for each owner. Without an index it throws.
 */
export async function readFeedbackCandidates(
  db: NodePgDatabase,
  scope: FeedbackScope,
  bounds: { readonly now: Date; readonly perWallet: number; readonly perOwner: number },
): Promise<ScoredCandidate[]> {
  const { rows } = await db.execute<CandidateRow>(feedbackCandidates(scope, bounds));
  return rows.map(candidateOf);
}

function candidateOf({ asOfSeconds, ...row }: CandidateRow): ScoredCandidate {
  const { kind, wallet, label, feedbackIndex: index, scoredWallet, wanted } = row;
  const isWanted = wanted !== null && scoredWallet !== null;
  return {
    agentId: BigInt(row.agentId),
    wanted: isWanted ? { wallet: scoredWallet, label: wanted } : null,
    entry:
      kind === "give" && index !== null && wallet !== null && label !== null
        ? { index, wallet, label }
        : null,
    revoked: kind === "revoke" && row.isRecent === true && wallet === scoredWallet ? label : null,
    givenToday: { agent: row.givenToAgent, wallet: row.givenToWallet },
    givenLately: row.givenLately,
    score: isWanted
      ? {
          wallet: scoredWallet,
          ahsScore: row.ahsScore,
          d1Score: row.d1Score,
          d2Score: row.d2Score,
          grade: row.grade,
          confidenceLevel: row.confidenceLevel,
          sanctioned: row.sanctioned,
          modelVersion: row.modelVersion,
          asOfBlock: row.asOfBlock,
          asOfHash: row.asOfHash,
          asOfTime: new Date(asOfSeconds * 1_000),
          inputsHash: row.inputsHash,
        }
      : null,
  };
}

/** Cost of the UTC day's calls of all keys: paid where mined, the most under way, expected where neither is known yet. */
export async function readFeedbackSpending(
  db: NodePgDatabase,
  scope: FeedbackScope,
  { now, expectedWei }: { readonly now: Date; readonly expectedWei: bigint },
): Promise<Omit<Spent, "weiPerGas">> {
  const { costWei, gasLimit, maxFeePerGas, state, purpose, createdAt } = senderTransaction;
  const expected = sql`coalesce(${costWei}, ${gasLimit} * ${maxFeePerGas}, ${expectedWei}::numeric)`;
  const isOfDay = and(
    eq(senderTransaction.chainId, scope.chainId),
    eq(purpose, FEEDBACK_PURPOSE),
    ne(state, "failed"),
    gte(createdAt, startOfDay(now)),
  );
  const [spent] = await db
    .select({ wei: sql<string | null>`sum(${expected})` })
    .from(senderTransaction)
    .where(isOfDay);
  const isSent = and(ofScope(scope), eq(feedback.state, "sent"));
  const [underWay, replacing] = await Promise.all([
    db.$count(feedback, isSent),
    db.$count(feedback, and(isSent, eq(feedback.kind, "revoke"))),
  ]);
  return { spentWei: BigInt(spent?.wei ?? 0), underWay, replacing };
}

/** The document behind feedback by its hash, as it was hashed; null for an unknown hash. */
export async function readFeedbackDocument(db: Database, documentHash: Hex): Promise<string | null> {
  const [row] = await db
    .select({ document: feedback.document })
    .from(feedback)
    .where(eq(feedback.documentHash, documentHash))
    .orderBy(desc(feedback.id))
    .limit(1);
  return row?.document ?? null;
}
