import { sql } from "drizzle-orm";
import { boolean, check, index, integer, jsonb, text, uuid } from "drizzle-orm/pg-core";
import type { RoutingPolicy } from "../../model/score/route.ts";
import { address, idOf, int8, moment } from "../columns.ts";
import { ahs } from "./schema.ts";

/** Extra permissions of keys. review: decide on held verdicts. */
export type KeyScope = "review";

/** API keys; the key itself is never stored. One unit is 0.001 USD. */
export const apiKey = ahs.table(
  "api_key",
  {
    id: uuid().primaryKey(),
    name: text().notNull(),
    partner: boolean().notNull(),
    /** Lower-case hex SHA-256 of the whole key. */
    keyHash: text().notNull().unique(),
    keyPrefix: text().notNull(),
    /** Units left; null is unlimited. */
    balanceUnits: int8(),
    scopes: text().array().$type<readonly KeyScope[]>().notNull(),
    ratePerMinute: integer().notNull(),
    expiresAt: moment(),
    revokedAt: moment(),
    /** The wallet that paid for it, lower-case; null if the operator made it. */
    boughtBy: address(),
    createdAt: moment().notNull().defaultNow(),
  },
  (table) => [
    // No statement can overdraw a balance.
    check("api_key_balance", sql`${table.balanceUnits} >= 0`),
    index("api_key_bought_by").on(table.boughtBy),
  ],
);

/** Every debit of a metered key; one still held after its deadline is released: its request died. */
export const keyDebit = ahs.table(
  "key_debit",
  {
    id: uuid().primaryKey(),
    keyId: idOf(() => apiKey.id).notNull(),
    endpoint: text().notNull(),
    units: int8().notNull(),
    state: text().$type<"held" | "kept" | "returned">().notNull(),
    /** SHA-256 of the caller's Idempotency-Key and request, for purchases that outlast their answer; else null. */
    repeat: text(),
    createdAt: moment().notNull().defaultNow(),
    deadline: moment().notNull(),
  },
  (table) => [
    index("key_debit_state").on(table.state, table.deadline),
    // Spending of a key; only its kept debits, so that reserving one does not write to this index.
    index("key_debit_kept").on(table.keyId, table.createdAt).where(sql`${table.state} = 'kept'`),
    index("key_debit_repeat").on(table.keyId, table.repeat).where(sql`${table.repeat} is not null`),
  ],
);

/** Units that a payment put into a key, each payment once. */
export const keyCredit = ahs.table("key_credit", {
  /** Follows from the payment: the same one again finds its row. */
  id: uuid().primaryKey(),
  keyId: idOf(() => apiKey.id).notNull(),
  units: int8().notNull(),
  createdAt: moment().notNull(),
});

/** Routing policies of integrators; without one the default table holds. */
export const routingPolicy = ahs.table("routing_policy", {
  /** key:ID or wallet:ADDRESS. */
  owner: text().primaryKey(),
  policy: jsonb().$type<RoutingPolicy>().notNull(),
  /** SHA-256 of the policy and its time, which ETag shows. */
  version: text().notNull(),
  updatedAt: moment().notNull(),
});
