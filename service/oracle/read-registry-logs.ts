import { and, eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { ChainReader, LogFilter } from "../chain/node/chain-reader.ts";
import { NodeFailure } from "../chain/node/failure.ts";
import type { RawLog } from "../chain/node/rpc-answers.ts";
import { holdChain } from "../db/chain-fence.ts";
import { lowerCase } from "../db/columns.ts";
import type { Database } from "../db/database.ts";
import { registryCursor } from "../db/tables/scan.ts";

type RegistryPlace = { readonly chainId: number; readonly registry: Address };

export type RegistryLogSource = RegistryPlace & {
  readonly db: Database;
  readonly node: Pick<ChainReader, "logs">;
  /** First block of the registry that is read. */
  readonly startBlock: number;
};

/** Blocks of one request to the node, and requests of one call. */
const [RANGE_BLOCKS, RANGES] = [5_000, 20];

/**
 * Reads a registry's logs from its cursor up to a final block, range by range; a range with too many logs, or that takes too long, is
 * halved. The rows that `store` writes of a range and the cursor are one database transaction.
 */
export async function readRegistryLogs(
  source: RegistryLogSource,
  { finalBlock, topics }: { readonly finalBlock: number; readonly topics: LogFilter["topics"] },
  store: (tx: NodePgDatabase, logs: readonly RawLog[]) => Promise<void>,
): Promise<void> {
  const { db, chainId, registry, node, startBlock } = source;
  const cursor = await readCursor(db, source);
  let [from, span] = [cursor === null ? startBlock : cursor + 1, RANGE_BLOCKS];
  for (let range = 0; range < RANGES && from <= finalBlock; range += 1) {
    const to = Math.min(from + span - 1, finalBlock);
    const logs = await node
      .logs({ from, to, addresses: [lowerCase(registry)], topics })
      .catch((error: unknown) => {
        if (to > from && error instanceof NodeFailure && error.fitsWhenSmaller) return null;
        throw error;
      });
    if (logs === null) {
      span = Math.ceil((to - from + 1) / 2);
      continue;
    }
    await db.transaction(async (tx) => {
      await holdChain(tx, chainId);
      await store(tx, logs);
      await moveCursor(tx, source, to);
    });
    from = to + 1;
  }
}

/** Last block up to which the registry was read; null before the first. */
async function readCursor(db: NodePgDatabase, { chainId, registry }: RegistryPlace): Promise<number | null> {
  const isMine = and(eq(registryCursor.chainId, chainId), eq(registryCursor.registry, lowerCase(registry)));
  const [row] = await db.select({ block: registryCursor.block }).from(registryCursor).where(isMine);
  return row?.block ?? null;
}

async function moveCursor(
  tx: NodePgDatabase,
  { chainId, registry }: RegistryPlace,
  block: number,
): Promise<void> {
  await tx
    .insert(registryCursor)
    .values({ chainId, registry: lowerCase(registry), block })
    .onConflictDoUpdate({
      target: [registryCursor.chainId, registryCursor.registry],
      set: { block: sql`greatest(${registryCursor.block}, excluded.block)` },
    });
}
