import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";

/** Rows of one statement: some megabytes of JSON, and far from its time limit. */
const CHUNK = 5_000;

/** Splits items to write or to ask for into parts of one statement each. */
export function* inStatements<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += CHUNK) yield items.slice(start, start + CHUNK);
}

/**
 * Inserts many rows into a table of ours, each with members named after its columns in camel case, and gives back what the
 * statement's end returns. As one JSON value a row costs a tenth of what it does as parameters.
 */
export async function insertRows<Returned extends Record<string, unknown>>(
  tx: NodePgDatabase,
  into: {
    readonly table: string;
    readonly rows: readonly object[];
    /** Which of the rows, called `new`, are inserted; all without it. */
    readonly where?: SQL;
    readonly end: SQL;
  },
): Promise<{ readonly count: number; readonly returned: readonly Returned[] }> {
  const table = sql`ahs.${sql.identifier(into.table)}`;
  const returned: Returned[] = [];
  const where = into.where === undefined ? sql`` : sql`where ${into.where}`;
  let count = 0;
  for (const rows of inStatements(into.rows)) {
    const json = JSON.stringify(rows.map(columnsOf));
    const result = await tx.execute<Returned>(
      sql`insert into ${table} select * from json_populate_recordset(null::${table}, ${json}::json) as new ${where} ${into.end}`,
    );
    count += result.rowCount ?? 0;
    // Drizzle names the same rows by a type that it cannot resolve here.
    returned.push(...(result.rows as readonly unknown[] as readonly Returned[]));
  }
  return { count, returned };
}

/** JSON has no number for a quantity of the chain: those are texts, which PostgreSQL reads as numbers. */
function columnsOf(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([member, value]) => [
      columnOf(member),
      typeof value === "bigint" ? value.toString() : value,
    ]),
  );
}

/** The column of a member. */
export function columnOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
