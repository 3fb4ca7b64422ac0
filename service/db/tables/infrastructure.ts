import { sql } from "drizzle-orm";
import { boolean, date, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import { address, hash, moment, rowId, uint } from "../columns.ts";
import { ahs } from "./schema.ts";

/** current: fetched and understood. unreachable, refused, malformed: what came of the last try; the services are of the last good one. */
export type DocumentState = "current" | "unreachable" | "refused" | "malformed";

/** Kind by which an endpoint is probed: the name in its declaration, and other for every other name. */
export type EndpointKind = "a2a" | "mcp" | "x402" | "other";

/** One entry of an agent document's `services` (ERC-8004). */
export type DeclaredService = {
  readonly name: string;
  readonly endpoint: string;
  readonly version: string | null;
};

/** Registration documents of agents, by the URI that the registry names. */
export const agentDocument = ahs.table(
  "agent_document",
  {
    chainId: integer().notNull(),
    agentId: uint().notNull(),
    uri: text().notNull(),
    state: text().$type<DocumentState>().notNull(),
    /** Why it is not current; null where it is. */
    detail: text(),
    /** keccak256 of the last good document. */
    contentHash: hash(),
    name: text(),
    description: text(),
    services: jsonb().$type<readonly DeclaredService[]>().notNull(),
    attempts: integer().notNull(),
    fetchedAt: moment(),
    notBefore: moment(),
    /** The content's hash as of the newest scan that is done, or as a scan first found it; null before. */
    scannedHash: hash(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.agentId] }),
    index("agent_document_due").on(table.chainId, table.notBefore),
    // Searches by the beginning of a name, which may be of any length, and be that of many.
    index("agent_document_name").on(
      table.chainId,
      sql`lower(left(name, 64)) text_pattern_ops`,
      table.agentId,
    ),
    // Searches inside a name, by its trigrams.
    index("agent_document_part").using("gin", sql`lower(left(name, 64)) public.gin_trgm_ops`),
  ],
);

/** How many documents were read for an account on a UTC day. */
export const documentDay = ahs.table(
  "document_day",
  {
    chainId: integer().notNull(),
    day: date().notNull(),
    account: address().notNull(),
    documents: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.day, table.account] })],
);

/** One visit to a declared endpoint. */
export const probe = ahs.table(
  "probe",
  {
    id: rowId(),
    chainId: integer().notNull(),
    endpoint: text().notNull(),
    /** Kind by which it was visited; null for visits from before this column. */
    kind: text().$type<EndpointKind>(),
    at: moment().notNull(),
    /** ok: it answered as alive. error: 404 or 5xx. timeout, unreachable, refused: no answer, or one that the guard refused. */
    outcome: text().$type<"ok" | "error" | "timeout" | "unreachable" | "refused">().notNull(),
    status: integer(),
    latencyMs: integer(),
    /** Whether what it served is what the service's kind must serve; null where nothing can be said. */
    valid: boolean(),
    detail: text(),
    /** Quarter hours that it counts for: a failed visit for all since the visit before, an answered one for its own. */
    quarters: integer().notNull().default(1),
  },
  (table) => [index("probe_endpoint").on(table.chainId, table.endpoint, table.at)],
);

/** When each declared endpoint is visited next, as each kind that it is declared as: no declaration changes another's visits. */
export const probeSchedule = ahs.table(
  "probe_schedule",
  {
    chainId: integer().notNull(),
    endpoint: text().notNull(),
    kind: text().$type<EndpointKind>().notNull(),
    /** Whose turns its visits take: of all whose agents declare it, the account that declares the fewest endpoints. */
    account: address().notNull(),
    nextAt: moment().notNull(),
    /** First of the failed visits in a row; null where the last one was answered, or none was made. */
    failingSince: moment(),
    answered: boolean().notNull().default(false),
    /** Quarter hours between the last visit and the next. */
    quarters: integer().notNull().default(1),
    /** Whose host it is, by `registrableDomain`; null until the schedule is synchronized. */
    domain: text(),
    declaredAt: moment().notNull().defaultNow(),
    /** kept: visited each quarter of an hour. turn: visited once. none: its domain declares too many, and it waits for a turn. */
    place: text().$type<"kept" | "turn" | "none">().notNull().default("kept"),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.endpoint, table.kind] }),
    index("probe_schedule_next").on(table.chainId, table.nextAt),
  ],
);
