import type { Address } from "viem";
import { type Deployment, type FurtherRegistry, registriesByAddress } from "../chain/deployments.ts";
import { type Database, rowsInTime } from "../db/database.ts";
import { fromIndex } from "../db/index-snapshot.ts";
import type { currentScore } from "../db/tables/score.ts";
import type { ConfidenceLevel } from "../model/score/record.ts";

/** A wallet as searches show it. */
export type RankedWallet = Pick<
  typeof currentScore.$inferSelect,
  "wallet" | "ahsScore" | "grade" | "confidenceMicros" | "confidenceLevel"
>;

/** A wallet of the leaderboard, with what its columns show. */
export type ListedWallet = RankedWallet & {
  /** Null without a score. */
  readonly d1Score: number | null;
  readonly d2Score: number | null;
  /** The score of 30 days ago; null where the wallet had none. */
  readonly earlierScore: number | null;
  /** Last own call of any kind, signed payments and executions of a smart account included; null without one. */
  readonly lastActiveAt: Date | null;
};

/** A sort key, and the columns that it sorts by. */
const ORDERS = {
  score: "ahs_score",
  d1: "d1_score",
  d2: "d2_score",
  confidence: "confidence_micros",
  active: "active_at",
} as const;

export type ListOrder = keyof typeof ORDERS;

export const LIST_ORDERS: readonly ListOrder[] = ["score", "d1", "d2", "confidence", "active"];

export type ListQuery = {
  /** Wallets with a score from and to, both included; those without enough history; or those that are sanctioned. */
  readonly scope:
    | { readonly kind: "scored"; readonly from: number; readonly to: number }
    | { readonly kind: "unscored" }
    | { readonly kind: "sanctioned" };
  /** Null for any. */
  readonly confidence: ConfidenceLevel | null;
  readonly order: ListOrder;
  readonly isRising: boolean;
  readonly offset: number;
  readonly limit: number;
};

/** Wallets that a list reads and sorts at most: the best ones of its scope. */
export const MOST_LISTED = 5_000;

/** Wallets that a search by name or number found, each with the agent that led to it. */
export type FoundAgent = {
  readonly agentId: bigint;
  /** Null for the registry that the index follows. */
  readonly registry: FurtherRegistry | null;
  /** As its document has it, unchecked; null where none was read. */
  readonly name: string | null;
  /** Lower-case; null while the agent has none. */
  readonly wallet: Address | null;
  /** Null for a wallet that was never scored. */
  readonly ranked: RankedWallet | null;
};

/** One part of the agents that a search by name found. */
export type FoundNames = {
  readonly agents: readonly FoundAgent[];
  /** All that were found, MOST_NAMES at most; 0 for a part behind the last. */
  readonly total: number;
  /** True if more names than were read may match. */
  readonly isCut: boolean;
};

/** Names that a search reads at most. */
export const MOST_NAMES = 1_000;

/** Characters of an agent's name that the index `agent_document_name` has, in lower case. */
const INDEXED_NAME_CHARACTERS = 64;

