import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { SEALED_PREFIX, type TextSeal } from "../../db/text-seal.ts";

/** Columns that hold texts of clients and providers, or quote them, with the keys of their rows. */
const KEYS = {
  "job_spec.spec_text": ["id"],
  "job_spec.acceptance_criteria": ["id"],
  "output_text.text": ["verdict_id"],
  "held_evidence.text": ["id"],
  "role_call.answer": ["verdict_id", "run", "role"],
} as const;

type TextColumn = keyof typeof KEYS;
// Object.keys returns plain strings.
const COLUMNS = Object.keys(KEYS) as readonly TextColumn[];

/** The place of a text, which its encryption authenticates. */
export function placeOf(column: TextColumn, ...key: readonly (string | number)[]): string {
  return [column, ...key].join(":");
}

export function openOrNull(seal: TextSeal, stored: string | null, place: string): string | null {
  return stored === null ? null : seal.open(stored, place);
}

/** Decrypts the texts of a specification; null for those that were dropped. */
export function openSpecTexts(
  seal: TextSeal,
  specId: string,
  stored: { readonly specText: string | null; readonly acceptanceCriteria: string | null },
) {
  const { specText, acceptanceCriteria } = stored;
  return {
    specText: openOrNull(seal, specText, placeOf("job_spec.spec_text", specId)),
    acceptanceCriteria: openOrNull(seal, acceptanceCriteria, placeOf("job_spec.acceptance_criteria", specId)),
  };
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
  for (const column of COLUMNS) {
    const { table, name, text } = namesOf(column);
    const { rows } = await db.execute<{ key: string; texts: number }>(sql`
      select case when left(${text}, ${SEALED_PREFIX.length}::int) = ${SEALED_PREFIX}
               then split_part(${text}, ':', 2) else 'plain' end as key, count(*)::int as texts
      from ${table} where ${name} is not null group by 1`);
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
  for (const column of COLUMNS) {
    const resealed = await resealColumn(db, column, { sealed: `${SEALED_PREFIX}${keyId}:`, limit });
    if (resealed > 0) return resealed;
  }
  return 0;
}

/** Encrypts texts of a column that do not begin with `sealed`, and returns their number. */
function resealColumn(
  db: Database,
  column: TextColumn,
  { sealed, limit }: { readonly sealed: string; readonly limit: number },
): Promise<number> {
  const { table, name, text } = namesOf(column);
  const keys = KEYS[column].map((key) => sql.identifier(key));
  return db.transaction(async (tx) => {
    const { rows } = await tx.execute<Record<string, string | number> & { stored: string }>(sql`
      select ${sql.join(keys, sql`, `)}, ${text} as stored from ${table}
      where ${name} is not null and left(${text}, ${sealed.length}::int) <> ${sealed}
      limit ${limit} for update skip locked`);
    for (const { stored, ...row } of rows) {
      const key = KEYS[column].map((one) => row[one] ?? "");
      const place = placeOf(column, ...key);
      const fresh = db.texts.seal(db.texts.open(stored, place), place);
      const value = column === "role_call.answer" ? sql`${JSON.stringify(fresh)}::jsonb` : sql`${fresh}`;
      const isRow = sql.join(
        keys.map((one, index) => sql`${one} = ${key[index]}`),
        sql` and `,
      );
      await tx.execute(sql`update ${table} set ${name} = ${value} where ${isRow}`);
    }
    return rows.length;
  });
}

/** A column in SQL, and the text that it stores: of JSON a string's content, or the JSON itself. */
function namesOf(column: TextColumn) {
  const [table = "", name = ""] = column.split(".");
  const named = sql.identifier(name);
  return {
    table: sql`ahs.${sql.identifier(table)}`,
    name: named,
    text: column === "role_call.answer" ? sql`${named} #>> '{}'` : sql`${named}`,
  };
}
