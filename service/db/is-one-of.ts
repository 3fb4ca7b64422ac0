import { type Column, type SQL, sql } from "drizzle-orm";

/** The column is one of the values: one parameter however many there are, where `in` would take one each. */
export function isOneOf(column: Column, values: readonly (string | number)[]): SQL {
  return sql`${column} = any(${sql.param(values)})`;
}
