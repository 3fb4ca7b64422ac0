import { onchainTable } from "ponder";

/** Ponder wants a table; nothing is ever written to it. */
export const nothing = onchainTable("nothing", (t) => ({ id: t.text().primaryKey() }));
