import { and, count, eq, lte, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { escapeIdentifier } from "pg";
import type { Address, Hex } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import {
  agentDocument,
  type DeclaredService,
  type DocumentState,
  documentDay,
} from "../../db/tables/infrastructure.ts";

/** Places at the gateway of ipfs: one host for all agents, who wait only for those of their own lane. */
export const IPFS_LANES = 2;

/** An agent whose document is to be fetched. */
export type DueAgent = Pick<typeof agentDocument.$inferSelect, "agentId" | "uri"> & {
  /** Whose turn the fetch takes. */
  readonly account: Address;
  /** Whether the document was understood when it was last read, and has the same URI. */
  readonly isProven: boolean;
  /** Failures in a row of this very URI. */
  readonly failures: number;
  /** Whether a document of it was ever understood that declares services. */
  readonly hasServices: boolean;
};

type DueQuery = {
  readonly chainId: number;
  readonly now: Date;
  /** Agents that did not change since this block need no comparison of their URIs. */
  readonly sinceBlock: number;
  /** Most agents of one account, and at one host. */
  readonly perAccount: number;
  readonly perHost: number;
  /** Most documents of one account in a UTC day. */
  readonly perAccountDay: number;
  /** Most of those that are new, changed or failed last: a crowd of them leaves room for the others. */
  readonly unproven: number;
  readonly limit: number;
};

/**
 * Agents of the index that are new, whose URI changed, or whose document is due again: of each account the new and most
 * overdue before the second of any, and likewise of each host. `changed` says whether any due agent, among them or not, is new or
 * has another URI.
 */
export async function readDueAgents(
  db: Database,
  query: DueQuery,
): Promise<{ readonly agents: readonly DueAgent[]; readonly changed: boolean }> {
  const { chainId, sinceBlock, now, perAccount, perHost, limit, unproven, perAccountDay } = query;
  // A row without an agent says of none whether others changed.
  const { rows } = await db.$client.query<
    (Omit<DueAgent, "agentId"> & { agentId: string | null }) & { anyChanged: boolean }
  >(dueStatement(chainId), [chainId, sinceBlock, now, perAccount, perHost, limit, unproven, perAccountDay]);
  const agents = rows.flatMap(({ anyChanged: _, agentId, ...agent }) =>
    agentId === null ? [] : [{ ...agent, agentId: BigInt(agentId) }],
  );
  return { agents, changed: rows.some(({ anyChanged }) => anyChanged) };
}

/**
 * The host is read from the URI only where the agent is due, since URIs can be long. Hosts share the places of their last two
 * labels, so that the hosts of one domain do not crowd out others; a data: URI bothers no host, and those of ipfs take turns in
 * lanes, as at so many hosts.
 */
function dueStatement(chainId: number): string {
  const agents = `${escapeIdentifier(`chain_${chainId}`)}.agent`;
  const account = agentAccount(chainId);
  return `
  with due as (
    select a.agent_id, a.agent_uri, true as changed, false as proven, 0 as failures, d.services,
           null::timestamptz as since, ${account} as account
    from ${agents} a
    left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
    where a.updated_block >= $2 and (d.agent_id is null or d.uri <> a.agent_uri)
    union all
    select a.agent_id, a.agent_uri, false, d.uri = a.agent_uri and d.state = 'current',
           case when d.uri = a.agent_uri then d.attempts else 0 end, d.services, d.not_before, ${account}
    from ahs.agent_document d
    join ${agents} a on a.agent_id = d.agent_id
    where d.chain_id = $1 and d.not_before <= $3 and not (a.updated_block >= $2 and d.uri <> a.agent_uri)
  ), turns as (
    select *, random() as lot, row_number() over (partition by account order by since nulls first, agent_id) as turn
    from due
  ), hosts as (
    select turns.*, lower(substring(agent_uri from '^[hH][tT]{2}[pP][sS]?://([^/?#:]*)')) as host
    from turns left join ahs.document_day t
      on t.chain_id = $1 and t.day = ($3 at time zone 'UTC')::date and t.account = turns.account
    where turn <= least($4, $8 - coalesce(t.documents, 0))
  ), places as (
    select *, row_number() over (
      partition by case when agent_uri ~* '^ipfs:' then 'ipfs ' || agent_id % ${IPFS_LANES}
        else coalesce(substring(host from '[^.]+[.][^.]*[a-z][^.]*[.]?$'), host, agent_id::text) end
      order by turn, not changed, lot
    ) as place from hosts
  ), ranks as (
    select *, row_number() over (partition by proven order by greatest(turn, place), not changed, lot) as rank
    from places where place <= $5
  )
  select agent_id::text as "agentId", agent_uri as uri, account, failures, proven as "isProven",
         coalesce(jsonb_array_length(services), 0) > 0 as "hasServices",
         (select coalesce(bool_or(changed), false) from due) as "anyChanged"
  from (values (1)) as one left join (
    select * from ranks where proven or rank <= $7 order by greatest(turn, place), not changed, lot limit $6
  ) as chosen on true order by greatest(turn, place), not changed, lot`;
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
  await db.$client.query("delete from ahs.document_day where chain_id = $1 and day < $2", [chainId, day]);
  const { rows } = await db.$client.query<{ account: string; count: number }>(
    `select account, count(*) over ()::int as count from ahs.document_day
     where chain_id = $1 and day = $2 and documents >= $3 order by account limit ${SPENT_SHOWN}`,
    [chainId, day, perAccountDay],
  );
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
): AsyncGenerator<{ readonly above: string; readonly upTo: string }, void, undefined> {
  // Agent ids are unsigned.
  for (let above = "-1"; ; ) {
    signal.throwIfAborted();
    const { rows } = await db.$client.query<{ last: string | null }>(
      `select max(agent_id)::text as last from (
         select agent_id from ahs.agent_document where chain_id = $1 and agent_id > $2::numeric
         order by agent_id limit ${BATCH}) as batch`,
      [chainId, above],
    );
    const upTo = rows[0]?.last ?? null;
    if (upTo === null) return;
    yield { above, upTo };
    above = upTo;
  }
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
  for await (const { above, upTo } of agentBatches(db, chainId, signal)) {
    await db.$client.query(
      `update ahs.agent_document set not_before = $2
       where chain_id = $1 and agent_id > $4::numeric and agent_id <= $5::numeric
         and state = 'current' and fetched_at < $3 and not_before > $2 and uri !~* '^data:'`,
      [chainId, now, readBefore, above, upTo],
    );
  }
}

/** How many documents were due at a moment and were not read since, also where the index has lost their agent: by an index alone. */
export function countWaitingDocuments(db: Database, chainId: number, dueAt: Date): Promise<number> {
  return db.$count(
    agentDocument,
    and(eq(agentDocument.chainId, chainId), lte(agentDocument.notBefore, dueAt)),
  );
}

/** The same of the agents of the index, who alone are read. */
export async function countDocumentsLeft(tx: NodePgDatabase, chainId: number, dueAt: Date): Promise<number> {
  const { rows } = await tx.execute<{ count: number }>(sql`
    select count(*)::int as count from ahs.agent_document d
    join ${sql.identifier(`chain_${chainId}`)}.agent a on a.agent_id = d.agent_id
    where d.chain_id = ${chainId} and d.not_before <= ${dueAt.toISOString()}::timestamptz`);
  return Number(rows[0]?.count);
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

/**
 * SQL for the account whose turns an agent `a` of the index uses: the owner if it was ever the agent's wallet, else the
 * present wallet, else the first one.
 * Only the wallet itself can become the wallet of an agent. A sender who transfers agents uses its own turns, not those
 * of the receiver.
 */
export function agentAccount(chainId: number): string {
  const wallets = `${escapeIdentifier(`chain_${chainId}`)}.agent_wallet`;
  return `case
    when exists (select from ${wallets} w where w.agent_id = a.agent_id and w.wallet = a.owner) then a.owner
    else coalesce(
      a.wallet,
      (select w.wallet from ${wallets} w where w.agent_id = a.agent_id order by w.from_block, w.id limit 1),
      a.owner
    ) end`;
}