const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** Searches and lists of the wallets of one chain, each bounded in the rows that it reads. */
export function createLeaderboardReader(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
  clock: { now(): Date },
) {
  const { chainId } = chain;
  const registries = registriesByAddress(chain);
  const agents = `"chain_${chainId}".agent`;
  const earlier = () => new Date(clock.now().getTime() - EARLIER_DAYS * 86_400_000);
  const foundOf = (row: FoundRow) => agentOf(row, registries);
  return {
    /**
     * A part of the wallets of a scope in an order; equal ones by falling score, falling confidence, address. Null values come last.
     * Of more than MOST_LISTED wallets the best ones are listed. Empty while the index has no tables.
     */
    async list({ scope, confidence, order, isRising, offset, limit }: ListQuery) {
      const [from, to] = scope.kind === "scored" ? [scope.from, scope.to] : [0, 0];
      const rows = await fromIndex(
        rowsInTime<ListedWallet>(db, {
          name: `leaderboard_${chainId}_${scope.kind}_${order}_${isRising ? "rising" : "falling"}`,
          text: listStatement(`"chain_${chainId}".wallet`, { scope: scope.kind, order, isRising }),
          values: [chainId, from, to, confidence, limit, offset, earlier()],
        }),
      );
      return rows ?? [];
    },
    /** Scored or insufficient wallets with this address prefix (lower-case), by address. */
    async byPrefix(prefix: string, limit: number): Promise<readonly RankedWallet[]> {
      const values = [chainId, prefix, limit];
      return rowsInTime<RankedWallet>(db, { name: "leaderboard_prefix", text: WITH_PREFIX, values });
    },
    /** The agents of this number, that of the followed registry first; none where the index has no tables. */
    async byAgentId(agentId: bigint): Promise<readonly FoundAgent[]> {
      const found = await fromIndex(
        rowsInTime<FoundRow>(db, {
          name: `leaderboard_agent_${chainId}`,
          text: agentStatement(agents),
          values: [chainId, agentId.toString(), [...registries.keys()]],
        }),
      );
      return (found ?? []).map(foundOf);
    },
    /**
     * Agents whose name contains a text, in any case: of the followed registry at most MOST_NAMES whose name begins so and MOST_NAMES
     * others, and as many of the other registries; those with the best scores first. A text without three letters or digits in a row is
     * only looked for at the beginning. None while the index has no tables.
     */
    async byName(part: string, { offset, limit }: { offset: number; limit: number }): Promise<FoundNames> {
      const start = [...part].slice(0, INDEXED_NAME_CHARACTERS).join("");
      // The trigram index serves only these; without it every name would be read.
      const inside = HAS_TRIGRAM.test(start) ? `_%${escaped(start)}%` : null;
      const found = await fromIndex(
        rowsInTime<FoundRow & Omit<FoundNames, "agents">>(db, {
          name: `leaderboard_name_${chainId}`,
          text: namesStatement(agents),
          values: [chainId, start, limit, offset, inside, [...registries.keys()]],
        }),
      );
      const rows = found ?? [];
      return { agents: rows.map(foundOf), total: rows[0]?.total ?? 0, isCut: rows[0]?.isCut ?? false };
    },
  };
}

const EARLIER_DAYS = 30;

const COLUMNS = `s.wallet, s.ahs_score as "ahsScore", s.grade, s.confidence_micros as "confidenceMicros",
  s.confidence_level as "confidenceLevel"`;

/** The rows that each scope reads, by an index of current scores; without an order where all of them are alike. */
const SCOPES = {
  scored: "ahs_score is not null and ahs_score between $2 and $3",
  unscored: "ahs_score is null and $2::int = $3::int",
  sanctioned: "ahs_score = 0 and sanctioned and $2::int = $3::int",
} as const;

const BY_RANK = "ahs_score desc, confidence_micros desc, wallet";

/** Sorting by score ends at the last row that is shown; other orders read MOST_LISTED wallets. */
function listStatement(
  wallets: string,
  {
    scope,
    order,
    isRising,
  }: Pick<ListQuery, "order" | "isRising"> & { readonly scope: ListQuery["scope"]["kind"] },
): string {
  const rank = isRising && order === "score" ? "ahs_score, confidence_micros, wallet desc" : BY_RANK;
  const sorted =
    order === "score" ? rank : `${ORDERS[order]} ${isRising ? "asc" : "desc"} nulls last, ${rank}`;
  return `
    with held as (
      select * from ahs.current_score
      where chain_id = $1 and ${SCOPES[scope]} ${scope === "scored" ? `order by ${rank}` : ""} limit ${MOST_LISTED}
    ), shown as materialized (
      select held.*, r.d1_score, r.d2_score, greatest(w.last_call_at, (
        select c.timestamp from ahs.own_call c where c.chain_id = $1 and c.wallet = held.wallet
        order by c.block desc, c.transaction_index desc, c.position desc limit 1
      )) as active_at
      from held join (select id, d1_score, d2_score from ahs.score) r on r.id = held.score_id
      left join (select address, last_call_at from ${wallets}) w on w.address = held.wallet
      where $4::text is null or confidence_level = $4
      order by ${sorted} limit $5 offset $6
    )
    select ${COLUMNS}, d1_score as "d1Score", d2_score as "d2Score", earlier_score as "earlierScore",
      to_timestamp(active_at::float8) as "lastActiveAt"
    from shown s left join lateral (
      select e.ahs_score as earlier_score from ahs.score e
      where e.chain_id = $1 and e.wallet = s.wallet and e.as_of_time <= $7 order by e.as_of_time desc, e.id desc limit 1
    ) earlier on true
    order by ${sorted}`;
}

