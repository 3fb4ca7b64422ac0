import { type Column, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  customType,
  numeric,
  text,
  timestamp,
  type UpdateDeleteAction,
  uuid,
} from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";

/** An account's address in lower case: 0x and 40 hexadecimal digits. */
export const address = () => text().$type<Address>();

/** 32 bytes: 0x and 64 hexadecimal digits. */
export const hash = () => text().$type<Hex>();

/** Addresses and hashes as arrays of text. */
export const addresses = () => text().array().$type<Address[]>();
export const hashes = () => text().array().$type<Hex[]>();

/** Bytes of any number: 0x and two hexadecimal digits each. */
export const hex = () => text().$type<Hex>();

/** A moment, to the microsecond. */
export const moment = () => timestamp({ withTimezone: true });

export const unixSeconds = () => bigint({ mode: "number" });

/** A block's number, or the number of a row. */
export const int8 = () => bigint({ mode: "number" });

/** The number of a row, given by its table. */
export const rowId = () => int8().primaryKey().generatedAlwaysAsIdentity();

/** The id of a row of another table. */
export const idOf = (row: () => AnyPgColumn, actions: { onDelete?: UpdateDeleteAction } = {}) =>
  uuid().references(row, actions);

/** A quantity of the chain, up to 256 bits. */
export const uint = () => numeric({ mode: "bigint" });

export const wei = () => uint();

/** Bytes as PostgreSQL stores them. */
export const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** An address or a hash as its column holds it. */
export function lowerCase(hex: Hex): Hex {
  return hex.toLowerCase() as Hex;
}

/** Number of an aggregate's rows that meet a condition. */
export function countIf(condition: SQLWrapper): SQL<number> {
  return sql`(count(*) filter (where ${condition}))::int`;
}

/** The column is one of the values: one parameter however many there are, where `in` would take one each. */
export function isOneOf(column: Column, values: readonly (string | number)[]): SQL {
  return sql`${column} = any(${sql.param(values)})`;
}
