import { unavailable } from "../../access/problems.ts";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { hasRoom, isOverShare, secondsLeftOfDay, startOfDay } from "../../db/day-budget.ts";
import type { RunCause } from "../../db/tables/verdict.ts";

/** Share of a day that only paid runs of jobs may use, whose money waits and which expire. */
const SHARE_FOR_JOBS = 2 / 3;

/** Causes of unpaid runs. */
export const FREE_CAUSES: readonly RunCause[] = ["evidence", "near_expiry"];

/** Tokens up to which unpaid runs, and outputs without a job, may fill the day. */
export function sharedTokens(tokensPerDay: number): number {
  return Math.floor(tokensPerDay * (1 - SHARE_FOR_JOBS));
}

/** One run decides, and refusals or answers off the schema may cost another one. */
export const RUNS_PER_DECISION = 2;
/** Of a model server that takes questions and does not answer them. */
export const RUNS_IN_OUTAGE = 6;

/** Tokens of the UTC day: used by calls, and granted to paid runs that wait or are under way. */
export type DayTokens = {
  readonly used: number;
  readonly granted: number;
  /** Of outputs whose payments went back out of the payment escrow today. */
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
  /** Whether its payment waits in an escrow, from which it can go back. */
  readonly isReturnable?: boolean;
  /** Tokens that it is expected to take; the largest run where its texts are not at hand. */
  readonly runTokens?: number | null;
};

const NOT_CONFIGURED_RETRY_SECONDS = 3_600;
/** Verdicts are decided within about a minute, in which clients try twice again. */
const WAITING_RETRY_SECONDS = 30;
/** Of the tokens for a class of work, those that outputs may take whose payments go back, of payers who never paid. */
const RETURNABLE_SHARE = 0.1;

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
  const ceiling = isOfJob ? tokensPerDay : sharedTokens(tokensPerDay);
  const use = { ceiling, used: day.used + day.granted, own: own.today };
  if (isOverShare(use) && use.used < ceiling)
    throw refuse("You have as many of the panel's tokens of this day (UTC) as are left for all others.");
  if (!hasRoom(use, runTokens ?? largestRun)) {
    const left = isOfJob ? "" : " The rest is kept for outputs of jobs.";
    throw refuse(`The panel has used up its tokens of this day (UTC).${left}`);
  }
  if (own.unpaid > own.paid + RUNS_PER_DECISION * largestRun)
    throw refuse(
      "Outputs of yours that wait, or that came to no verdict by their texts, have taken more tokens than your verdicts.",
      WAITING_RETRY_SECONDS,
    );
  if (isReturnable && own.paid === 0 && day.returned > RETURNABLE_SHARE * ceiling)
    throw refuse(
      "Too many payments of today have gone back out of the payment escrow. Pay by another scheme, or with an API key.",
    );
}

/** Reads the tokens of the day. Runs that were accepted and paid before keep theirs over midnight. */
export async function readDayTokens(
  db: Database,
  { now, largestRun }: { readonly now: Date; readonly largestRun: number },
): Promise<DayTokens> {
  const { rows } = await db.$client.query<DayTokens>({
    ...QUERY_DEADLINE,
    text: `select
       (select coalesce(sum(prompt_tokens::bigint + completion_tokens), 0)::float8 from ahs.role_call where created_at >= $1) as used,
       (select coalesce(sum(coalesce(run_tokens, $2)), 0)::float8 from ahs.verdict
         where status in ('pending', 'processing') and cause <> all($3)) as granted,
       (select coalesce(sum(coalesce(v.run_tokens, $2)), 0)::float8
         from ahs.verdict v join ahs.payment p on p.id = v.payment_id and p.capture_state in ('voiding', 'voided')
         where v.status = 'failed' and v.not_before >= $1::timestamptz - interval '1 day' and v.updated_at >= $1) as returned`,
    values: [startOfDay(now), largestRun, FREE_CAUSES],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the tokens of the day were not read");
  return row;
}

/** Verdicts of an owner by which it is judged, the newest. */
const JUDGED = 1_000;
/** Failures of a role that its server did not cause. */
const BY_TEXTS = "(c.failure is null or c.failure like 'refused: %' or c.failure like 'off the schema%')";

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
