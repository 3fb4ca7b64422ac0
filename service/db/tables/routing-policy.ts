import { jsonb, text, timestamp } from "drizzle-orm/pg-core";
import type { RoutingPolicy } from "../../model/score/route.ts";
import { ahs } from "./schema.ts";

/** Routing policies of integrators; without one the default table holds. */
export const routingPolicy = ahs.table("routing_policy", {
  /** key:ID or wallet:ADDRESS. */
  owner: text().primaryKey(),
  policy: jsonb().$type<RoutingPolicy>().notNull(),
  /** SHA-256 of the policy and its time, which ETag shows. */
  version: text().notNull(),
  updatedAt: timestamp({ withTimezone: true }).notNull(),
});
