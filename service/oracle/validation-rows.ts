import { and, type Column, count, eq, gte, isNull, lte, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { lowerCase } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { startOfDay, turnOf } from "../db/day-budget.ts";
import { indexOf } from "../db/index-tables.ts";
import { insertRows } from "../db/insert-rows.ts";
import { senderTransaction, validationRequest } from "../db/tables/publish.ts";
import { currentScore, score } from "../db/tables/score.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import type { FeedbackScore } from "./feedback-document.ts";
import { rootsOf } from "./validation-rows.sql.ts";

/** Purpose under which answers are sent. */
export const VALIDATION_PURPOSE = "validation";

type ValidationScope = { readonly chainId: number; readonly registry: Address };

const ofScope = ({ chainId, registry }: ValidationScope) =>
  and(eq(validationRequest.chainId, chainId), eq(validationRequest.registry, lowerCase(registry)));

export type NewValidation = Pick<
  typeof validationRequest.$inferInsert,
  "requestHash" | "agentId" | "requestUri" | "state" | "reason" | "block"
>;

/** Stores new requests. One that is stored already stays as it is. */
export async function storeValidations(
  tx: NodePgDatabase,
  { chainId, registry }: ValidationScope,
  { requests, now }: { readonly requests: readonly NewValidation[]; readonly now: Date },
): Promise<void> {
  const scope = { chainId, registry: lowerCase(registry) };
  await insertRows(tx, {
    table: "validation_request",
    rows: requests.map((one) => ({ ...one, ...scope, attempts: 0, createdAt: now })),
    end: sql`on conflict do nothing`,
  });
}

/** A request that is to be answered now, with the agent as the index shows it. */
export type DueValidation = {
  readonly requestHash: Hex;
  readonly agentId: bigint;
  readonly requestUri: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly owner: Address | null;
  /** Lower-case. */
  readonly wallet: Address | null;
  /** Whether the wallet was ever scored, even as one with too little history. */
  readonly isScored: boolean;
  /** Null without a wallet, a score, or enough history. */
  readonly score: FeedbackScore | null;
};

/**
 * Pending requests that are due: those tried least, then in turns of owners and of wallets, the first ones of each by lot, so that neither
 * fresh owners nor earlier requests of one wallet delay the others.
 */
export async function readDueValidations(
  db: NodePgDatabase,
  { chainId, registry }: ValidationScope,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<DueValidation[]> {
  const { agent } = indexOf(chainId);
  const { requestHash, agentId, requestUri, attempts, createdAt, block, notBefore } = validationRequest;
  const { ahsScore, d1Score, d2Score, grade, confidenceLevel, sanctioned, modelVersion } = score;
  const { asOfBlock, asOfHash, asOfTime, inputsHash } = score;
  const outcome = {
    grade,
    confidenceLevel,
    sanctioned,
    modelVersion,
    asOfBlock,
    asOfHash,
    asOfTime,
  };
  const order = sql`${block}, ${requestHash}`;
  const turn = (of: Column) => turnOf(sql`${attempts}, ${of}`, order);
  const isCurrent = and(
    eq(currentScore.chainId, validationRequest.chainId),
    eq(currentScore.wallet, agent.wallet),
  );
  const rows = await db
    .select({
      request: { requestHash, agentId, requestUri, attempts, createdAt },
      owner: agent.owner,
      wallet: agent.wallet,
      // The builder takes a joined row for missing if its first column is null.
      score: { inputsHash, ahsScore, d1Score, d2Score, ...outcome },
    })
    .from(validationRequest)
    .leftJoin(agent, sql`${agent.agentId} = ${agentId}`)
    .leftJoin(currentScore, isCurrent)
    .leftJoin(score, eq(score.id, currentScore.scoreId))
    .where(
      and(
        ofScope({ chainId, registry }),
        eq(validationRequest.state, "pending"),
        or(isNull(notBefore), lte(notBefore, now)),
      ),
    )
    .orderBy(attempts, sql`greatest(${turn(agent.owner)}, ${turn(agent.wallet)})`, sql`random()`)
    .limit(limit);
  return rows.map(({ request, owner, wallet, score }) => ({
    ...request,
    owner,
    wallet,
    isScored: score !== null,
    score: scoreOf(wallet, score),
  }));
}

/** A score with enough history, as answers state it. */
function scoreOf(
  wallet: Address | null,
  stored: (Omit<FeedbackScore, "wallet" | "ahsScore"> & { readonly ahsScore: number | null }) | null,
): FeedbackScore | null {
  if (wallet === null || stored === null) return null;
  const { ahsScore } = stored;
  return ahsScore === null ? null : { ...stored, wallet, ahsScore };
}

/** Answers of the UTC day by party. */
export async function readAnsweredParties(
  db: NodePgDatabase,
  { chainId, registry }: ValidationScope,
  now: Date,
): Promise<Map<Address, number>> {
  const answers = await db
    .select({ party: sql<Address>`party`, answers: count() })
    .from(validationRequest)
    .innerJoin(sql`unnest(${validationRequest.parties}) as party`, sql`true`)
    .where(and(ofScope({ chainId, registry }), gte(validationRequest.sentAt, startOfDay(now))))
    .groupBy(sql`party`);
  return new Map(answers.map((row) => [row.party, row.answers]));
}

/**
 * Roots of owner clusters: of each wallet the last account of the line that created or first funded the one before. A line ends before a
 * public funder. A wallet of which no such fact is known is its own root.
 */
export async function readRoots(
  db: NodePgDatabase,
  of: Parameters<typeof rootsOf>[0],
): Promise<ReadonlyMap<Address, Address>> {
  const { rows } = await db.execute<{ wallet: Address; root: Address }>(rootsOf(of));
  return new Map(rows.map(({ wallet, root }) => [wallet, root]));
}

/** Answers that were queued in the UTC day. */
export function countAnsweredToday(db: NodePgDatabase, scope: ValidationScope, now: Date): Promise<number> {
  return db.$count(validationRequest, and(ofScope(scope), gte(validationRequest.sentAt, startOfDay(now))));
}

/** Requests whose answer is sent, with its transaction. */
export async function readSentValidations(db: NodePgDatabase, scope: ValidationScope) {
  const { requestHash, attempts, createdAt } = validationRequest;
  return db
    .select({ requestHash, attempts, createdAt, transaction: orderColumns })
    .from(validationRequest)
    .innerJoin(senderTransaction, eq(senderTransaction.id, validationRequest.senderTransactionId))
    .where(and(ofScope(scope), eq(validationRequest.state, "sent")));
}

/** Changes a request that is still in the given state; returns whether it was. */
export async function patchValidation(
  db: NodePgDatabase,
  key: ValidationScope & { readonly requestHash: Hex; readonly from: "pending" | "sent" },
  patch: Partial<typeof validationRequest.$inferInsert>,
): Promise<boolean> {
  const { requestHash, state } = validationRequest;
  const { rowCount } = await db
    .update(validationRequest)
    .set(patch)
    .where(and(ofScope(key), eq(requestHash, key.requestHash), eq(state, key.from)));
  return rowCount === 1;
}

/** The document behind an answer by its hash, as it was hashed; null for an unknown hash. */
export async function readValidationDocument(db: Database, documentHash: Hex): Promise<string | null> {
  const [row] = await db
    .select({ document: validationRequest.document })
    .from(validationRequest)
    .where(eq(validationRequest.documentHash, documentHash))
    .limit(1);
  return row?.document ?? null;
}
