import { and, count, eq, gt, gte, inArray, isNotNull, lte, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { holdChain } from "../../db/chain-fence.ts";
import { countIf } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { enrolment } from "../../db/tables/history.ts";
import { chainMark } from "../../db/tables/quarantine.ts";
import { registryAgent, registryCursor } from "../../db/tables/scan.ts";
import { decodeDataUri } from "../../net/decode-data-uri.ts";
import { readAgentDocument } from "../documents/fetch-agent-document.ts";
import { storeChanges } from "./registry-agents.sql.ts";

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
    const isOfGeneration = and(eq(chainMark.chainId, chainId), eq(chainMark.generation, generation));
    if ((await tx.$count(chainMark, isOfGeneration)) === 0) return false;
    const moved = await tx
      .insert(registryCursor)
      .values({ chainId, registry, block: to })
      .onConflictDoUpdate({
        target: [registryCursor.chainId, registryCursor.registry],
        set: { block: to },
        setWhere: eq(registryCursor.block, from - 1),
      });
    if (moved.rowCount === 0) return false;
    if (changes.length > 0) await storeChanges(tx, range, changes.map(rowOf));
    return true;
  });
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

/** Number of agents in a registry up to a block, and of the new ones among them. */
type RegistryCounts = { readonly agents: number; readonly newAgents: number };

/** Agents of a registry by its rows, those registered after `since` being new; all are where that is null. */
export async function countRegistryAgents(
  tx: NodePgDatabase,
  { chainId, registry, since }: RegistryKey & { readonly since: number | null },
): Promise<RegistryCounts> {
  const [counts] = await tx
    .select({ agents: count(), newAgents: countIf(gt(registryAgent.registeredBlock, since ?? -1)) })
    .from(registryAgent)
    .where(and(eq(registryAgent.chainId, chainId), eq(registryAgent.registry, registry)));
  if (counts === undefined) throw new Error("expected one row of an aggregate, got none");
  return counts;
}

/** The same of the registry that the index follows, up to a block. */
export async function countIndexedAgents(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly since: number | null; readonly block: number },
): Promise<RegistryCounts> {
  const { agent } = indexOf(of.chainId);
  const [counts] = await tx
    .select({ agents: count(), newAgents: countIf(gt(agent.registeredBlock, BigInt(of.since ?? -1))) })
    .from(agent)
    .where(lte(agent.registeredBlock, BigInt(of.block)));
  if (counts === undefined) throw new Error("expected one row of an aggregate, got none");
  return counts;
}

/** Wallets of a registry that a scan has asked for since that moment. */
export function countRequestedWallets(
  tx: NodePgDatabase,
  { chainId, registry, since }: RegistryKey & { readonly since: Date },
): Promise<number> {
  const { wallet } = registryAgent;
  const ofRegistry = tx
    .select({ wallet })
    .from(registryAgent)
    .where(and(eq(registryAgent.chainId, chainId), eq(registryAgent.registry, registry), isNotNull(wallet)));
  return tx.$count(
    enrolment,
    and(
      eq(enrolment.chainId, chainId),
      eq(enrolment.cause, "registry"),
      gte(enrolment.requestedAt, since),
      inArray(enrolment.wallet, ofRegistry),
    ),
  );
}

function isCursorOf({ chainId, registry }: RegistryKey): SQL | undefined {
  return and(eq(registryCursor.chainId, chainId), eq(registryCursor.registry, registry));
}
