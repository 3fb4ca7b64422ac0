import { sql } from "drizzle-orm";
import { prepared } from "../db/statement.ts";

// Every paid request runs these: rows "read: GET /risk/{address}, metered key" of bench/results.md.

type Slot = { readonly scope: string; readonly keyHash: string };
type Running = Slot & { readonly fingerprint: string };

export type StoredAnswer = Running & {
  readonly contentType: string;
  readonly body: Buffer;
  readonly until: Date;
};

const isSlot = sql`scope = ${sql.placeholder("scope")} and key_hash = ${sql.placeholder("keyHash")}`;
const isRunning = sql`${isSlot} and fingerprint = ${sql.placeholder("fingerprint")} and state = 'running'`;

/** Takes a slot that is free or over; no row if it is neither. */
export const beginAnswer = prepared<Running & { readonly at: Date; readonly until: Date }>(
  "idempotent_begin",
  sql`
  insert into ahs.idempotent_answer as kept (scope, key_hash, fingerprint, state, created_at, expires_at)
  values (${sql.placeholder("scope")}, ${sql.placeholder("keyHash")}, ${sql.placeholder("fingerprint")}, 'running',
    ${sql.placeholder("at")}, ${sql.placeholder("until")})
  on conflict (scope, key_hash) do update set
    fingerprint = excluded.fingerprint, state = 'running', answer_type = null, answer_body = null,
    created_at = excluded.created_at, expires_at = excluded.expires_at
  where kept.expires_at <= excluded.created_at
  returning state`,
);

export const readAnswer = prepared<Slot>(
  "idempotent_read",
  sql`
  select fingerprint, state, answer_type as "answerType", answer_body as "answerBody" from ahs.idempotent_answer
  where ${isSlot}`,
);

/** The update that stores an answer, which may end a statement that does more. */
export const KEEP_ANSWER = sql`
  update ahs.idempotent_answer set state = 'answered', answer_type = ${sql.placeholder("contentType")},
    answer_body = ${sql.placeholder("body")}, expires_at = ${sql.placeholder("until")}
  where ${isRunning}`;

export const keepAnswer = prepared<StoredAnswer>("idempotent_keep", sql`${KEEP_ANSWER}`);

export const forgetAnswer = prepared<Running>(
  "idempotent_forget",
  sql`delete from ahs.idempotent_answer where ${isRunning}`,
);
