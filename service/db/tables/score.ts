import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { Coverage, SanctionsFlag } from "../../model/features/types.ts";
import type { ConfidenceLevel, FeatureLine, Grade, Pattern } from "../../model/score/record.ts";
import { address, hash, int8, moment, rowId } from "../columns.ts";
import { ahs } from "./schema.ts";

/** Score history: a row per wallet and as-of block, never updated. Addresses are lower-case. */
export const score = ahs.table(
  "score",
  {
    id: rowId(),
    chainId: integer().notNull(),
    wallet: address().notNull(),
    asOfBlock: int8().notNull(),
    asOfHash: hash().notNull(),
    asOfTime: moment().notNull(),
    modelVersion: text().notNull(),
    /** Null for a record without enough history, as are d1Score, d2Score and grade. */
    ahsScore: integer(),
    d1Score: integer(),
    d2Score: integer(),
    grade: text().$type<Grade>(),
    confidenceMicros: integer().notNull(),
    confidenceLevel: text().$type<ConfidenceLevel>().notNull(),
    sanctioned: boolean().notNull(),
    sanctionsFlags: jsonb().$type<readonly SanctionsFlag[]>().notNull(),
    patterns: jsonb().$type<readonly Pattern[]>().notNull(),
    features: jsonb().$type<readonly FeatureLine[]>().notNull(),
    coverage: jsonb().$type<Coverage>().notNull(),
    /** When the confidence falls to a lower level by itself, for want of own calls; null where it cannot. */
    levelUntil: moment(),
    inputsHash: hash().notNull(),
    createdAt: moment().notNull().defaultNow(),
  },
  (table) => [
    // Ascending, since readers of the newest scan it backwards.
    index("score_by_time").on(table.chainId, table.wallet, table.asOfTime, table.id),
    uniqueIndex("score_once").on(table.chainId, table.wallet, table.inputsHash),
    // Scores of the newest calls alone, which are counted.
    index("score_cut").on(table.chainId, table.id).where(sql`coverage ->> 'newestCallsOnly' = 'true'`),
  ],
);

/** The newest score row of each wallet: one primary-key read for routing. */
export const currentScore = ahs.table(
  "current_score",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    scoreId: int8()
      .notNull()
      .references(() => score.id),
    asOfBlock: int8().notNull(),
    asOfTime: moment().notNull(),
    ahsScore: integer(),
    grade: text().$type<Grade>(),
    confidenceMicros: integer().notNull(),
    confidenceLevel: text().$type<ConfidenceLevel>().notNull(),
    sanctioned: boolean().notNull(),
    /** When the confidence falls to a lower level by itself; null where it cannot. */
    levelUntil: moment(),
  },
  (table) => [
    uniqueIndex("current_score_wallet").on(table.chainId, table.wallet),
    index("current_score_score").on(table.scoreId),
    // How many wallets have each score.
    index("current_score_distribution").on(table.chainId, table.ahsScore),
    // The order of the leaderboard.
    index("current_score_rank")
      .on(table.chainId, table.ahsScore.desc(), table.confidenceMicros.desc(), table.wallet)
      .where(sql`ahs_score is not null`),
  ],
);

/** The last read, payment or subscription of a wallet, which decides about heartbeats. */
export const walletInterest = ahs.table(
  "wallet_interest",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    lastAt: moment().notNull(),
  },
  (table) => [uniqueIndex("wallet_interest_wallet").on(table.chainId, table.wallet)],
);
