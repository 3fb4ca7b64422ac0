import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { RunCause } from "../../db/tables/verdict.ts";
import { wakeWorkers } from "./verdict-intake.ts";

/** What a held verdict is run again for, once for each. */
export type RerunCause = Extract<RunCause, "evidence" | "near_expiry">;

/**
 * asked: it is due at its moment. busy: a re-run of either cause is due or under way; ask again once it is over. used_up: this cause had its
 * decision. not_held: the newest decision is not HOLD, or there is none, or a reviewer made it.
 */
export type RerunOutcome = "asked" | "busy" | "used_up" | "not_held";

type Standing = { readonly status: string; readonly final_verdict: string | null; readonly causes: string[] };

/**
 * Has a held verdict run again, for each cause until that has led to a decision: two re-runs at most. A re-run that failed is not
 * counted. Its earlier decision stands until the new one is stored.
 */
export async function askRerun(
  tx: NodePgDatabase,
  of: {
    readonly verdictId: string;
    readonly cause: RerunCause;
    /** When it is due. */
    readonly at: Date;
  },
): Promise<RerunOutcome> {
  const { verdictId, cause, at } = of;
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<Standing>(sql`
    select v.status, v.final_verdict,
           array(select r.cause from ahs.verdict_run r where r.verdict_id = v.id) as causes
    from ahs.verdict v where v.id = ${verdictId}`);
  const outcome = outcomeOf(rows[0], cause);
  if (outcome !== "asked") return outcome;
  await tx.execute(sql`
    update ahs.verdict set status = 'pending', cause = ${cause}, tried_at = null, not_before = ${at},
      error_message = null
    where id = ${verdictId}`);
  await wakeWorkers(tx);
  return "asked";
}

function outcomeOf(verdict: Standing | undefined, cause: RerunCause): RerunOutcome {
  if (verdict === undefined || verdict.final_verdict !== "HOLD" || verdict.causes.includes("review"))
    return "not_held";
  if (verdict.causes.includes(cause)) return "used_up";
  return verdict.status === "completed" ? "asked" : "busy";
}
