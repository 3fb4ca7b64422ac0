import { unavailable } from "../../access/problems.ts";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { hasRoom, isOverShare, secondsLeftOfDay, startOfDay } from "../../db/day-budget.ts";
import type { RunCause } from "../../db/tables/verdict.ts";

/** Causes of unpaid runs. */
export const FREE_CAUSES: readonly RunCause[] = ["evidence", "near_expiry"];

/** Share of a day for unpaid runs. */
const FREE_SHARE = 1 / 4;
/** Share of the rest that only runs of jobs may use, whose money waits and which expire. */
const SHARE_FOR_JOBS = 2 / 3;

/** Tokens of a day for unpaid runs, for paid runs of jobs, and those of them that outputs without a job may take. */
export function tokenShares(tokensPerDay: number) {
  const free = Math.floor(tokensPerDay * FREE_SHARE);
  const jobs = tokensPerDay - free;
  return { free, jobs, withoutJob: Math.floor(jobs * (1 - SHARE_FOR_JOBS)) };
}

/** One run decides, and refusals or answers off the schema may cost another one. All unpaid runs of a verdict count as one decision. */
export const RUNS_PER_DECISION = 2;
/** Of a model server that takes questions and does not answer them. */
export const RUNS_IN_OUTAGE = 6;

/** Tokens of the UTC day: used by paid runs, granted to those that wait or are under way, and used by unpaid runs. */
export type DayTokens = {
  readonly used: number;
  readonly granted: number;
  readonly free: number;
  /** Of runs without a verdict, whose price goes back, and of those that wait for owners without a verdict and can go back at once. */
  readonly returned: number;
};

/** Tokens of one owner: today's, and over its newest verdicts those with a decision, and those that wait or were given back without one. */
export type OwnerTokens = { readonly today: number; readonly paid: number; readonly unpaid: number };

/** Token budget of the panel per UTC day. */
export type PanelBudget = {
  readonly tokensPerDay: number;
  /** Tokens of the largest run that is sold. */
  readonly largestRun: number;
  readonly readDay: (now: Date) => Promise<DayTokens>;
  /** `owner` is key:ID or wallet:ADDRESS. */
  readonly readOwner: (owner: string, now: Date) => Promise<OwnerTokens>;
};

/** A paid run that is about to be sold. */
export type AskedRun = {
  readonly owner: string;
  readonly isOfJob: boolean;
  /** Whether its price goes back without a verdict: credits of a key, and money in the payment escrow. */
  readonly isReturnable?: boolean;
  /** Tokens that it is expected to take; the largest run where its texts are not at hand. */
  readonly runTokens?: number | null;
};

const NOT_CONFIGURED_RETRY_SECONDS = 3_600;
/** Verdicts are decided within about a minute, in which clients try twice again. */
const WAITING_RETRY_SECONDS = 30;
/**
 * Runs whose price goes back take shares of a day: of their class's tokens where it goes back at once, of all tokens where it was settled and
 * goes back as credits. Beyond them each owner has a share of its paid runs' tokens.
 */
export const RETURNED_SHARE = { atOnce: 0.1, settled: 0.5, owner: 0.25 } as const;

/** Throws the 503 of a server without a model, of a day without tokens left for such a run, and of an owner that has its share. */
export async function requirePanel(
  budget: PanelBudget | null,
  now: Date,
  { owner, isOfJob, isReturnable = false, runTokens = null }: AskedRun,
): Promise<void> {
  if (budget === null)
    throw unavailable("panel-not-configured", "No model is configured here that could judge an output.", {
      retryAfterSeconds: NOT_CONFIGURED_RETRY_SECONDS,
    });
  const { tokensPerDay, largestRun } = budget;
  const day = await budget.readDay(now);
  const own = await budget.readOwner(owner, now);
  const refuse = (detail: string, retryAfterSeconds = secondsLeftOfDay(now)) =>
    unavailable("panel-budget-spent", detail, { retryAfterSeconds });
  const shares = tokenShares(tokensPerDay);
  const ceiling = isOfJob ? shares.jobs : shares.withoutJob;
  const needed = runTokens ?? largestRun;
  const use = { ceiling, used: day.used + day.granted, own: own.today };
  if (isOverShare(use) && use.used < ceiling)
    throw refuse("You have as many of the panel's tokens of this day (UTC) as are left for all others.");
  if (!hasRoom(use, needed)) {
    const left = isOfJob ? "" : " The rest is kept for outputs of jobs.";
    throw refuse(`The panel has used up its tokens of this day (UTC).${left}`);
  }
  if (own.unpaid > own.paid + RUNS_PER_DECISION * largestRun)
    throw refuse(
      "Outputs of yours that wait, or that came to no verdict by their texts, have taken more tokens than your verdicts.",
      WAITING_RETRY_SECONDS,
    );
  const most = isReturnable ? RETURNED_SHARE.atOnce * ceiling : RETURNED_SHARE.settled * tokensPerDay;
  if (
    day.returned + needed > most &&
    own.unpaid + RUNS_PER_DECISION * needed > RETURNED_SHARE.owner * own.paid
  ) {
    const otherwise = isReturnable ? " Pay by x402's scheme exact." : "";
    throw refuse(`Too many prices of today have gone back without a verdict.${otherwise}`);
  }
}

