import { and, count, eq, gt, gte, inArray, lt, lte, max, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address, Hex } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { toQuery } from "../../db/statement.ts";
import {
  agentDocument,
  type DeclaredService,
  type DocumentState,
  documentDay,
} from "../../db/tables/infrastructure.ts";
import { type DueAgent, type DueQuery, type DueRow, dueAgents } from "./due-agents.sql.ts";

/**
 * Agents of the index that are new, whose URI changed, or whose document is due again: of each account the new and most
 * overdue before the second of any, and likewise of each host. `changed` says whether any due agent, among them or not, is new or
 * has another URI.
 */
export async function readDueAgents(
  db: Database,
  query: DueQuery,
): Promise<{ readonly agents: readonly DueAgent[]; readonly changed: boolean }> {
  // A row without an agent says of none whether others changed.
  const { rows } = await db.$client.query<DueRow>(toQuery(dueAgents(query)));
  const agents = rows.flatMap(({ anyChanged: _, agentId, ...agent }) =>
    agentId === null ? [] : [{ ...agent, agentId: BigInt(agentId) }],
  );
  return { agents, changed: rows.some(({ anyChanged }) => anyChanged) };
}

/** A document that was understood. */
export type CurrentDocument = {
  readonly state: "current";
  readonly name: string | null;
  readonly description: string | null;
  readonly services: readonly DeclaredService[];
  readonly contentHash: Hex;
};

type DocumentWrite = Pick<typeof agentDocument.$inferSelect, "chainId" | "agentId" | "uri"> & {
  /** Whose turn it took, and when. */
  readonly account: Address;
  readonly readAt: Date;
  readonly notBefore: Date;
} & (
    | (CurrentDocument & { readonly fetchedAt: Date })
    | {
        readonly state: Exclude<DocumentState, "current">;
        readonly detail: string;
        /** Failures in a row, this one included. */
        readonly failures: number;
        /** Whether the services of the last good document are kept. */
        readonly keepServices: boolean;
      }
  );

/** Stores what came of fetching an agent's document, and counts it for its account; one that failed leaves what the last good one said. */
export async function storeDocument(db: Database, write: DocumentWrite): Promise<void> {
  const { chainId, agentId, uri, notBefore, state, account, readAt } = write;
  const said =
    write.state === "current"
      ? {
          detail: null,
          attempts: 0,
          name: write.name,
          description: write.description,
          services: write.services,
          contentHash: write.contentHash,
          fetchedAt: write.fetchedAt,
        }
      : { detail: write.detail, attempts: write.failures, ...(write.keepServices ? {} : { services: [] }) };
  const changes = { uri, state, notBefore, ...said };
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx
      .insert(agentDocument)
      .values({ chainId, agentId, services: [], ...changes })
      .onConflictDoUpdate({ target: [agentDocument.chainId, agentDocument.agentId], set: changes });
    await tx
      .insert(documentDay)
      .values({ chainId, day: utcDay(readAt), account, documents: 1 })
      .onConflictDoUpdate({
        target: [documentDay.chainId, documentDay.day, documentDay.account],
        set: { documents: sql`${documentDay.documents} + 1` },
      });
  });
}

const SPENT_SHOWN = 5;

/** Counts accounts that have used up a day's documents, and names some; forgets the days before. */
export async function readSpentAccounts(
  db: Database,
  { chainId, now, perAccountDay }: Pick<DueQuery, "chainId" | "now" | "perAccountDay">,
): Promise<{ readonly count: number; readonly first: readonly string[] }> {
  const day = utcDay(now);
  const isOfChain = eq(documentDay.chainId, chainId);
  await db.delete(documentDay).where(and(isOfChain, lt(documentDay.day, day)));
  const rows = await db
    .select({ account: documentDay.account, count: sql<number>`count(*) over ()::int` })
    .from(documentDay)
    .where(and(isOfChain, eq(documentDay.day, day), gte(documentDay.documents, perAccountDay)))
    .orderBy(documentDay.account)
    .limit(SPENT_SHOWN);
  return { count: rows[0]?.count ?? 0, first: rows.map(({ account }) => account) };
}

function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

const BATCH = 10_000;

/**
 * Yields ranges of agent ids that cover all agents with a document: 10,000 agents a range, and those that are added meanwhile.
 * Throws the signal's reason between two ranges when it fires.
 */
export async function* agentBatches(
  db: Database,
  chainId: number,
  signal: AbortSignal,
): AsyncGenerator<{ readonly above: bigint; readonly upTo: bigint }, void, undefined> {
  const { agentId } = agentDocument;
  // Agent ids are unsigned.
  for (let above = -1n; ; ) {
    signal.throwIfAborted();
    const batch = db
      .select({ agentId })
      .from(agentDocument)
      .where(and(eq(agentDocument.chainId, chainId), gt(agentId, above)))
      .orderBy(agentId)
      .limit(BATCH)
      .as("batch");
    const [last] = await db.select({ agentId: max(batch.agentId) }).from(batch);
    const upTo = last?.agentId ?? null;
    if (upTo === null) return;
    yield { above, upTo };
    above = upTo;
  }
}

/** The documents of such a range of agents. */
export function areOfBatch(
  chainId: number,
  { above, upTo }: { readonly above: bigint; readonly upTo: bigint },
) {
  const { agentId } = agentDocument;
  return and(eq(agentDocument.chainId, chainId), gt(agentId, above), lte(agentId, upTo));
}

/**
 * Has every document read again that was read before a moment and is not due yet, a batch of agents at a time; inline ones
 * cannot change, and failing ones keep their pace. Throws the signal's reason between two batches when it fires.
 */
export async function askForDocuments(
  db: Database,
  { chainId, readBefore, now }: { readonly chainId: number; readonly readBefore: Date; readonly now: Date },
  signal: AbortSignal,
): Promise<void> {
  const isStale = and(
    eq(agentDocument.state, "current"),
    lt(agentDocument.fetchedAt, readBefore),
    gt(agentDocument.notBefore, now),
    sql`${agentDocument.uri} !~* '^data:'`,
  );
  for await (const batch of agentBatches(db, chainId, signal)) {
    await db
      .update(agentDocument)
      .set({ notBefore: now })
      .where(and(areOfBatch(chainId, batch), isStale));
  }
}

/** How many documents were due at a moment and were not read since, also where the index has lost their agent: by an index alone. */
export function countWaitingDocuments(db: Database, chainId: number, dueAt: Date): Promise<number> {
  return db.$count(agentDocument, areWaiting(chainId, dueAt));
}

/** The same of the agents of the index, who alone are read. */
export function countDocumentsLeft(tx: NodePgDatabase, chainId: number, dueAt: Date): Promise<number> {
  const { agent } = indexOf(chainId);
  const indexed = tx.select({ agentId: agent.agentId }).from(agent);
  return tx.$count(agentDocument, and(areWaiting(chainId, dueAt), inArray(agentDocument.agentId, indexed)));
}

function areWaiting(chainId: number, dueAt: Date) {
  return and(eq(agentDocument.chainId, chainId), lte(agentDocument.notBefore, dueAt));
}

/** How many documents there are in each state. */
export async function countDocuments(
  db: NodePgDatabase,
  chainId: number,
): Promise<Readonly<Record<DocumentState, number>>> {
  const rows = await db
    .select({ state: agentDocument.state, count: count() })
    .from(agentDocument)
    .where(eq(agentDocument.chainId, chainId))
    .groupBy(agentDocument.state);
  const counted = Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  return { current: 0, unreachable: 0, refused: 0, malformed: 0, ...counted };
}
