import { and, eq, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { enrolment } from "../../db/tables/history.ts";
import { registryAgent, registryCursor } from "../../db/tables/scan.ts";
import { decodeDataUri } from "../../net/decode-data-uri.ts";
import { readAgentDocument } from "../documents/fetch-agent-document.ts";

/** A registry of a chain by its lower-case address. */
type RegistryKey = { readonly chainId: number; readonly registry: Address };

/** Change of one agent by a range of blocks; a wallet or URI that it does not name stays as it was. */
export type RegistryChange = {
  readonly agentId: bigint;
  /** Null where the range does not register it. */
  readonly registeredBlock: number | null;
  readonly updatedBlock: number;
  readonly wallet?: string | null;
  readonly uri?: string | null;
};

/** Last block up to which a registry was read; null before the first. */
export async function readRegistryCursor(db: NodePgDatabase, key: RegistryKey): Promise<number | null> {
  const [row] = await db.select({ block: registryCursor.block }).from(registryCursor).where(isCursorOf(key));
  return row?.block ?? null;
}

/**
 * Stores the changes of a range and moves the cursor to its end, both or neither. Returns false, and stores nothing, if
 * the range does not start right after the cursor, or the chain was cleared since it was read.
 */
export async function storeRegistryRange(
  db: Database,
  range: RegistryKey & {
    readonly from: number;
    readonly to: number;
    /** Of the chain's mark, under which the range was read. */
    readonly generation: string;
    readonly changes: readonly RegistryChange[];
  },
): Promise<boolean> {
  const { chainId, registry, from, to, generation, changes } = range;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    const moved = await tx.execute(sql`
      insert into ${registryCursor} (chain_id, registry, block)
      select ${chainId}, ${registry}, ${to}
      where exists (select from ahs.chain_mark where chain_id = ${chainId} and generation = ${generation})
      on conflict (chain_id, registry) do update set block = excluded.block
        where registry_cursor.block = ${from - 1}`);
    if (moved.rowCount === 0) return false;
    if (changes.length > 0) await storeChanges(tx, range);
    return true;
  });
}

/** Agents that are registered here are inserted; of the others those that are known are changed. */
async function storeChanges(
  tx: NodePgDatabase,
  { chainId, registry, changes }: Parameters<typeof storeRegistryRange>[1],
): Promise<void> {
  const rows = sql`jsonb_to_recordset(${JSON.stringify(changes.map(rowOf))}::jsonb) as r (
    agent_id numeric, registered_block bigint, updated_block bigint, wallet text, uri text, has_wallet boolean, has_uri boolean,
    waits boolean, name text, description text, services jsonb, document_state text, document_detail text)`;
  // Due before anything that was read once.
  const due = sql`case when r.waits then 'epoch'::timestamptz end`;
  await tx.execute(sql`
    insert into ${registryAgent} (chain_id, registry, agent_id, wallet, uri, name, description, services, document_state,
      document_detail, attempts, not_before, registered_block, updated_block)
    select ${chainId}, ${registry}, agent_id, wallet, uri, name, description, services, document_state, document_detail, 0, ${due},
      registered_block, updated_block from ${rows}
    where registered_block is not null
    on conflict (chain_id, registry, agent_id) do nothing`);
  await tx.execute(sql`
    update ${registryAgent} a set
      wallet = case when r.has_wallet then r.wallet else a.wallet end,
      updated_block = r.updated_block
    from ${rows}
    where a.chain_id = ${chainId} and a.registry = ${registry} and a.agent_id = r.agent_id
      and r.registered_block is null`);
  // A document that waits to be read leaves what the one before said.
  await tx.execute(sql`
    update ${registryAgent} a set uri = r.uri, attempts = 0, not_before = ${due},
      name = case when r.waits then a.name else r.name end,
      description = case when r.waits then a.description else r.description end,
      services = case when r.waits then a.services else r.services end,
      document_state = r.document_state, document_detail = r.document_detail
    from ${rows}
    where a.chain_id = ${chainId} and a.registry = ${registry} and a.agent_id = r.agent_id
      and r.registered_block is null and r.has_uri and a.uri is distinct from r.uri`);
}

function rowOf({ agentId, registeredBlock, updatedBlock, wallet, uri }: RegistryChange) {
  return {
    agent_id: agentId.toString(),
    registered_block: registeredBlock,
    updated_block: updatedBlock,
    wallet: wallet ?? null,
    uri: uri ?? null,
    has_wallet: wallet !== undefined,
    has_uri: uri !== undefined,
    ...documentOf(uri ?? null),
  };
}

/** The columns of a document that is the URI itself; any other waits to be read. */
function documentOf(uri: string | null) {
  const none = { waits: false, name: null, description: null, services: [], document_detail: null };
  if (uri === null) return { ...none, document_state: null };
  if (!/^\s*data:/i.test(uri)) return { ...none, waits: true, document_state: null };
  const decoded = decodeDataUri(uri.trim());
  if (decoded.kind === "failed")
    return { ...none, document_state: "malformed", document_detail: "The data: URI cannot be decoded." };
  const read = readAgentDocument(decoded.body);
  if (read.kind === "malformed")
    return { ...none, document_state: "malformed", document_detail: `${read.detail}.` };
  const { name, description, services } = read;
  return { ...none, name, description, services, document_state: "current" };
}

