import { randomBytes } from "node:crypto";
import type { Address } from "viem";
import type { Database } from "../../service/db/database.ts";
import { score } from "../../service/db/tables/score.ts";
import { makeCurrent, type NewScore } from "../../service/scores/store-records.ts";
import type { StoredScore } from "../../service/scores/stored-score.ts";

const HASH = `0x${"ab".repeat(32)}` as const;

type Changes = Partial<NewScore> & { readonly wallet: Address };

/** Inserts a score of 84 points, or what the changes say of it. */
export async function insertScore(db: Database, changes: Changes): Promise<StoredScore> {
  const [row] = await db
    .insert(score)
    .values({
      ...{ chainId: 31337, asOfBlock: 1000, asOfHash: HASH, asOfTime: new Date("2026-11-20T09:00:00Z") },
      ...{ modelVersion: "AHS-2026.2", ahsScore: 84, d1Score: 88, d2Score: 82, grade: "B" },
      ...{ confidenceMicros: 810_000, confidenceLevel: "HIGH", sanctioned: false, sanctionsFlags: [] },
      ...{ patterns: [], features: [], inputsHash: `0x${randomBytes(32).toString("hex")}` },
      coverage: { fromBlock: 1, fromTimestamp: 1, toBlock: 1000, complete: true, sources: ["index"] },
      ...changes,
    })
    .returning();
  if (row === undefined) throw new Error("nothing was inserted");
  return row;
}

/** The same, as the newest score of its wallet. */
export async function insertCurrentScore(db: Database, changes: Changes): Promise<StoredScore> {
  const row = await insertScore(db, changes);
  await makeCurrent(db, [row.id], [changes.wallet]);
  return row;
}
