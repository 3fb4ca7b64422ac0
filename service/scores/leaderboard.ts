import { and, eq, sql } from "drizzle-orm";
import type { Address } from "viem";
import { type Deployment, type FurtherRegistry, registriesByAddress } from "../chain/deployments.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { fromIndex } from "../db/index-snapshot.ts";
import { toQuery } from "../db/statement.ts";
import { currentScore } from "../db/tables/score.ts";
import type { ConfidenceLevel } from "../model/score/record.ts";
import { INDEXED_NAME_CHARACTERS, listedWallets, namedAgents, numberedAgents } from "./leaderboard.sql.ts";

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

const HAS_TRIGRAM = /[\p{L}\p{N}]{3}/u;

/** Searches and lists of the wallets of one chain, each bounded in the rows that it reads. */
export function createLeaderboardReader(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
  clock: { now(): Date },
) {
  const { chainId } = chain;
  const registries = registriesByAddress(chain);
  const earlier = () => new Date(clock.now().getTime() - EARLIER_DAYS * 86_400_000);
  const foundOf = (row: FoundRow) => agentOf(row, registries);
  return {
    /**
     * A part of the wallets of a scope in an order; equal ones by falling score, falling confidence, address. Null values come last.
     * Of more than MOST_LISTED wallets the best ones are listed. Empty while the index has no tables.
     */
    async list({ scope, confidence, order, isRising, offset, limit }: ListQuery) {
      const list = listedWallets(chainId, {
        scope,
        confidence,
        column: ORDERS[order],
        isRising,
        most: MOST_LISTED,
        offset,
        limit,
        earlier: earlier(),
      });
      return (await fromIndex(rowsInTime<ListedWallet>(db, toQuery(list)))) ?? [];
    },
    /** Scored or insufficient wallets with this address prefix (lower-case), by address. */
    async byPrefix(prefix: string, limit: number): Promise<readonly RankedWallet[]> {
      const { wallet, ahsScore, grade, confidenceMicros, confidenceLevel } = currentScore;
      // In every collation, "g" sorts after all hexadecimal digits.
      const hasPrefix = sql`${wallet} >= ${prefix} and ${wallet} < ${`${prefix}g`}`;
      return underDeadline(db)
        .select({ wallet, ahsScore, grade, confidenceMicros, confidenceLevel })
        .from(currentScore)
        .where(and(eq(currentScore.chainId, chainId), hasPrefix))
        .orderBy(wallet)
        .limit(limit);
    },
    /** The agents of this number, that of the followed registry first; none where the index has no tables. */
    async byAgentId(agentId: bigint): Promise<readonly FoundAgent[]> {
      const found = await fromIndex(
        rowsInTime<FoundRow>(
          db,
          toQuery(numberedAgents(chainId, { agentId, registries: [...registries.keys()] })),
        ),
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
      const names = namedAgents(chainId, {
        start,
        inside,
        registries: [...registries.keys()],
        most: MOST_NAMES,
        offset,
        limit,
      });
      const found = await fromIndex(rowsInTime<FoundRow & Omit<FoundNames, "agents">>(db, toQuery(names)));
      const rows = found ?? [];
      return { agents: rows.map(foundOf), total: rows[0]?.total ?? 0, isCut: rows[0]?.isCut ?? false };
    },
  };
}

const EARLIER_DAYS = 30;

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