/** Agents of all registries may be many. */
const REQUEST_TIMEOUT_MS = 120_000;

/**
 * Requests the indexing of registry wallets that are neither followed nor requested, up to a number of waiting
 * requests. Returns how many it requested.
 * Paid requests are sent first. Registries take turns; of each, the oldest and the newest registration alternate, and a
 * random draw decides which is first.
 * A flood of registrations in one registry delays only registrations made during that flood.
 */
export async function requestRegistryWallets(
  db: Database,
  ask: {
    readonly chainId: number;
    /** Lower-case addresses. */
    readonly registries: readonly string[];
    readonly now: Date;
    readonly mostWaiting: number;
  },
): Promise<number> {
  const { chainId, registries, now, mostWaiting } = ask;
  const followed = sql`${sql.identifier(`chain_${chainId}`)}.${sql.identifier("wallet")}`;
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql.raw(`set local statement_timeout = ${REQUEST_TIMEOUT_MS}`));
    const { rowCount } = await tx.execute(sql`
      with lot as materialized (
        select (random() < 0.5)::int as first
      ), unknown as (
        select a.registry, a.wallet, min(a.registered_block) as block
        from ${registryAgent} a
        where a.chain_id = ${chainId} and a.wallet is not null
          and a.registry in (select jsonb_array_elements_text(${JSON.stringify(registries)}::jsonb))
          and not exists (select from ${followed} w where w.address = a.wallet)
          and not exists (select from ${enrolment} e where e.chain_id = ${chainId} and e.wallet = a.wallet)
        group by a.registry, a.wallet
      ), places as (
        select wallet,
          row_number() over (partition by registry order by block, wallet) as from_oldest,
          row_number() over (partition by registry order by block desc, wallet desc) as from_newest
        from unknown
      )
      insert into ${enrolment} (chain_id, wallet, state, requested_at, cause)
      select ${chainId}, wallet, 'pending', ${now.toISOString()}::timestamptz, 'registry'
      from places cross join lot
      group by wallet order by min(least(2 * from_oldest - first, 2 * from_newest - (1 - first))), random()
      limit greatest(0, ${mostWaiting} - (select count(*) from ${enrolment}
        where chain_id = ${chainId} and state = 'pending' and cause = 'registry'))
      on conflict (chain_id, wallet) do nothing`);
    return rowCount ?? 0;
  });
}

/** Number of agents in a registry up to a block, and of the new ones among them. */
type RegistryCounts = { readonly agents: number; readonly newAgents: number };

/** Agents of a registry by its rows, those registered after `since` being new; all are where that is null. */
export async function countRegistryAgents(
  tx: NodePgDatabase,
  { chainId, registry, since }: RegistryKey & { readonly since: number | null },
): Promise<RegistryCounts> {
  const { rows } = await tx.execute<RegistryCounts>(sql`
    select count(*)::int as agents,
      count(*) filter (where registered_block > ${since ?? -1})::int as "newAgents"
    from ${registryAgent} where chain_id = ${chainId} and registry = ${registry}`);
  return countsOf(rows);
}

/** The same of the registry that the index follows, up to a block. */
export async function countIndexedAgents(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly since: number | null; readonly block: number },
): Promise<RegistryCounts> {
  const { rows } = await tx.execute<RegistryCounts>(sql`
    select count(*)::int as agents,
      count(*) filter (where registered_block > ${of.since ?? -1})::int as "newAgents"
    from ${sql.identifier(`chain_${of.chainId}`)}.agent where registered_block <= ${of.block}`);
  return countsOf(rows);
}

/** Wallets of a registry that a scan has asked for since that moment. */
export async function countRequestedWallets(
  tx: NodePgDatabase,
  { chainId, registry, since }: RegistryKey & { readonly since: Date },
): Promise<number> {
  const { rows } = await tx.execute<{ count: number }>(sql`
    select count(*)::int as count from ${enrolment} e
    where e.chain_id = ${chainId} and e.cause = 'registry' and e.requested_at >= ${since.toISOString()}::timestamptz
      and exists (select from ${registryAgent} a
        where a.chain_id = ${chainId} and a.registry = ${registry} and a.wallet = e.wallet)`);
  return Number(rows[0]?.count);
}

function countsOf(rows: readonly RegistryCounts[]): RegistryCounts {
  const [counts] = rows;
  if (counts === undefined) throw new Error("expected one row of counts, got none");
  return counts;
}

function isCursorOf({ chainId, registry }: RegistryKey): SQL | undefined {
  return and(eq(registryCursor.chainId, chainId), eq(registryCursor.registry, registry));
}
