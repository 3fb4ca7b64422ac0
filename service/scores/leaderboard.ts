import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import { fromIndex } from "../db/index-snapshot.ts";
import type { currentScore } from "../db/tables/score.ts";

/** A wallet as lists show it. */
export type RankedWallet = Pick<
  typeof currentScore.$inferSelect,
  "wallet" | "ahsScore" | "grade" | "confidenceMicros" | "confidenceLevel"
>;

/** The place of a wallet in the order of the leaderboard. */
export type RankPlace = Pick<RankedWallet, "confidenceMicros" | "wallet"> & { readonly ahsScore: number };

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

/** Searches and pages of the leaderboard of one chain, each by ranges of an index. */
export function createLeaderboardReader(db: Database, chainId: number) {
  const agents = `"chain_${chainId}".agent`;
  return {
    /** Scored wallets by falling score, falling confidence, address. */
    async page({ scores: [from, to], after, limit }: RankQuery): Promise<readonly RankedWallet[]> {
      if (after === null) {
        const values = [chainId, from, to, limit];
        return rowsInTime<RankedWallet>(db, { name: "leaderboard_first", text: FIRST_PAGE, values });
      }
      const values = [chainId, from, after.ahsScore, after.confidenceMicros, after.wallet, limit];
      return rowsInTime<RankedWallet>(db, { name: "leaderboard_after", text: PAGE_AFTER, values });
    },
    /** Scored or insufficient wallets with this address prefix (lower-case), by address. */
    async byPrefix(prefix: string, limit: number): Promise<readonly RankedWallet[]> {
      const values = [chainId, prefix, limit];
      return rowsInTime<RankedWallet>(db, { name: "leaderboard_prefix", text: WITH_PREFIX, values });
    },
    /** The agent of this number; null where the registry has none, or the index no tables. */
    async byAgentId(agentId: bigint): Promise<FoundAgent | null> {
      const found = await fromIndex(
        rowsInTime<FoundRow>(db, {
          name: `leaderboard_agent_${chainId}`,
          text: agentStatement(agents),
          values: [chainId, agentId.toString()],
        }),
      );
      return found?.map(foundOf)[0] ?? null;
    },
    /**
     * Agents whose name begins so, in any case: of the first MOST_NAMES in the order of names those with the best scores first, then
     * by name. None while the index has no tables.
     */
    async byName(
      beginning: string,
      { offset, limit }: { offset: number; limit: number },
    ): Promise<FoundNames> {
      const found = await fromIndex(
        rowsInTime<FoundRow & Omit<FoundNames, "agents">>(db, {
          name: `leaderboard_name_${chainId}`,
          text: namesStatement(agents),
          values: [chainId, beginning, limit, offset],
        }),
      );
      const rows = found ?? [];
      return { agents: rows.map(foundOf), total: rows[0]?.total ?? 0, isCut: rows[0]?.isCut ?? false };
    },
  };
}

const COLUMNS = `s.wallet, s.ahs_score as "ahsScore", s.grade, s.confidence_micros as "confidenceMicros",
  s.confidence_level as "confidenceLevel"`;

const FIRST_PAGE = `
  select ${COLUMNS} from ahs.current_score s
  where chain_id = $1 and ahs_score is not null and ahs_score between $2 and $3
  order by ahs_score desc, confidence_micros desc, wallet limit $4`;

/** In every collation, "g" sorts after all hexadecimal digits. */
const WITH_PREFIX = `
  select ${COLUMNS} from ahs.current_score s
  where chain_id = $1 and wallet >= $2 and wallet < $2 || 'g' order by wallet limit $3`;

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
  order by "ahsScore" desc, "confidenceMicros" desc, wallet limit $6`;

function agentStatement(agents: string): string {
  return `
    select a.agent_id::text as "agentId", d.name, a.wallet as "agentWallet", ${COLUMNS}
    from ${agents} a
    left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
    left join ahs.current_score s on s.chain_id = $1 and s.wallet = a.wallet
    where a.agent_id = $2`;
}

/**
 * Reads a bounded number of names by a range of the index, and sorts the best scores first: many agents with the name
 * of a known agent do not hide it.
 * The bounds are bytes, as in text_pattern_ops; no UTF-8 character sorts after the upper one.
 */
function namesStatement(agents: string): string {
  const name = `lower(left(d.name, ${INDEXED_NAME_CHARACTERS}))`;
  const beginning = `lower(left($2::text, ${INDEXED_NAME_CHARACTERS}))`;
  return `
    with named as materialized (
      select d.agent_id, d.name, ${name} as folded from ahs.agent_document d
      where d.chain_id = $1 and ${name} ~>=~ ${beginning} and ${name} ~<~ (${beginning} || U&'\\+10FFFF')
      order by d.chain_id, ${name} using ~<~, d.agent_id limit ${MOST_NAMES}
    )
    select d.agent_id::text as "agentId", d.name, a.wallet as "agentWallet", ${COLUMNS},
      (count(*) over ())::int as total, (select count(*) from named) = ${MOST_NAMES} as "isCut"
    from named d
    join ${agents} a on a.agent_id = d.agent_id
    left join ahs.current_score s on s.chain_id = $1 and s.wallet = a.wallet
    order by s.ahs_score desc nulls last, s.confidence_micros desc nulls last, d.folded, d.agent_id
    limit $3 offset $4`;
}

type FoundRow = {
  readonly agentId: string;
  readonly name: string | null;
  readonly agentWallet: Address | null;
} & (RankedWallet | { readonly wallet: null });

function foundOf(row: FoundRow): FoundAgent {
  const { name, agentWallet } = row;
  const found = { agentId: BigInt(row.agentId), name, wallet: agentWallet };
  if (row.wallet === null) return { ...found, ranked: null };
  const { wallet, ahsScore, grade, confidenceMicros, confidenceLevel } = row;
  return { ...found, ranked: { wallet, ahsScore, grade, confidenceMicros, confidenceLevel } };
}
