import { fillPlaceholders, type SQL } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type { QueryConfig } from "pg";

const dialect = new PgDialect({ casing: "snake_case" });

/** The form of a statement that the driver takes: its values become numbered parameters. */
export function toQuery(statement: SQL): QueryConfig {
  const { sql: text, params: values } = dialect.sqlToQuery(statement);
  return { text, values };
}

/**
 * A statement that is often run: rendered once, and planned once for each connection under its name, which no other text may have. Its
 * values are `sql.placeholder`s; all others are constants of its text.
 */
export function prepared<Values extends Record<string, unknown>>(
  name: string,
  statement: SQL,
): (values: Values) => QueryConfig {
  const { sql: text, params } = dialect.sqlToQuery(statement.inlineParams());
  return (values) => ({ name, text, values: fillPlaceholders(params, values) });
}

/** The same for a statement on the index of a chain: rendered once for each chain, whose number ends the name. */
export function preparedByChain<Values extends Record<string, unknown>>(
  name: string,
  statementOf: (chainId: number) => SQL,
): (chainId: number, values: Values) => QueryConfig {
  const known = new Map<number, (values: Values) => QueryConfig>();
  return (chainId, values) => {
    const fill = known.get(chainId) ?? prepared<Values>(`${name}_${chainId}`, statementOf(chainId));
    known.set(chainId, fill);
    return fill(values);
  };
}
