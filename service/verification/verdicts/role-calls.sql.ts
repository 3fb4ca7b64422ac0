import { type SQL, sql } from "drizzle-orm";
import type { RoleRecord } from "../panel/types.ts";
import { isLeasedBy, type RunLease } from "./verdict-queue.ts";

/** Adds a role's call to a leased run: rows "panel: one verdict on 2,000 characters" of bench/results.md. */
export function addRoleCall(
  lease: RunLease,
  call: Omit<RoleRecord, "answer"> & {
    readonly json: string | null;
    readonly failure: string | null;
    readonly at: Date;
  },
): SQL {
  return sql`
    insert into ahs.role_call as kept (verdict_id, run, role, model, answer, failure, mode, requests, prompt_tokens,
      completion_tokens, cost_usd, latency_ms, created_at)
    select id, ${lease.run}::integer, ${call.role}, ${call.model}, ${call.json}::jsonb, ${call.failure}, ${call.mode},
      ${call.requests}::integer, ${call.promptTokens}::integer, ${call.completionTokens}::integer,
      ${call.costUsd}::double precision, ${call.latencyMs}::integer, ${call.at}::timestamptz
    from ahs.verdict where ${isLeasedBy(lease)} for update
    on conflict (verdict_id, run, role) do update set
      model = excluded.model, answer = excluded.answer, failure = excluded.failure, mode = excluded.mode,
      requests = kept.requests + excluded.requests,
      prompt_tokens = kept.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = kept.completion_tokens + excluded.completion_tokens,
      cost_usd = kept.cost_usd + excluded.cost_usd,
      latency_ms = kept.latency_ms + excluded.latency_ms, created_at = excluded.created_at`;
}
