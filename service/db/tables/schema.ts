import { pgSchema } from "drizzle-orm/pg-core";

/** Our own Postgres schema: everything that is not derived from the chain. */
export const ahs = pgSchema("ahs");
