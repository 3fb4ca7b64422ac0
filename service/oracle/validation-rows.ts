import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { lowerCase } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { startOfDay, turnOf } from "../db/day-budget.ts";
import { viewOf } from "../db/index-snapshot.ts";
import { insertRows } from "../db/insert-rows.ts";
import { senderTransaction, validationRequest } from "../db/tables/publish.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import type { FeedbackScore } from "./feedback-document.ts";
import { SCORE_COLUMNS } from "./feedback-rows.ts";

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
  const order = sql`v.block, v.request_hash`;
  const { rows } = await db.execute<DueRow>(sql`
    select v.request_hash as "requestHash", v.agent_id::text as "agentId", v.request_uri as "requestUri", v.attempts,
      extract(epoch from v.created_at)::float8 as "createdSeconds", a.owner, a.wallet, s.id is not null as "isScored",
      ${SCORE_COLUMNS}
    from ahs.validation_request v
    left join ${viewOf(chainId, "agent")} a on a.agent_id = v.agent_id
    left join ahs.current_score c on c.chain_id = v.chain_id and c.wallet = a.wallet
    left join ahs.score s on s.id = c.score_id
    where v.chain_id = ${chainId} and v.registry = ${lowerCase(registry)} and v.state = 'pending'
      and (v.not_before is null or v.not_before <= ${now.toISOString()}::timestamptz)
    order by v.attempts, greatest(${turnOf(sql`v.attempts, a.owner`, order)}, ${turnOf(sql`v.attempts, a.wallet`, order)}), random()
    limit ${limit}`);
  return rows.map(({ agentId, wallet, ahsScore, asOfSeconds, createdSeconds, ...row }) => ({
    ...row,
    createdAt: new Date(createdSeconds * 1_000),
    agentId: BigInt(agentId),
    wallet,
    score:
      wallet === null || ahsScore === null
        ? null
        : { ...row, wallet, ahsScore, asOfTime: new Date(asOfSeconds * 1_000) },
  }));
}

/** Answers of the UTC day by party. */
export async function readAnsweredParties(
  db: NodePgDatabase,
  { chainId, registry }: ValidationScope,
  now: Date,
): Promise<Map<Address, number>> {
  const { rows } = await db.execute<{ party: Address; answers: number }>(sql`
    select party, count(*)::int as answers from ahs.validation_request v, unnest(v.parties) as party
    where v.chain_id = ${chainId} and v.registry = ${lowerCase(registry)}
      and v.sent_at >= ${startOfDay(now).toISOString()}::timestamptz
    group by party`);
  return new Map(rows.map(({ party, answers }) => [party, answers]));
}

/** Accounts of a line of creators and first funders. */
const MOST_ANCESTORS = 8;

/**
 * Roots of owner clusters: of each wallet the last account of the line that created or first funded the one before. A line ends before a
 * public funder. A wallet of which no such fact is known is its own root.
 */
export async function readRoots(
  db: NodePgDatabase,
  {
    chainId,
    wallets,
    publicFunders,
  }: {
    readonly chainId: number;
    readonly wallets: readonly Address[];
    /** Lower-case. */
    readonly publicFunders: readonly Address[];
  },
): Promise<ReadonlyMap<Address, Address>> {
  const { rows } = await db.execute<{ wallet: Address; root: Address }>(sql`
    with recursive line (wallet, account, depth) as (
      select wallet, wallet, 0 from unnest(${sql.param(wallets)}::text[]) as asked (wallet)
      union all
      select line.wallet, coalesce(f.creator, f.first_funder), line.depth + 1
      from line join ahs.account_fact f on f.chain_id = ${chainId} and f.address = line.account
      where line.depth < ${MOST_ANCESTORS} and coalesce(f.creator, f.first_funder) <> f.address
        and coalesce(f.creator, f.first_funder) <> all(${sql.param(publicFunders)}::text[])
    )
    select distinct on (wallet) wallet, account as root from line order by wallet, depth desc`);
  return new Map(rows.map(({ wallet, root }) => [wallet, root]));
}

type DueRow = Omit<DueValidation, "agentId" | "score" | "createdAt"> &
  Omit<FeedbackScore, "wallet" | "ahsScore" | "asOfTime"> & {
    readonly agentId: string;
    readonly ahsScore: number | null;
    readonly asOfSeconds: number;
    readonly createdSeconds: number;
  };

/** Answers that were queued in the UTC day. */
export function countAnsweredToday(db: NodePgDatabase, scope: ValidationScope, now: Date): Promise<number> {
  return db.$count(
    validationRequest,
    and(ofScope(scope), sql`${validationRequest.sentAt} >= ${startOfDay(now).toISOString()}::timestamptz`),
  );
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
