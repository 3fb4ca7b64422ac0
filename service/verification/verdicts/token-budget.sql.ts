import { sql } from "drizzle-orm";
import { type Database, rowsInTime } from "../../db/database.ts";
import { startOfDay } from "../../db/day-budget.ts";
import { toQuery } from "../../db/statement.ts";
import { type DayTokens, FREE_CAUSES, type OwnerTokens } from "./token-budget.ts";

// The row "unpaid: POST /v1/outputs, processor time" of bench/results.md measures these.

/** Failures of a role that its server did not cause. */
const BY_TEXTS = sql`(c.failure is null or c.failure like 'refused: %' or c.failure like 'off the schema%')`;

/** Runs whose price goes back, at once or as credits later, in SQL: first runs without a decision, and appeals that were won or failed. */
const IS_RETURNED = sql`((v.status = 'failed' and v.runs = 0)
  or exists (select from ahs.appeal a
    where a.verdict_id = v.id and c.run = a.run + 1 and a.state in ('overturned', 'failed')))`;
/** The cause of a run, of which no row is stored before its decision. */
const CAUSE = sql`
  coalesce((select r.cause from ahs.verdict_run r where r.verdict_id = c.verdict_id and r.run = c.run), v.cause)`;

/** Reads the tokens of the day. Runs that were accepted and paid before keep theirs over midnight. */
export async function readDayTokens(
  db: Database,
  { now, largestRun }: { readonly now: Date; readonly largestRun: number },
): Promise<DayTokens> {
  const free = sql`any(${sql.param(FREE_CAUSES)}::text[])`;
  const statement = sql`
     with today as (
       select c.verdict_id, c.run, sum(c.prompt_tokens::bigint + c.completion_tokens) as tokens,
         sum(c.prompt_tokens::bigint + c.completion_tokens) filter (where ${BY_TEXTS}) as answered
       from ahs.role_call c where c.created_at >= ${startOfDay(now)} group by c.verdict_id, c.run
     ), spent as (
       select c.tokens, c.answered, ${IS_RETURNED} as returned, ${CAUSE} = ${free} as free
       from today c join ahs.verdict v on v.id = c.verdict_id
     ), waiting as (
       select v.*, coalesce(v.run_tokens, ${largestRun}) as tokens from ahs.verdict v
       where v.status in ('pending', 'processing') and not v.cause = ${free}
     )
     select
       (select coalesce(sum(tokens) filter (where not returned and not free), 0)::float8 from spent) as used,
       (select coalesce(sum(tokens), 0)::float8 from waiting) as granted,
       (select coalesce(sum(tokens) filter (where free), 0)::float8 from spent) as free,
       (select coalesce(sum(answered) filter (where returned), 0)::float8 from spent)
         + (select coalesce(sum(w.tokens), 0)::float8 from waiting w left join ahs.payment p on p.id = w.payment_id
             where w.runs = 0 and (w.debit_id is not null or p.capture_state is not null)
               and not exists (select from ahs.verdict d where d.owner = w.owner and d.final_verdict is not null)) as returned`;
  const [row] = await rowsInTime<DayTokens>(db, toQuery(statement));
  if (row === undefined) throw new Error("the tokens of the day were not read");
  return row;
}

/** Verdicts of an owner by which it is judged, the newest. */
const JUDGED = 1_000;
/** Reads the tokens of an owner. */
export async function readOwnerTokens(
  db: Database,
  { owner, now, largestRun }: { readonly owner: string; readonly now: Date; readonly largestRun: number },
): Promise<OwnerTokens> {
  const statement = sql`
     with mine as (
       select id, status, final_verdict is not null as decided, coalesce(run_tokens, ${largestRun}) as tokens, updated_at,
         status in ('pending', 'processing') and cause <> all(${sql.param(FREE_CAUSES)}::text[]) as granted
       from ahs.verdict where owner = ${owner} and status <> 'unsettled' order by created_at desc limit ${JUDGED}
     ), called as (
       select m.id, c.created_at >= ${startOfDay(now)} as today, m.status = 'failed' and ${BY_TEXTS} as lost,
         c.prompt_tokens::bigint + c.completion_tokens as tokens
       from mine m join ahs.role_call c on c.verdict_id = m.id
       where m.updated_at >= ${startOfDay(now)} or m.status = 'failed'
     )
     select
       coalesce((select sum(tokens) from called where today), 0)::float8
         + coalesce(sum(tokens) filter (where granted), 0)::float8 as today,
       coalesce(sum(tokens) filter (where decided), 0)::float8 as paid,
       coalesce(sum(tokens) filter (where granted and not decided), 0)::float8
         + coalesce((select sum(tokens) from called where lost), 0)::float8 as unpaid
     from mine`;
  const [row] = await rowsInTime<OwnerTokens>(db, toQuery(statement));
  if (row === undefined) throw new Error(`the tokens of ${owner} were not read`);
  return row;
}
