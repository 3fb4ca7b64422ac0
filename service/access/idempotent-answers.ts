import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** One use of an Idempotency-Key, or of a payment identifier, by one caller. */
export type RepeatSlot = {
  /** key:ID or wallet:ADDRESS; payment-identifier:ADDRESS. */
  readonly scope: string;
  /** Lower-case hex SHA-256 of the Idempotency-Key or the identifier. */
  readonly keyHash: string;
  /** Lower-case hex SHA-256 of the parsed request. */
  readonly fingerprint: string;
};

/** An answer as it is kept: without the secrets that are shown once. */
export type KeptAnswer = { readonly contentType: string; readonly body: string | Uint8Array };

/** What is known of a slot: nothing yet, so that the request is under way from now on; or what another one left. */
type Beginning =
  | { readonly kind: "begun" }
  | { readonly kind: "running" }
  | { readonly kind: "other-request" }
  | { readonly kind: "answered"; readonly answer: KeptAnswer };

/** Answers by Idempotency-Key on ahs.idempotent_answer. */
export type IdempotentAnswers = {
  begin(slot: RepeatSlot): Promise<Beginning>;
  /** Keeps the answer of a slot under way; one that is no longer under way stays as it is. */
  keep(slot: RepeatSlot, answer: KeptAnswer): Promise<void>;
  /** Ends a slot under way without an answer. */
  forget(slot: RepeatSlot): Promise<void>;
};

/** Seconds after which a request counts as dead: as long as its debit is held at most. */
const RUNNING_SECONDS = 120;
const KEPT_SECONDS = 86_400;

const BEGIN = `
  insert into ahs.idempotent_answer as kept (scope, key_hash, fingerprint, state, created_at, expires_at)
  values ($1, $2, $3, 'running', $4, $5)
  on conflict (scope, key_hash) do update set
    fingerprint = excluded.fingerprint, state = 'running', answer_type = null, answer_body = null,
    created_at = excluded.created_at, expires_at = excluded.expires_at
  where kept.expires_at <= excluded.created_at`;

const READ = `
  select fingerprint, state, answer_type, answer_body from ahs.idempotent_answer
  where scope = $1 and key_hash = $2`;

/** Takes scope, key hash, fingerprint, media type, body and expiry as $1 to $6. */
const KEEP = `
  update ahs.idempotent_answer set state = 'answered', answer_type = $4, answer_body = $5, expires_at = $6
  where scope = $1 and key_hash = $2 and fingerprint = $3 and state = 'running'`;

type AnswerRow = {
  readonly fingerprint: string;
  readonly state: "running" | "answered";
  readonly answer_type: string | null;
  readonly answer_body: Buffer | null;
};

/** Every call throws when the database does not answer. */
export function createIdempotentAnswers({
  db,
  now,
}: {
  readonly db: Database;
  readonly now: () => Date;
}): IdempotentAnswers {
  const pool = db.$client;
  return {
    async begin(slot) {
      const at = now();
      const { rowCount } = await pool.query({
        ...QUERY_DEADLINE,
        name: "idempotent_begin",
        text: BEGIN,
        values: [slot.scope, slot.keyHash, slot.fingerprint, at, after(at, RUNNING_SECONDS)],
      });
      if (rowCount === 1) return { kind: "begun" };
      const { rows } = await pool.query<AnswerRow>({
        ...QUERY_DEADLINE,
        name: "idempotent_read",
        text: READ,
        values: [slot.scope, slot.keyHash],
      });
      return beginningOf(rows[0], slot);
    },
    async keep(slot, answer) {
      await pool.query({
        ...QUERY_DEADLINE,
        name: "idempotent_keep",
        ...keepAnswerStatement(slot, answer, now()),
      });
    },
    async forget({ scope, keyHash, fingerprint }) {
      await pool.query({
        ...QUERY_DEADLINE,
        name: "idempotent_forget",
        text: `delete from ahs.idempotent_answer
               where scope = $1 and key_hash = $2 and fingerprint = $3 and state = 'running'`,
        values: [scope, keyHash, fingerprint],
      });
    },
  };
}

/** The update that keeps an answer, for statements and transactions that keep something else with it; it takes $1 to $6. */
export function keepAnswerStatement(
  { scope, keyHash, fingerprint }: RepeatSlot,
  { contentType, body }: KeptAnswer,
  at: Date,
): { readonly text: string; readonly values: unknown[] } {
  return {
    text: KEEP,
    values: [scope, keyHash, fingerprint, contentType, bytesOf(body), after(at, KEPT_SECONDS)],
  };
}

function bytesOf(body: string | Uint8Array): Buffer {
  return typeof body === "string"
    ? Buffer.from(body)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** A row that is gone by now was another request's, which ended without an answer while this one asked. */
function beginningOf(row: AnswerRow | undefined, slot: RepeatSlot): Beginning {
  if (row === undefined) return { kind: "running" };
  if (row.fingerprint !== slot.fingerprint) return { kind: "other-request" };
  const { answer_type: contentType, answer_body: body } = row;
  if (contentType === null || body === null) return { kind: "running" };
  return { kind: "answered", answer: { contentType, body } };
}

function after(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1_000);
}

/** Deletes answers past their day, and what requests that died left; answers how many. */
export async function dropExpiredAnswers(db: Database, now: Date): Promise<number> {
  const { rowCount } = await db.$client.query("delete from ahs.idempotent_answer where expires_at <= $1", [
    now,
  ]);
  return rowCount ?? Number.NaN;
}
