import { and, desc, eq, inArray, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { lowerCase } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { startOfDay } from "../db/day-budget.ts";
import { viewOf } from "../db/index-snapshot.ts";
import { type FeedbackLabel, feedback, senderTransaction } from "../db/tables/publish.ts";
import { orderColumns } from "../sender/orders/order-kind.ts";
import type { FeedbackScore } from "./feedback-document.ts";
import type { FeedbackCandidate, Spent } from "./plan-feedback.ts";

/** Purpose under which feedback is sent, and its cost is counted. */
export const FEEDBACK_PURPOSE = "feedback";

/** Whose feedback is meant: of one key, in one registry. */
export type FeedbackScope = {
  readonly chainId: number;
  readonly registry: Address;
  readonly client: Address;
};

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
  const { id, agentId, kind, state } = feedback;
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
      state,
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

/** The members of a FeedbackScore from `ahs.score s`, but for the wallet; `asOfSeconds` for its time. */
export const SCORE_COLUMNS =
  sql.raw(`s.ahs_score as "ahsScore", s.d1_score as "d1Score", s.d2_score as "d2Score", s.grade,
  s.confidence_level as "confidenceLevel", s.sanctioned, s.model_version as "modelVersion",
  s.as_of_block::float8 as "asOfBlock", s.as_of_hash as "asOfHash",
  extract(epoch from s.as_of_time)::float8 as "asOfSeconds", s.inputs_hash as "inputsHash"`);

/** Candidates of one round; the gravest labels first, the plan orders them exactly. */
const MOST_CANDIDATES = 2_000;

/**
 * Agents whose feedback in the registry differs from the current score of their wallet, without those that have a call under way or
 * are quarantined; of agents without feedback, `perWallet` a day for each wallet and `perOwner` for each owner. Without an index it throws.
 */
export async function readFeedbackCandidates(
  db: NodePgDatabase,
  scope: FeedbackScope,
  { now, perWallet, perOwner }: { readonly now: Date; readonly perWallet: number; readonly perOwner: number },
): Promise<ScoredCandidate[]> {
  const { chainId } = scope;
  const midnight = startOfDay(now).toISOString();
  const { rows } = await db.execute<CandidateRow>(sql`
    with mine as (
      select f.*, t.state as transaction_state from ahs.feedback f
      join ahs.sender_transaction t on t.id = f.sender_transaction_id
      where f.chain_id = ${chainId} and f.registry = ${lowerCase(scope.registry)} and f.client = ${lowerCase(scope.client)}
        and f.state <> 'failed'
    ), today as (
      -- Refused ones count as well: a wallet's agents must not take the place of all others.
      select f.agent_id, f.wallet from ahs.feedback f
      where f.chain_id = ${chainId} and f.registry = ${lowerCase(scope.registry)} and f.client = ${lowerCase(scope.client)}
        and f.kind = 'give' and f.created_at >= ${midnight}::timestamptz
    ), of_agent as (
      select agent_id, count(*)::int as given from today group by agent_id
    ), lately as (
      select f.agent_id, count(*)::int as given from ahs.feedback f
      where f.chain_id = ${chainId} and f.registry = ${lowerCase(scope.registry)} and f.client = ${lowerCase(scope.client)}
        and f.kind = 'give' and f.created_at >= ${now.toISOString()}::timestamptz - interval '30 days'
      group by f.agent_id
    ), of_wallet as (
      select wallet, count(*)::int as given from today group by wallet
    ), of_owner as (
      select a.owner, count(*)::int as given from today join ${viewOf(chainId, "agent")} a on a.agent_id = today.agent_id group by a.owner
    ), latest as (
      select distinct on (agent_id) agent_id, kind, wallet, label, feedback_index, created_at,
        state = 'sent' or transaction_state <> 'mined' as under_way
      from mine order by agent_id, id desc
    ), differing as (
      select a.agent_id, a.owner, c.score_id, c.wallet as scored_wallet, l.kind, l.wallet, l.label, l.feedback_index, l.created_at,
        case when c.ahs_score is null then null when c.sanctioned then 'sanctioned' else c.grade end as wanted
      from ${viewOf(chainId, "agent")} a
      left join ahs.current_score c on c.chain_id = ${chainId} and c.wallet = a.wallet
      left join latest l on l.agent_id = a.agent_id
      where coalesce(not l.under_way, true) and not exists (
        select from ahs.quarantine q
        where q.chain_id = ${chainId} and q.kind = 'feedback' and q.subject = a.agent_id::text
          and q.next_try_at > ${now.toISOString()}::timestamptz)
    ), ranked as (
      select d.*, coalesce(a.given, 0) as given_to_agent, coalesce(w.given, 0) as given_to_wallet,
        coalesce(o.given, 0) as given_to_owner, coalesce(n.given, 0) as given_lately,
        row_number() over (partition by d.kind is null, d.scored_wallet order by coalesce(n.given, 0), d.agent_id) as place,
        row_number() over (partition by d.kind is null, d.owner order by coalesce(n.given, 0), d.agent_id) as place_of_owner
      from differing d
      left join of_agent a on a.agent_id = d.agent_id
      left join of_wallet w on w.wallet = d.scored_wallet
      left join of_owner o on o.owner = d.owner
      left join lately n on n.agent_id = d.agent_id
      where case when d.kind = 'give' then d.wanted is distinct from d.label or d.scored_wallet is distinct from d.wallet
        else d.wanted is not null end
    )
    select d.agent_id::text as "agentId", d.wanted, d.scored_wallet as "scoredWallet", d.kind, d.wallet, d.label,
      d.feedback_index::float8 as "feedbackIndex", d.created_at > ${now.toISOString()}::timestamptz - interval '1 day' as "isRecent",
      d.given_to_agent as "givenToAgent", d.given_to_wallet as "givenToWallet", d.given_lately as "givenLately",
      ${SCORE_COLUMNS}
    from ranked d left join ahs.score s on s.id = d.score_id
    where d.kind is not null
      or d.place + d.given_to_wallet <= ${perWallet} and d.place_of_owner + d.given_to_owner <= ${perOwner}
    -- What is on chain and no longer true comes before what is not there yet.
    order by d.kind is null, d.wanted is null desc, d.wanted desc, d.given_lately, d.agent_id
    limit ${MOST_CANDIDATES}`);
  return rows.map(candidateOf);
}

type CandidateRow = Omit<FeedbackScore, "wallet" | "asOfTime"> & {
  readonly agentId: string;
  readonly wanted: FeedbackLabel | null;
  readonly scoredWallet: Address | null;
  readonly kind: "give" | "revoke" | null;
  readonly wallet: Address | null;
  readonly label: FeedbackLabel | null;
  readonly feedbackIndex: number | null;
  readonly isRecent: boolean | null;
  readonly givenToAgent: number;
  readonly givenToWallet: number;
  readonly givenLately: number;
  readonly asOfSeconds: number;
};

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
  const { chainId } = scope;
  const { rows } = await db.execute<{ wei: string; underWay: number; replacing: number }>(sql`
    select
      (select coalesce(sum(coalesce(t.cost_wei, t.gas_limit * t.max_fee_per_gas, ${`${expectedWei}`}::numeric)), 0)::text
        from ahs.sender_transaction t
        where t.chain_id = ${chainId} and t.purpose = ${FEEDBACK_PURPOSE} and t.state <> 'failed'
          and t.created_at >= ${startOfDay(now).toISOString()}::timestamptz) as wei,
      count(*)::int as "underWay",
      (count(*) filter (where f.kind = 'revoke'))::int as replacing
    from ahs.feedback f
    where f.chain_id = ${chainId} and f.registry = ${lowerCase(scope.registry)} and f.client = ${lowerCase(scope.client)}
      and f.state = 'sent'`);
  const [row] = rows;
  if (row === undefined) throw new Error("sums of feedback were not read");
  return { spentWei: BigInt(row.wei), underWay: row.underWay, replacing: row.replacing };
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
