import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { SEALED_PREFIX, type TextSeal } from "../../db/text-seal.ts";

/** Columns that hold texts of clients and providers, or quote them, with the keys of their rows. */
const COLUMNS = [
  { table: "job_spec", column: "spec_text", key: ["id"] },
  { table: "job_spec", column: "acceptance_criteria", key: ["id"] },
  { table: "output_text", column: "text", key: ["verdict_id"] },
  { table: "held_evidence", column: "text", key: ["id"] },
  { table: "role_call", column: "answer", key: ["verdict_id", "run", "role"] },
] as const;

type TextColumn = (typeof COLUMNS)[number] extends infer Each
  ? Each extends { table: infer Table extends string; column: infer Column extends string }
    ? `${Table}.${Column}`
    : never
  : never;

/** The place of a text, which its encryption authenticates. */
export function placeOf(column: TextColumn, ...key: readonly (string | number)[]): string {
  return [column, ...key].join(":");
}

export function openOrNull(seal: TextSeal, stored: string | null, place: string): string | null {
  return stored === null ? null : seal.open(stored, place);
}

/** A role's answer as the JSON column holds it: an object, or a string if it is encrypted. */
export function sealAnswer(seal: TextSeal, answer: unknown, place: string): string {
  const json = JSON.stringify(answer);
  return seal.keyId === null ? json : JSON.stringify(seal.seal(json, place));
}

export function openAnswer(seal: TextSeal, stored: unknown, place: string): unknown {
  return typeof stored === "string" ? JSON.parse(seal.open(stored, place)) : stored;
}

/** Stored texts by key id, `plain` for those that are not encrypted. */
export async function countTextsByKey(db: Database): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const target of COLUMNS) {
    const { rows } = await db.execute<{ key: string; texts: number }>(sql`
      select case when ${startOf(target)} = ${SEALED_PREFIX}
               then split_part(${textOf(target)}, ':', 2) else 'plain' end as key, count(*)::int as texts
      from ${sql.raw(`ahs.${target.table}`)} where ${sql.raw(target.column)} is not null group by 1`);
    for (const { key, texts } of rows) counts.set(key, (counts.get(key) ?? 0) + texts);
  }
  return counts;
}

/**
 * Encrypts a batch of texts that are plain or of an old key, in one database transaction, and returns their number; 0 once none is left.
 * Rows that another process has locked are left for a later call. Throws without a current key, and for a text of an unknown key.
 */
export async function resealBatch(db: Database, limit: number): Promise<number> {
  const { keyId } = db.texts;
  if (keyId === null) throw new Error("missing settings: TEXT_ENCRYPTION_KEY");
  for (const target of COLUMNS) {
    const resealed = await db.transaction(async (tx) => {
      const own = `${SEALED_PREFIX}${keyId}:`;
      const keys = sql.raw(target.key.map((name) => `"${name}"`).join(", "));
      const { rows } = await tx.execute<Record<string, string | number> & { stored: string }>(sql`
        select ${keys}, ${textOf(target)} as stored from ${sql.raw(`ahs.${target.table}`)}
        where ${sql.raw(target.column)} is not null and left(${textOf(target)}, ${own.length}::int) <> ${own}
        limit ${limit} for update skip locked`);
      for (const { stored, ...row } of rows) {
        const key = target.key.map((name) => row[name] ?? "");
        const place = `${target.table}.${target.column}:${key.join(":")}`;
        const text = db.texts.seal(db.texts.open(stored, place), place);
        const value = target.column === "answer" ? sql`${JSON.stringify(text)}::jsonb` : sql`${text}`;
        const where = sql.join(
          target.key.map((name, index) => sql`${sql.raw(name)} = ${key[index]}`),
          sql` and `,
        );
        await tx.execute(sql`
          update ${sql.raw(`ahs.${target.table}`)} set ${sql.raw(target.column)} = ${value} where ${where}`);
      }
      return rows.length;
    });
    if (resealed > 0) return resealed;
  }
  return 0;
}

/** The stored text of a column: of JSON a string's content, or the JSON itself. */
function textOf({ column }: (typeof COLUMNS)[number]): SQL {
  return column === "answer" ? sql.raw("answer #>> '{}'") : sql.raw(column);
}

function startOf(target: (typeof COLUMNS)[number]): SQL {
  return sql`left(${textOf(target)}, ${SEALED_PREFIX.length}::int)`;
}
