import { type SQL, sql } from "drizzle-orm";
import { MAX_RETRIES } from "./settle-intake.ts";

/** Facts that decide if texts may be erased. No bench row measures it; in the builder its seven nested conditions are four times as long. */
export function erasureState(verdictId: string): SQL {
  return sql`
    select v.owner, s.client_addr as "clientAddr", v.provider_addr as "providerAddr", v.status,
      v.status = 'failed' and v.retries < ${MAX_RETRIES} and v.replaced_at is null and exists (
        select from ahs.payment p where p.id = v.payment_id and coalesce(p.capture_state, '') not in ('voiding', 'voided')) as "isOwed",
      v.job_chain_id as "jobChainId", v.job_id is not null and v.replaced_at is null
        and not exists (select from ahs.settlement t where t.verdict_id = v.id and t.run = v.runs
          and t.decision <> 'HOLD' and t.state in ('confirmed', 'refused'))
        and not exists (select from ahs.settlement_check c where c.verdict_id = v.id and c.run = v.runs
          and c.not_before is null and v.final_verdict <> 'HOLD'
          and not exists (select from ahs.appeal a where a.verdict_id = v.id and a.state in ('unsettled', 'open')))
        and not exists (select from ahs.hold_clock h where h.verdict_id = v.id and h.ended_at is not null)
        as "isJobOpen"
    from ahs.verdict v join ahs.job_spec s on s.id = v.spec_id
    where v.id = ${verdictId} and v.status <> 'unsettled'`;
}
