import { sql } from "drizzle-orm";
import { type Database, underDeadline } from "../../db/database.ts";

/** Appeals by what came of them; those that ended since a moment, and those under way. */
export type AppealFigures = Readonly<Record<"open" | "upheld" | "overturned" | "held" | "failed", number>>;

/** Days that the public figures are about. */
export const FIGURE_DAYS = 90;

export async function readAppealFigures(
  db: Database,
  { chainId, now }: { chainId: number; now: Date },
): Promise<AppealFigures> {
  const since = new Date(now.getTime() - FIGURE_DAYS * 86_400_000);
  const { rows } = await underDeadline(db).execute<AppealFigures>(sql`
    select count(*) filter (where state = 'open')::int as open,
      count(*) filter (where state = 'upheld')::int as upheld,
      count(*) filter (where state = 'overturned')::int as overturned,
      count(*) filter (where state = 'held')::int as held,
      count(*) filter (where state = 'failed')::int as failed
    from ahs.appeal where chain_id = ${chainId} and (ended_at >= ${since} or state = 'open')`);
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return row;
}
