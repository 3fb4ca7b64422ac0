import { and, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import { isOneOf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { registryAgent } from "../../db/tables/scan.ts";
import type { DocumentOutcome } from "./fetch-agent-document.ts";

/**
 * An agent of a further registry whose document is to be fetched: `account` is whose turn the fetch takes, the wallet or else the
 * registry, and `failures` counts those in a row of this URI. Addresses are lower-case.
 */
export type DueRegistryAgent = Awaited<ReturnType<typeof readDueRegistryAgents>>[number];

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
) {
  const { registry, agentId, uri, wallet, attempts, notBefore } = registryAgent;
  const account = sql<Address>`coalesce(${wallet}, ${registry})`.as("account");
  const due = db
    .select({ registry, agentId, uri: sql<string>`${uri}`.as("uri"), account, attempts, notBefore })
    .from(registryAgent)
    .where(
      and(
        eq(registryAgent.chainId, chainId),
        lte(notBefore, now),
        isOneOf(registry, registries),
        isNotNull(uri),
      ),
    )
    .orderBy(notBefore)
    .limit(MOST_SORTED)
    .as("due");
  const turn = sql`row_number() over (partition by ${due.account} order by ${due.notBefore}, ${due.agentId})`;
  return db
    .select({
      registry: due.registry,
      agentId: due.agentId,
      uri: due.uri,
      account: due.account,
      failures: due.attempts,
    })
    .from(due)
    .orderBy(turn, due.notBefore, due.registry, due.agentId)
    .limit(limit);
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
  const said =
    outcome.state === "current"
      ? {
          name: outcome.name,
          description: outcome.description,
          services: outcome.services,
          documentDetail: null,
          attempts: 0,
          fetchedAt: now,
        }
      : { documentDetail: outcome.detail, attempts: failures + 1 };
  await db.transaction(async (tx) => {
    await holdChain(tx, chainId);
    await tx
      .update(registryAgent)
      .set({ ...said, documentState: outcome.state, notBefore })
      .where(
        and(
          eq(registryAgent.chainId, chainId),
          eq(registryAgent.registry, registry),
          eq(registryAgent.agentId, agentId),
          eq(registryAgent.uri, uri),
        ),
      );
  });
}
