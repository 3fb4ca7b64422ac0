/**
 * Bounded lists and searches of wallets, whose order is chosen or which read two indexes each: the builder neither materializes a
 * bounded table nor has the operators of text_pattern_ops.
 */
import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { indexOf } from "../db/index-tables.ts";
import type { ConfidenceLevel } from "../model/score/record.ts";

const COLUMNS = sql`s.wallet, s.ahs_score as "ahsScore", s.grade, s.confidence_micros as "confidenceMicros",
  s.confidence_level as "confidenceLevel"`;

type Scope =
  | { readonly kind: "scored"; readonly from: number; readonly to: number }
  | { readonly kind: "unscored" }
  | { readonly kind: "sanctioned" };

/** The rows that a scope reads, by an index of current scores; without an order where all of them are alike. */
function rowsOf(scope: Scope, rank: SQL): SQL {
  switch (scope.kind) {
    case "scored":
      return sql`ahs_score is not null and ahs_score between ${scope.from} and ${scope.to} order by ${rank}`;
    case "unscored":
      return sql`ahs_score is null`;
    case "sanctioned":
      return sql`ahs_score = 0 and sanctioned`;
  }
}

/** Sorting by score ends at the last row that is shown; other orders read `most` wallets. */
export function listedWallets(
  chainId: number,
  {
    scope,
    confidence,
    column,
    isRising,
    most,
    offset,
    limit,
    earlier,
  }: {
    readonly scope: Scope;
    readonly confidence: ConfidenceLevel | null;
    readonly column: "ahs_score" | "d1_score" | "d2_score" | "confidence_micros" | "active_at";
    readonly isRising: boolean;
    readonly most: number;
    readonly offset: number;
    readonly limit: number;
    /** Moment of the earlier score. */
    readonly earlier: Date;
  },
): SQL {
  const { wallet } = indexOf(chainId);
  const isByScore = column === "ahs_score";
  const rank =
    isRising && isByScore
      ? sql`ahs_score, confidence_micros, wallet desc`
      : sql`ahs_score desc, confidence_micros desc, wallet`;
  const direction = isRising ? sql`asc` : sql`desc`;
  const sorted = isByScore ? rank : sql`${sql.identifier(column)} ${direction} nulls last, ${rank}`;
  return sql`
    with held as (
      select * from ahs.current_score
      where chain_id = ${chainId} and ${rowsOf(scope, rank)} limit ${most}
    ), shown as materialized (
      select held.*, r.d1_score, r.d2_score, greatest(w.last_call_at, (
        select c.timestamp from ahs.own_call c where c.chain_id = ${chainId} and c.wallet = held.wallet
        order by c.block desc, c.transaction_index desc, c.position desc limit 1
      )) as active_at
      from held join (select id, d1_score, d2_score from ahs.score) r on r.id = held.score_id
      left join (select ${wallet.address}, ${wallet.lastCallAt} from ${wallet}) w on w.address = held.wallet
      where ${confidence}::text is null or confidence_level = ${confidence}
      order by ${sorted} limit ${limit} offset ${offset}
    )
    select ${COLUMNS}, d1_score as "d1Score", d2_score as "d2Score", earlier_score as "earlierScore",
      to_timestamp(active_at::float8) as "lastActiveAt"
    from shown s left join lateral (
      select e.ahs_score as earlier_score from ahs.score e
      where e.chain_id = ${chainId} and e.wallet = s.wallet and e.as_of_time <= ${earlier} order by e.as_of_time desc, e.id desc limit 1
    ) earlier on true
    order by ${sorted}`;
}

/** The agents of a number, that of the followed registry first. */
export function numberedAgents(
  chainId: number,
  { agentId, registries }: { readonly agentId: bigint; readonly registries: readonly string[] },
): SQL {
  const { agent } = indexOf(chainId);
  const a = alias(agent, "a");
  return sql`
    with numbered as (
      select ${a.agentId}, null::text as registry, d.name, ${a.wallet} from ${agent} ${a}
      left join ahs.agent_document d on d.chain_id = ${chainId} and d.agent_id = ${a.agentId}
      where ${a.agentId} = ${agentId}
      union all
      select agent_id, registry, name, wallet from ahs.registry_agent
      where chain_id = ${chainId} and registry = any(${sql.param(registries)}::text[]) and agent_id = ${agentId}
    )
    select n.agent_id::text as "agentId", n.registry, n.name, n.wallet as "agentWallet", ${COLUMNS}
    from numbered n
    left join ahs.current_score s on s.chain_id = ${chainId} and s.wallet = n.wallet
    order by n.registry nulls first`;
}

/** Characters of an agent's name that the index `agent_document_name` has, in lower case. */
export const INDEXED_NAME_CHARACTERS = 64;

/**
 * Reads at most `most` names by each of two indexes, and sorts the best scores first: many agents with the name of a known
 * agent do not hide it. The bounds of the first are bytes, as in text_pattern_ops; no UTF-8 character sorts after the upper one.
 */
export function namedAgents(
  chainId: number,
  {
    start,
    inside,
    registries,
    most,
    offset,
    limit,
  }: {
    readonly start: string;
    /** A pattern of LIKE; null where the name is only looked for at the beginning. */
    readonly inside: string | null;
    readonly registries: readonly string[];
    readonly most: number;
    readonly offset: number;
    readonly limit: number;
  },
): SQL {
  const { agent } = indexOf(chainId);
  const a = alias(agent, "a");
  // A constant of the index's expression, not a parameter.
  const name = sql.raw(`lower(left(d.name, ${INDEXED_NAME_CHARACTERS}))`);
  const part = sql`lower(${start}::text)`;
  const isBeginning = sql`${name} ~>=~ ${part} and ${name} ~<~ (${part} || U&'\\+10FFFF')`;
  const isFull = (found: string) => sql`(select count(*) from ${sql.identifier(found)}) = ${most}`;
  return sql`
    with beginning as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = ${chainId} and ${isBeginning}
      order by d.chain_id, ${name} using ~<~, d.agent_id limit ${most}
    ), containing as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = ${chainId} and ${name} like lower(${inside}::text) limit ${most}
    ), other_beginning as materialized (
      select d.agent_id, d.registry, d.name, ${name} as folded, d.wallet from ahs.registry_agent d
      where d.chain_id = ${chainId} and ${isBeginning}
      order by d.chain_id, ${name} using ~<~, d.registry, d.agent_id limit ${most}
    ), other_containing as materialized (
      select d.agent_id, d.registry, d.name, ${name} as folded, d.wallet from ahs.registry_agent d
      where d.chain_id = ${chainId} and ${name} like lower(${inside}::text) limit ${most}
    ), named as (
      select d.agent_id, null::text as registry, d.name, d.folded, ${a.wallet}
      from (select * from beginning union select * from containing) d join ${agent} ${a} on ${a.agentId} = d.agent_id
      union all
      select * from (select * from other_beginning union select * from other_containing) d
      where d.registry = any(${sql.param(registries)}::text[])
    )
    select d.agent_id::text as "agentId", d.registry, d.name, d.wallet as "agentWallet", ${COLUMNS},
      (count(*) over ())::int as total,
      (${isFull("beginning")} or ${isFull("containing")} or ${isFull("other_beginning")} or ${isFull("other_containing")}) as "isCut"
    from named d
    left join ahs.current_score s on s.chain_id = ${chainId} and s.wallet = d.wallet
    order by s.ahs_score desc nulls last, s.confidence_micros desc nulls last, d.folded, d.registry nulls first, d.agent_id
    limit ${limit} offset ${offset}`;
}
