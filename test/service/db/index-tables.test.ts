import { eq, getTableColumns, getTableName, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { PgDialect } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import * as schema from "../../../ponder.schema.ts";
import { indexOf, numberOf, tablesExist } from "../../../service/db/index-tables.ts";
import { prepared, toQuery } from "../../../service/db/statement.ts";

const { wallet, block } = indexOf(7);

test("has each table of the index with the names, types and keys that Ponder writes", () => {
  const shapeOf = (table: (typeof schema)[keyof typeof schema] | typeof wallet) => ({
    name: getTableName(table),
    columns: Object.entries(getTableColumns(table)).map(([key, column]) => ({
      key,
      type: column.getSQLType().replace(", 0", ""),
      isPrimary: column.primary,
      isRequired: column.notNull,
    })),
  });
  const read = Object.fromEntries(
    Object.entries(indexOf(7)).map(([key, table]) => [key, shapeOf(table as typeof wallet)]),
  );
  const written = Object.fromEntries(Object.entries(schema).map(([key, table]) => [key, shapeOf(table)]));
  expect(read).toEqual(written);
});

test("names the views of the chain and columns in snake case, and compares addresses in lower case", () => {
  const db = drizzle.mock({ casing: "snake_case" });
  const query = db
    .select({ at: numberOf(wallet.followedBlock) })
    .from(wallet)
    .where(eq(wallet.address, "0xAB"));
  expect(query.toSQL()).toEqual({
    sql: 'select "followed_block"::float8 from "chain_7"."wallet" where "chain_7"."wallet"."address" = $1',
    params: ["0xab"],
  });
});

test("renders statements with schema-qualified names and numbered parameters", () => {
  expect(toQuery(sql`select ${block.hash} from ${block} where ${block.number} = ${5n}`)).toEqual({
    text: 'select "chain_7"."block"."hash" from "chain_7"."block" where "chain_7"."block"."number" = $1',
    values: [5n],
  });
  const hashAt = prepared<{ number: bigint }>(
    "hash_at",
    sql`select hash from ${block} where number = ${sql.placeholder("number")}`,
  );
  expect(hashAt({ number: 6n })).toEqual({
    name: "hash_at",
    text: 'select hash from "chain_7"."block" where number = $1',
    values: [6n],
  });
});

test("asks for several tables at once", () => {
  const { sql: text, params } = new PgDialect().sqlToQuery(tablesExist(7, block, wallet));
  expect({ text, params }).toEqual({
    text: "(to_regclass($1) is not null and to_regclass($2) is not null)",
    params: ["chain_7.block", "chain_7.wallet"],
  });
});
