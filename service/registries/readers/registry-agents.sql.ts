import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { limitStatements } from "../../db/session.sql.ts";
import { enrolment } from "../../db/tables/history.ts";
import { registryAgent } from "../../db/tables/scan.ts";

/**
 * Agents that are registered here are inserted; of the others those that are known are changed. The rows have columns as `r` names them.
 * No bench row measures it; the builder cannot write from the rows of one JSON value.
 */
export async function storeChanges(
  tx: NodePgDatabase,
  { chainId, registry }: { readonly chainId: number; readonly registry: Address },
  changes: readonly object[],
): Promise<void> {
  const rows = sql`jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as r (
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

/** Agents of all registries may be many. */
const REQUEST_TIMEOUT_MS = 120_000;

/**
 * Requests the indexing of registry wallets that are neither followed nor requested, up to a number of waiting
 * requests. Returns how many it requested.
 * Paid requests are sent first. Registries take turns; of each, the oldest and the newest registration alternate, and a
 * random draw decides which is first.
 * A flood of registrations in one registry delays only registrations made during that flood.
 * No bench row measures it; the builder cannot insert into some columns from a select.
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
  const { wallet: followed } = indexOf(chainId);
  const w = alias(followed, "w");
  return db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await limitStatements(tx, REQUEST_TIMEOUT_MS);
    const { rowCount } = await tx.execute(sql`
      with lot as materialized (
        select (random() < 0.5)::int as first
      ), unknown as (
        select a.registry, a.wallet, min(a.registered_block) as block
        from ${registryAgent} a
        where a.chain_id = ${chainId} and a.wallet is not null
          and a.registry = any(${sql.param(registries)}::text[])
          and not exists (select from ${followed} ${w} where ${w.address} = a.wallet)
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
