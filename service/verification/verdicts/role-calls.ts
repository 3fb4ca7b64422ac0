import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { QUERY_DEADLINE } from "../../db/database.ts";
import { GENERATOR_ROLES, type RoleName, type RoleRecord } from "../panel/types.ts";
import { storable } from "./store-decision.ts";
import { type Claim, holdsClaim } from "./verdict-queue.ts";

/** The run of a verdict is another worker's by now. */
export class ClaimLost extends Error {
  constructor({ verdictId, attempts }: Claim) {
    super(`claim ${attempts} of verdict ${verdictId} is another worker's by now`);
    this.name = "ClaimLost";
  }
}

/** Takes what the roles of a run use and answer; each rejects with ClaimLost where the run is another worker's by now. */
export type CallKeeper = {
  /** Counts what a question will take at least, so that one that is broken off is counted, however that comes. */
  readonly begin: (record: RoleRecord) => Promise<void>;
  /** Keeps an answer or abstention with what it took, in place of what was counted for its questions. */
  readonly keep: (record: RoleRecord) => Promise<void>;
};

/** Keeps the calls of a claimed run. */
export function keepCalls(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  claim: Claim,
): CallKeeper {
  const begun = new Map<RoleName, readonly RoleRecord[]>();
  const write = async (record: RoleRecord) => {
    if (!(await keepRoleCall(db, claim, { record: storable(record), at: now() }))) throw new ClaimLost(claim);
  };
  return {
    begin: async (record) => {
      await write(record);
      begun.set(record.role, [...(begun.get(record.role) ?? []), record]);
    },
    keep: async (record) => {
      const counted = begun.get(record.role) ?? [];
      begun.delete(record.role);
      await write(counted.reduce(without, record));
    },
  };
}

/** What a record adds to a row in which another is counted already. */
function without(record: RoleRecord, counted: RoleRecord): RoleRecord {
  const isPriced = record.costUsd !== null && counted.costUsd !== null;
  return {
    ...record,
    requests: record.requests - counted.requests,
    promptTokens: record.promptTokens - counted.promptTokens,
    completionTokens: record.completionTokens - counted.completionTokens,
    costUsd: isPriced ? record.costUsd - counted.costUsd : record.costUsd,
  };
}

/**
 * Keeps what a role answered in a claimed run; what it took is added to what the role took before in the same run, and may be less
 * than nothing where more was counted before. False where the claim is another's by now: then nothing is kept.
 */
export async function keepRoleCall(
  db: Database,
  claim: Claim,
  { record, at }: { readonly record: RoleRecord; readonly at: Date },
): Promise<boolean> {
  const { answer } = record;
  const json = answer.kind === "answer" ? JSON.stringify(answer.answer) : null;
  const failure = answer.kind === "answer" ? null : answer.reason;
  const { rowCount } = await db.execute(sql`
    insert into ahs.role_call as kept (verdict_id, run, role, model, answer, failure, mode, requests, prompt_tokens,
      completion_tokens, cost_usd, latency_ms, created_at)
    select id, ${claim.run}::integer, ${record.role}, ${record.model}, ${json}::jsonb, ${failure}, ${record.mode},
      ${record.requests}::integer, ${record.promptTokens}::integer, ${record.completionTokens}::integer,
      ${record.costUsd}::double precision, ${record.latencyMs}::integer, ${at}::timestamptz
    from ahs.verdict where ${holdsClaim(claim)} for update
    on conflict (verdict_id, run, role) do update set
      model = excluded.model, answer = excluded.answer, failure = excluded.failure, mode = excluded.mode,
      requests = kept.requests + excluded.requests,
      prompt_tokens = kept.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = kept.completion_tokens + excluded.completion_tokens,
      cost_usd = kept.cost_usd + excluded.cost_usd,
      latency_ms = kept.latency_ms + excluded.latency_ms, created_at = excluded.created_at`);
  return rowCount === 1;
}

type CallRow = {
  readonly role: RoleName;
  readonly model: string;
  readonly answer: unknown;
  readonly failure: string | null;
  readonly mode: RoleRecord["mode"];
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd: number | null;
  readonly latency_ms: number;
};

/** What the roles answered so far in one run, knowing all texts that were handed in for it. */
export async function readRoleCalls(
  db: Database,
  { verdictId, run }: Pick<Claim, "verdictId" | "run">,
): Promise<readonly RoleRecord[]> {
  const { rows } = await db.$client.query<CallRow>(
    `select role, model, answer, failure, mode, requests, prompt_tokens, completion_tokens, cost_usd, latency_ms
     from ahs.role_call where verdict_id = $1 and run = $2 and created_at >= coalesce(
       (select max(created_at) from ahs.held_evidence where verdict_id = $1), '-infinity')
     order by role`,
    [verdictId, run],
  );
  return rows.map((row) => ({
    role: row.role,
    model: row.model,
    answer:
      row.failure === null
        ? { kind: "answer", answer: row.answer }
        : { kind: "abstained", reason: row.failure },
    mode: row.mode,
    requests: row.requests,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    costUsd: row.cost_usd,
    latencyMs: row.latency_ms,
  }));
}

/** Tokens of the calls that were begun or answered since a moment, questions included. */
export async function readTokensSince(db: Database, since: Date): Promise<number> {
  const { rows } = await db.$client.query<{ tokens: number }>({
    ...QUERY_DEADLINE,
    text: `select coalesce(sum(prompt_tokens::bigint + completion_tokens), 0)::float8 as tokens
     from ahs.role_call where created_at >= $1`,
    values: [since],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a sum answers one row");
  return row.tokens;
}

/** Who answers at once; each round judges the answers of those before it. */
const ROUNDS: readonly (readonly RoleName[])[] = [GENERATOR_ROLES, ["critic"], ["synthesiser"]];

/**
 * What of a run that was broken off, or failed, need not be asked again: every answer of the rounds up to the first in which anyone
 * is missing. Who abstained is asked again, and whoever judged without them then judges anew.
 */
export function keptAnswers(records: readonly RoleRecord[]): readonly RoleRecord[] {
  const answers = new Map(
    records.filter(({ answer }) => answer.kind === "answer").map((record) => [record.role, record]),
  );
  const open = ROUNDS.findIndex((roles) => roles.some((role) => !answers.has(role)));
  return ROUNDS.slice(0, open === -1 ? ROUNDS.length : open + 1)
    .flat()
    .flatMap((role) => answers.get(role) ?? []);
}
