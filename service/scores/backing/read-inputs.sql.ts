/** Ended jobs with the newest verdict of each, by which they are counted: the builder has no lateral join that a group reads. */

import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { indexOf } from "../../db/index-tables.ts";

/** Kinds of ended jobs that one pass holds, those with most jobs first. */
const MOST_JOBS = 100_000;

/** Ended jobs since a moment, in Unix seconds, by provider. Jobs that no provider submitted for name none. */
export function endedJobs(
  chainId: number,
  { throughBlock, since }: { readonly throughBlock: number; readonly since: number },
): SQL {
  const { job, verdictEvent } = indexOf(chainId);
  const j = alias(job, "j");
  // As JSON: the view of an index built by older code has no columns for client and funds.
  return sql`
    select ${j.provider}, to_jsonb(j) ->> 'client' as client, coalesce((to_jsonb(j) ->> 'funded')::numeric > 0, false) as "isFunded",
      lower(${j.status}) as outcome, ${j.endedBy} as "endedBy",
      case v.decision when 1 then 'allow' when 2 then 'reject' end as verdict, count(*)::int as count
    from ${job} ${j}
    left join lateral (
      select ${verdictEvent.decision} from ${verdictEvent}
      where ${verdictEvent.escrow} = ${j.escrow} and ${verdictEvent.jobId} = ${j.jobId} and ${verdictEvent.kind} = 'settled'
        and ${verdictEvent.block} <= ${throughBlock}
      order by ${verdictEvent.block} desc limit 1
    ) v on true
    where ${j.provider} is not null and ${j.status} in ('Completed', 'Rejected', 'Expired')
      and ${j.endedBlock} <= ${throughBlock} and ${j.endedAt} >= ${since}
    group by 1, 2, 3, 4, 5, 6 order by count(*) desc, 1, 2 limit ${MOST_JOBS}`;
}
