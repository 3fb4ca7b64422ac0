/** Agents whose feedback is to change, ranked in turns of wallets and owners over all agents: the builder has no chain of ranked tables. */
import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { lowerCase } from "../db/columns.ts";
import { startOfDay } from "../db/day-budget.ts";
import { indexOf } from "../db/index-tables.ts";
import type { FeedbackLabel } from "../db/tables/publish.ts";
import type { FeedbackScore } from "./feedback-document.ts";

/** Whose feedback is meant: of one key, in one registry. */
export type FeedbackScope = {
  readonly chainId: number;
  readonly registry: Address;
  readonly client: Address;
};

/** The members of a FeedbackScore from `ahs.score s`, but for the wallet; `asOfSeconds` for its time. */
const SCORE_COLUMNS =
  sql.raw(`s.ahs_score as "ahsScore", s.d1_score as "d1Score", s.d2_score as "d2Score", s.grade,
  s.confidence_level as "confidenceLevel", s.sanctioned, s.model_version as "modelVersion",
  s.as_of_block::float8 as "asOfBlock", s.as_of_hash as "asOfHash",
  extract(epoch from s.as_of_time)::float8 as "asOfSeconds", s.inputs_hash as "inputsHash"`);

/** Candidates of one round; the gravest labels first, the plan orders them exactly. */
const MOST_CANDIDATES = 2_000;

export type CandidateRow = Omit<FeedbackScore, "wallet" | "asOfTime"> & {
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

export function feedbackCandidates(
  scope: FeedbackScope,
  { now, perWallet, perOwner }: { readonly now: Date; readonly perWallet: number; readonly perOwner: number },
): SQL {
  const { chainId } = scope;
  const { agent } = indexOf(chainId);
  const a = alias(agent, "a");
  const registry = lowerCase(scope.registry);
  const client = lowerCase(scope.client);
  const midnight = startOfDay(now).toISOString();
  return sql`
    with mine as (
      select f.*, t.state as transaction_state from ahs.feedback f
      join ahs.sender_transaction t on t.id = f.sender_transaction_id
      where f.chain_id = ${chainId} and f.registry = ${registry} and f.client = ${client}
        and f.state <> 'failed'
    ), today as (
      -- Refused ones count as well: a wallet's agents must not take the place of all others.
      select f.agent_id, f.wallet from ahs.feedback f
      where f.chain_id = ${chainId} and f.registry = ${registry} and f.client = ${client}
        and f.kind = 'give' and f.created_at >= ${midnight}::timestamptz
    ), of_agent as (
      select agent_id, count(*)::int as given from today group by agent_id
    ), lately as (
      select f.agent_id, count(*)::int as given from ahs.feedback f
      where f.chain_id = ${chainId} and f.registry = ${registry} and f.client = ${client}
        and f.kind = 'give' and f.created_at >= ${now.toISOString()}::timestamptz - interval '30 days'
      group by f.agent_id
    ), of_wallet as (
      select wallet, count(*)::int as given from today group by wallet
    ), of_owner as (
      select ${a.owner}, count(*)::int as given from today join ${agent} ${a} on ${a.agentId} = today.agent_id group by ${a.owner}
    ), latest as (
      select distinct on (agent_id) agent_id, kind, wallet, label, feedback_index, created_at,
        state = 'sent' or transaction_state <> 'mined' as under_way
      from mine order by agent_id, id desc
    ), differing as (
      select ${a.agentId}, ${a.owner}, c.score_id, c.wallet as scored_wallet, l.kind, l.wallet, l.label, l.feedback_index, l.created_at,
        case when c.ahs_score is null then null when c.sanctioned then 'sanctioned' else c.grade end as wanted
      from ${agent} ${a}
      left join ahs.current_score c on c.chain_id = ${chainId} and c.wallet = ${a.wallet}
      left join latest l on l.agent_id = ${a.agentId}
      where coalesce(not l.under_way, true) and not exists (
        select from ahs.quarantine q
        where q.chain_id = ${chainId} and q.kind = 'feedback' and q.subject = ${a.agentId}::text
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
    limit ${MOST_CANDIDATES}`;
}
