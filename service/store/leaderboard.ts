import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import type { ConfidenceLevel, Grade } from "../score/record.ts";
import type { Database } from "./database.ts";
import { fromIndex } from "./from-index.ts";
import { QUERY_DEADLINE } from "./query-deadline.ts";

/** A wallet as lists show it. */
export type RankedWallet = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Null for a wallet without enough history, as is the grade. */
  readonly ahsScore: number | null;
  readonly grade: Grade | null;
  readonly confidenceMicros: number;
  readonly confidenceLevel: ConfidenceLevel;
};

/** The place of a wallet in the order of the leaderboard. */
export type RankPlace = {
  readonly ahsScore: number;
  readonly confidenceMicros: number;
  readonly wallet: Address;
};

export type RankQuery = {
  /** Scores from and to, both included. */
  readonly scores: readonly [number, number];
  /** Wallets behind this place; null from the first on. */
  readonly after: RankPlace | null;
  readonly limit: number;
};

/** Wallets that a search by name or number found, each with the agent that led to it. */
export type FoundAgent = {
  readonly agentId: bigint;
  /** As its document has it, unchecked; null where none was read. */
  readonly name: string | null;
  /** Lower-case; null while the agent has none. */
  readonly wallet: Address | null;
  /** Null for a wallet that was never scored. */
  readonly ranked: RankedWallet | null;
};

/** Characters of an agent's name that the index `agent_document_name` has, in lower case. */
const INDEXED_NAME_CHARACTERS = 64;

/** Searches and pages of the leaderboard, each by ranges of an index. */
export type LeaderboardReader = {
  /** Scored wallets by falling score, falling confidence, address. */
  page(query: RankQuery): Promise<readonly RankedWallet[]>;
  /** Wallets that were looked at, whose address begins so, lower-case, in the order of their addresses. */
  byPrefix(prefix: string, limit: number): Promise<readonly RankedWallet[]>;
  /** The agent of this number; null where the registry has none, or the index no tables. */
  byAgentId(agentId: bigint): Promise<FoundAgent | null>;
  /** Agents whose name begins so, in any case, by name; none while the index has no tables. */
  byName(beginning: string, limit: number): Promise<readonly FoundAgent[]>;
};

/** The leaderboard of one chain. */
export function createLeaderboardReader(db: Database, chainId: number): LeaderboardReader {
  const agents = `${escapeIdentifier(`chain_${chainId}`)}.agent`;
  const pool = db.$client;
  return {
    async page({ scores: [from, to], after, limit }) {
      const { rows } = await pool.query<RankedRow>(
        after === null
          ? {
              ...QUERY_DEADLINE,
              name: "leaderboard_first",
              text: FIRST_PAGE,
              values: [chainId, from, to, limit],
            }
          : {
              ...QUERY_DEADLINE,
              name: "leaderboard_after",
              text: PAGE_AFTER,
              values: [chainId, from, after.ahsScore, after.confidenceMicros, after.wallet, limit],
            },
      );
      return rows.map(rankedOf);
    },
    async byPrefix(prefix, limit) {
      const { rows } = await pool.query<RankedRow>({
        ...QUERY_DEADLINE,
        name: "leaderboard_prefix",
        // Behind every hexadecimal digit stands g, in the order of any collation.
        text: `select ${COLUMNS} from ahs.current_score s
               where chain_id = $1 and wallet >= $2 and wallet < $2 || 'g' order by wallet limit $3`,
        values: [chainId, prefix, limit],
      });
      return rows.map(rankedOf);
    },
    async byAgentId(agentId) {
      const found = await fromIndex(
        pool.query<FoundRow>({
          ...QUERY_DEADLINE,
          name: `leaderboard_agent_${chainId}`,
          text: `select a.agent_id::text, d.name, a.wallet as agent_wallet, ${COLUMNS}
                 from ${agents} a
                 left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
                 left join ahs.current_score s on s.chain_id = $1 and s.wallet = a.wallet
                 where a.agent_id = $2`,
          values: [chainId, agentId.toString()],
        }),
      );
      return found?.rows.map(foundOf)[0] ?? null;
    },
    async byName(beginning, limit) {
      const found = await fromIndex(
        pool.query<FoundRow>({
          ...QUERY_DEADLINE,
          name: `leaderboard_name_${chainId}`,
          text: namesStatement(agents),
          values: [chainId, beginning, limit],
        }),
      );
      return (found?.rows ?? []).map(foundOf);
    },
  };
}

const COLUMNS = "s.wallet, s.ahs_score, s.grade, s.confidence_micros, s.confidence_level";

const FIRST_PAGE = `
  select ${COLUMNS} from ahs.current_score s
  where chain_id = $1 and ahs_score is not null and ahs_score between $2 and $3
  order by ahs_score desc, confidence_micros desc, wallet limit $4`;

/** Three ranges of the index one after another: an order that falls and rises is no single one. */
const PAGE_AFTER = `
  select * from (
    (select ${COLUMNS} from ahs.current_score s
     where chain_id = $1 and ahs_score is not null and ahs_score = $3 and confidence_micros = $4 and wallet > $5
     order by wallet limit $6)
    union all
    (select ${COLUMNS} from ahs.current_score s
     where chain_id = $1 and ahs_score is not null and ahs_score = $3 and confidence_micros < $4
     order by confidence_micros desc, wallet limit $6)
    union all
    (select ${COLUMNS} from ahs.current_score s
     where chain_id = $1 and ahs_score is not null and ahs_score < $3 and ahs_score >= $2
     order by ahs_score desc, confidence_micros desc, wallet limit $6)
  ) as behind
  order by ahs_score desc, confidence_micros desc, wallet limit $6`;

/** Bounds of bytes, as text_pattern_ops orders them; no character of UTF-8 stands behind the upper one. */
function namesStatement(agents: string): string {
  const name = `lower(left(d.name, ${INDEXED_NAME_CHARACTERS}))`;
  const beginning = `lower(left($2::text, ${INDEXED_NAME_CHARACTERS}))`;
  return `
    with named as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = $1 and ${name} ~>=~ ${beginning} and ${name} ~<~ (${beginning} || U&'\\+10FFFF')
      order by d.chain_id, ${name} using ~<~ limit $3
    )
    select d.agent_id::text, d.name, a.wallet as agent_wallet, ${COLUMNS}
    from named d
    join ${agents} a on a.agent_id = d.agent_id
    left join ahs.current_score s on s.chain_id = $1 and s.wallet = a.wallet
    order by d.folded, d.agent_id`;
}

type RankedRow = {
  readonly wallet: Address;
  readonly ahs_score: number | null;
  readonly grade: Grade | null;
  readonly confidence_micros: number;
  readonly confidence_level: ConfidenceLevel;
};

type FoundRow = {
  readonly agent_id: string;
  readonly name: string | null;
  readonly agent_wallet: Address | null;
} & (RankedRow | { readonly wallet: null });

function rankedOf(row: RankedRow): RankedWallet {
  return {
    wallet: row.wallet,
    ahsScore: row.ahs_score,
    grade: row.grade,
    confidenceMicros: row.confidence_micros,
    confidenceLevel: row.confidence_level,
  };
}

function foundOf(row: FoundRow): FoundAgent {
  return {
    agentId: BigInt(row.agent_id),
    name: row.name,
    wallet: row.agent_wallet,
    ranked: row.wallet === null ? null : rankedOf(row),
  };
}
