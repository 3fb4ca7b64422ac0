import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { readEscrowIndex } from "./escrow-jobs.ts";
import { type EscrowClient, readBlock } from "./escrow-node.ts";

/**
 * The newest block that node or index know: one node of several may lag behind the one that the index follows. Throws an
 * EscrowFailure where the node gives no usable answer.
 */
export async function readNewestBlock(
  { db, client }: { readonly db: NodePgDatabase; readonly client: Pick<EscrowClient, "getBlock"> },
  chainId: number,
): Promise<bigint> {
  const { number } = await readBlock(client);
  const indexed = await readEscrowIndex(db, chainId);
  return indexed !== null && indexed.number > number ? indexed.number : number;
}