/** In every collation, "g" sorts after all hexadecimal digits. */
const WITH_PREFIX = `
  select ${COLUMNS} from ahs.current_score s
  where chain_id = $1 and wallet >= $2 and wallet < $2 || 'g' order by wallet limit $3`;

function agentStatement(agents: string): string {
  return `
    with numbered as (
      select a.agent_id, null::text as registry, d.name, a.wallet from ${agents} a
      left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
      where a.agent_id = $2
      union all
      select agent_id, registry, name, wallet from ahs.registry_agent
      where chain_id = $1 and registry = any($3::text[]) and agent_id = $2
    )
    select n.agent_id::text as "agentId", n.registry, n.name, n.wallet as "agentWallet", ${COLUMNS}
    from numbered n
    left join ahs.current_score s on s.chain_id = $1 and s.wallet = n.wallet
    order by n.registry nulls first`;
}

/**
 * Reads a bounded number of names by each of two indexes, and sorts the best scores first: many agents with the name of a known
 * agent do not hide it. The bounds of the first are bytes, as in text_pattern_ops; no UTF-8 character sorts after the upper one.
 */
function namesStatement(agents: string): string {
  const name = `lower(left(d.name, ${INDEXED_NAME_CHARACTERS}))`;
  const part = "lower($2::text)";
  const isBeginning = `${name} ~>=~ ${part} and ${name} ~<~ (${part} || U&'\\+10FFFF')`;
  const isFull = (found: string) => `(select count(*) from ${found}) = ${MOST_NAMES}`;
  return `
    with beginning as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = $1 and ${isBeginning}
      order by d.chain_id, ${name} using ~<~, d.agent_id limit ${MOST_NAMES}
    ), containing as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = $1 and ${name} like lower($5::text) limit ${MOST_NAMES}
    ), other_beginning as materialized (
      select d.agent_id, d.registry, d.name, ${name} as folded, d.wallet from ahs.registry_agent d
      where d.chain_id = $1 and ${isBeginning}
      order by d.chain_id, ${name} using ~<~, d.registry, d.agent_id limit ${MOST_NAMES}
    ), other_containing as materialized (
      select d.agent_id, d.registry, d.name, ${name} as folded, d.wallet from ahs.registry_agent d
      where d.chain_id = $1 and ${name} like lower($5::text) limit ${MOST_NAMES}
    ), named as (
      select d.agent_id, null::text as registry, d.name, d.folded, a.wallet
      from (select * from beginning union select * from containing) d join ${agents} a on a.agent_id = d.agent_id
      union all
      select * from (select * from other_beginning union select * from other_containing) d
      where d.registry = any($6::text[])
    )
    select d.agent_id::text as "agentId", d.registry, d.name, d.wallet as "agentWallet", ${COLUMNS},
      (count(*) over ())::int as total,
      (${["beginning", "containing", "other_beginning", "other_containing"].map(isFull).join(" or ")}) as "isCut"
    from named d
    left join ahs.current_score s on s.chain_id = $1 and s.wallet = d.wallet
    order by s.ahs_score desc nulls last, s.confidence_micros desc nulls last, d.folded, d.registry nulls first, d.agent_id
    limit $3 offset $4`;
}

/** A text in which LIKE finds no pattern. */
function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}

type FoundRow = {
  readonly agentId: string;
  /** Lower-case. */
  readonly registry: Address | null;
  readonly name: string | null;
  readonly agentWallet: Address | null;
} & (RankedWallet | { readonly wallet: null });

function agentOf(row: FoundRow, registries: ReadonlyMap<Address, FurtherRegistry>): FoundAgent {
  const { name, agentWallet } = row;
  const registry = row.registry === null ? null : (registries.get(row.registry) ?? null);
  const found = { agentId: BigInt(row.agentId), registry, name, wallet: agentWallet };
  if (row.wallet === null) return { ...found, ranked: null };
  const { wallet, ahsScore, grade, confidenceMicros, confidenceLevel } = row;
  return { ...found, ranked: { wallet, ahsScore, grade, confidenceMicros, confidenceLevel } };
}
