import { sql } from "drizzle-orm";
import { index, integer, jsonb, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import type { Grade } from "../../model/score/record.ts";
import { address, int8, moment, uint } from "../columns.ts";
import type { DeclaredService, DocumentState } from "./infrastructure.ts";
import { ahs } from "./schema.ts";

/** One scan of the registries and of all scores, with what it found. */
export const scanRun = ahs.table(
  "scan_run",
  {
    id: uuid().primaryKey(),
    chainId: integer().notNull(),
    /** UTC day, YYYY-MM-DD. */
    night: text().notNull(),
    /** nightly: the one of its UTC day. hand: `ahs scan`. */
    cause: text().$type<"nightly" | "hand">().notNull(),
    /** running: a worker works on it, or died over it. done: its report is whole. abandoned: another began before it was done. */
    state: text().$type<"running" | "done" | "abandoned">().notNull(),
    startedAt: moment().notNull(),
    /** Null while it runs, as is the report. */
    finishedAt: moment(),
    report: jsonb().$type<ScanReport>(),
    /** Why the last attempt at it failed; null where none did. */
    error: text(),
    attempts: integer().notNull().default(1),
    /** Block that the scan's scores must reach; null until its scoring begins. */
    reach: int8(),
  },
  (table) => [
    uniqueIndex("scan_run_nightly").on(table.chainId, table.night).where(sql`cause = 'nightly'`),
    index("scan_run_newest").on(table.chainId, table.startedAt.desc()),
  ],
);

/** The grade of every wallet as the newest scan that is done found it: what the next one compares with. */
export const scanGrade = ahs.table(
  "scan_grade",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    /** Null for a wallet without enough history. */
    grade: text().$type<Grade>(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.wallet] })],
);

/** Agents of the registries that the index does not follow, by their events in final blocks. */
export const registryAgent = ahs.table(
  "registry_agent",
  {
    chainId: integer().notNull(),
    registry: address().notNull(),
    agentId: uint().notNull(),
    /** Lower-case; null while none is known. */
    wallet: address(),
    /** Null where the registry names none. */
    uri: text(),
    /** From the document of the URI when it was last understood, unchecked, as are description and services. */
    name: text(),
    description: text(),
    services: jsonb().$type<readonly DeclaredService[]>().notNull().default([]),
    /** Result of the last try to read the document of this URI; null before the first, and without a URI. */
    documentState: text().$type<DocumentState>(),
    /** Why it is not current; null where it is. */
    documentDetail: text(),
    /** When that document was last understood. */
    fetchedAt: moment(),
    /** Failures in a row. */
    attempts: integer().notNull().default(0),
    /** When the document is read next; null without a document to fetch. */
    notBefore: moment(),
    registeredBlock: int8().notNull(),
    updatedBlock: int8().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.registry, table.agentId] }),
    index("registry_agent_wallet").on(table.chainId, table.wallet),
    index("registry_agent_due").on(table.chainId, table.notBefore).where(sql`not_before is not null`),
    // As those of agent_document.
    index("registry_agent_name").on(
      table.chainId,
      sql`lower(left(name, 64)) text_pattern_ops`,
      table.registry,
      table.agentId,
    ),
    index("registry_agent_part").using("gin", sql`lower(left(name, 64)) public.gin_trgm_ops`),
  ],
);

/** Up to which block each of those registries has been read. */
export const registryCursor = ahs.table(
  "registry_cursor",
  {
    chainId: integer().notNull(),
    registry: address().notNull(),
    block: int8().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.registry] })],
);

/** Report of one scan; counts are of the whole chain at its end. */
export type ScanReport = {
  /** Changes of each registry since the scan before. */
  readonly registries: readonly {
    readonly registry: string;
    /** As the deployment calls it. */
    readonly name: string;
    readonly agents: number;
    readonly newAgents: number;
    /** Wallets of them that were not followed, and are asked to be. */
    readonly newWallets: number;
    /** Block up to which it was read; null where it could not be read. */
    readonly block: number | null;
    /** Why it could not be read to its end, or without which blocks; null where all of it was. */
    readonly fault: string | null;
  }[];
  readonly documents: Readonly<Record<"current" | "unreachable" | "refused" | "malformed", number>>;
  /** Documents that were asked for, and not read again when the report was made. */
  readonly documentsLeft: number;
  /** Documents that say something else than at the scan before. */
  readonly changedDocuments: number;
  readonly endpoints: { readonly alive: number; readonly failing: number };
  readonly wallets: number;
  /** Wallets by grade, and those without enough history. */
  readonly grades: Readonly<Record<Grade | "insufficient", number>>;
  /** Mean of all scores in hundredths; null without any. */
  readonly meanScoreHundredths: number | null;
  readonly sanctioned: number;
  /** How many grades changed since the scan before; null for the first. */
  readonly changedGrades: number | null;
  /** The first hundred of them; null where a wallet had, or has, no grade. */
  readonly gradeMoves: readonly {
    readonly wallet: string;
    readonly from: Grade | null;
    readonly to: Grade | null;
  }[];
  readonly root: { readonly epoch: number; readonly root: string; readonly leaves: number } | null;
  /** Why there is no root, in words that everybody may read; null where there is one. */
  readonly noRoot: string | null;
};

/** The night's root as a scan reports it. */
export type RootReport = Pick<ScanReport, "root" | "noRoot">;

/** Agents of all registries that are new. */
export function newAgentsOf({ registries }: Pick<ScanReport, "registries">): number {
  return registries.reduce((sum, { newAgents }) => sum + newAgents, 0);
}

/** Registries of which something could not be read. */
export function registryFaultsOf({ registries }: Pick<ScanReport, "registries">): number {
  return registries.filter(({ fault }) => fault !== null).length;
}
