import { sql } from "drizzle-orm";

import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import type { Database } from "../../db/database.ts";
import type { DocumentOutcome } from "./fetch-agent-document.ts";

/** An agent of a further registry whose document is to be fetched. */
export type DueRegistryAgent = {
  /** Lower-case. */
  readonly registry: Address;
  readonly agentId: string;
  readonly uri: string;
  /** Whose turn the fetch takes: the wallet, else the registry. */
  readonly account: Address;
  /** Failures in a row of this URI. */
  readonly failures: number;
};

type DocumentsQuery = {
  readonly chainId: number;
  /** Lower-case. */
  readonly registries: readonly Address[];
  readonly now: Date;
};

/** Rows that are sorted into turns, the most overdue. */
const MOST_SORTED = 2_000;

/** Agents whose document is due: the first of each account before the second of any. */
export async function readDueRegistryAgents(
  db: Database,
  { chainId, registries, now, limit }: DocumentsQuery & { readonly limit: number },
): Promise<readonly DueRegistryAgent[]> {
  const { rows } = await db.$client.query<DueRegistryAgent>(
    `with due as (
       select registry, agent_id, uri, coalesce(wallet, registry) as account, attempts, not_before from ahs.registry_agent
       where chain_id = $1 and not_before <= $2 and registry = any($3::text[]) and uri is not null
       order by not_before limit ${MOST_SORTED}
     ), turns as (
       select *, row_number() over (partition by account order by not_before, agent_id) as turn from due
     )
     select registry, agent_id::text as "agentId", uri, account, attempts as failures from turns
     order by turn, not_before, registry, agent_id limit $4`,
    [chainId, now, registries, limit],
  );
  return rows;
}

/** Stores what came of fetching an agent's document, unless its URI changed meanwhile. A failure leaves what the last good one said. */
export async function storeRegistryDocument(
  db: Database,
  {
    chainId,
    agent: { registry, agentId, uri, failures },
    outcome,
    now,
    notBefore,
  }: Pick<DocumentsQuery, "chainId" | "now"> & {
    readonly agent: DueRegistryAgent;
    readonly outcome: DocumentOutcome;
    /** When it is read next; null for never. */
    readonly notBefore: Date | null;
  },
): Promise<void> {
  const at = now.toISOString();
  const said =
    outcome.state === "current"
      ? sql`name = ${outcome.name}, description = ${outcome.description}, services = ${JSON.stringify(outcome.services)}::jsonb,
          document_detail = null, attempts = 0, fetched_at = ${at}::timestamptz`
      : sql`document_detail = ${outcome.detail}, attempts = ${failures + 1}`;
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx.execute(sql`
      update ahs.registry_agent set ${said}, document_state = ${outcome.state}, not_before = ${notBefore?.toISOString() ?? null}::timestamptz
      where chain_id = ${chainId} and registry = ${registry} and agent_id = ${agentId}::numeric and uri = ${uri}`);
  });
}
