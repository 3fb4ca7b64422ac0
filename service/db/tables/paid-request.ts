import { doublePrecision, index, integer, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { address, bytes } from "../columns.ts";
import { ahs } from "./schema.ts";

/** Answers kept by Idempotency-Key for a day, each for the caller that it was given to; running until it is answered. */
export const idempotentAnswer = ahs.table(
  "idempotent_answer",
  {
    /** The caller: key:ID or wallet:ADDRESS; payment-identifier:ADDRESS for identifiers of payments. */
    scope: text().notNull(),
    /** SHA-256 of the Idempotency-Key or the identifier. */
    keyHash: text().notNull(),
    /** SHA-256 of the parsed request. */
    fingerprint: text().notNull(),
    state: text().$type<"running" | "answered">().notNull(),
    /** Null while it runs, as is the body; without secrets. */
    answerType: text(),
    answerBody: bytes(),
    createdAt: timestamp({ withTimezone: true }).notNull(),
    /** A running one after that belongs to a request that died; an answered one is forgotten. */
    expiresAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.keyHash] }),
    index("idempotent_answer_expires").on(table.expiresAt),
  ],
);

/** Token buckets of callers, shared by all servers; unlogged, since a crash may well refill them. */
export const rateBucket = ahs.table("rate_bucket", {
  /** key:ID or wallet:ADDRESS. */
  identity: text().primaryKey(),
  /** Calls left when it was last taken from. */
  tokens: doublePrecision().notNull(),
  /** How many of the calls that were asked for then were let through. */
  granted: integer().notNull(),
  updatedAt: timestamp({ withTimezone: true }).notNull(),
});

/** Nonces of sign-ins that were used, each by its own address, until they would be too old anyway. */
export const signInNonce = ahs.table(
  "sign_in_nonce",
  {
    nonce: text().notNull(),
    /** Lower-case. */
    address: address().notNull(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.nonce] }),
    index("sign_in_nonce_expires").on(table.expiresAt),
  ],
);