/** Failures of a role that its server did not cause. */
const BY_TEXTS = "(c.failure is null or c.failure like 'refused: %' or c.failure like 'off the schema%')";

/** Runs whose price goes back, at once or as credits later, in SQL: first runs without a decision, and appeals that were won or failed. */
const IS_RETURNED = `((v.status = 'failed' and v.runs = 0)
  or exists (select from ahs.appeal a
    where a.verdict_id = v.id and c.run = a.run + 1 and a.state in ('overturned', 'failed')))`;
/** The cause of a run, of which no row is stored before its decision. */
const CAUSE =
  "coalesce((select r.cause from ahs.verdict_run r where r.verdict_id = c.verdict_id and r.run = c.run), v.cause)";

/** Reads the tokens of the day. Runs that were accepted and paid before keep theirs over midnight. */
export async function readDayTokens(
  db: Database,
  { now, largestRun }: { readonly now: Date; readonly largestRun: number },
): Promise<DayTokens> {
  const { rows } = await db.$client.query<DayTokens>({
    ...QUERY_DEADLINE,
    text: `with today as (
       select c.verdict_id, c.run, sum(c.prompt_tokens::bigint + c.completion_tokens) as tokens,
         sum(c.prompt_tokens::bigint + c.completion_tokens) filter (where ${BY_TEXTS}) as answered
       from ahs.role_call c where c.created_at >= $1 group by c.verdict_id, c.run
     ), spent as (
       select c.tokens, c.answered, ${IS_RETURNED} as returned, ${CAUSE} = any($3) as free
       from today c join ahs.verdict v on v.id = c.verdict_id
     ), waiting as (
       select v.*, coalesce(v.run_tokens, $2) as tokens from ahs.verdict v
       where v.status in ('pending', 'processing') and v.cause <> all($3)
     )
     select
       (select coalesce(sum(tokens) filter (where not returned and not free), 0)::float8 from spent) as used,
       (select coalesce(sum(tokens), 0)::float8 from waiting) as granted,
       (select coalesce(sum(tokens) filter (where free), 0)::float8 from spent) as free,
       (select coalesce(sum(answered) filter (where returned), 0)::float8 from spent)
         + (select coalesce(sum(w.tokens), 0)::float8 from waiting w left join ahs.payment p on p.id = w.payment_id
             where w.runs = 0 and (w.debit_id is not null or p.capture_state is not null)
               and not exists (select from ahs.verdict d where d.owner = w.owner and d.final_verdict is not null)) as returned`,
    values: [startOfDay(now), largestRun, FREE_CAUSES],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the tokens of the day were not read");
  return row;
}

/** Verdicts of an owner by which it is judged, the newest. */
const JUDGED = 1_000;
export async function readOwnerTokens(
  db: Database,
  { owner, now, largestRun }: { readonly owner: string; readonly now: Date; readonly largestRun: number },
): Promise<OwnerTokens> {
  const { rows } = await db.$client.query<OwnerTokens>({
    ...QUERY_DEADLINE,
    text: `with mine as (
       select id, status, final_verdict is not null as decided, coalesce(run_tokens, $3) as tokens, updated_at,
         status in ('pending', 'processing') and cause <> all($4) as granted
       from ahs.verdict where owner = $1 and status <> 'unsettled' order by created_at desc limit ${JUDGED}
     ), called as (
       select m.id, c.created_at >= $2 as today, m.status = 'failed' and ${BY_TEXTS} as lost,
         c.prompt_tokens::bigint + c.completion_tokens as tokens
       from mine m join ahs.role_call c on c.verdict_id = m.id
       where m.updated_at >= $2 or m.status = 'failed'
     )
     select
       coalesce((select sum(tokens) from called where today), 0)::float8
         + coalesce(sum(tokens) filter (where granted), 0)::float8 as today,
       coalesce(sum(tokens) filter (where decided), 0)::float8 as paid,
       coalesce(sum(tokens) filter (where granted and not decided), 0)::float8
         + coalesce((select sum(tokens) from called where lost), 0)::float8 as unpaid
     from mine`,
    values: [owner, startOfDay(now), largestRun, FREE_CAUSES],
  });
  const [row] = rows;
  if (row === undefined) throw new Error(`the tokens of ${owner} were not read`);
  return row;
}
