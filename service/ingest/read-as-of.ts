import { type ArrayReader, readBlock } from "../db/index-snapshot.ts";
import type { AsOf } from "../model/features/types.ts";
import { asOf, finalized, indexReady, newest } from "./read-as-of.sql.ts";

/** The block that a record speaks for, and the one up to which own calls are known: no later than that. */
export type ReadPoint = { readonly asOf: AsOf; readonly enriched: AsOf };

/** The newest finalized block that the index holds; null before there is one, or before the index is ready to be read. */
export async function readFinalized(client: ArrayReader, chainId: number): Promise<AsOf | null> {
  return (await isReady(client, chainId)) ? readBlock(client, finalized(chainId, {})) : null;
}

async function isReady(client: ArrayReader, chainId: number): Promise<boolean> {
  const { rows } = await client.query({ ...indexReady(chainId, {}), rowMode: "array" });
  return rows[0]?.[0] === true;
}

/** The newest block that is finalized and enriched; null without one, or if it is an hour of the chain's time behind. */
export async function readAsOf(client: ArrayReader, chainId: number): Promise<AsOf | null> {
  return (await isReady(client, chainId)) ? readBlock(client, asOf(chainId, {})) : null;
}

/** The newest indexed block, with the own calls that are known by then; null where `readAsOf` is. */
export async function readNewest(client: ArrayReader, chainId: number): Promise<ReadPoint | null> {
  const enriched = await readAsOf(client, chainId);
  if (enriched === null) return null;
  const block = await readBlock(client, newest(chainId, {}));
  return block === null ? null : { asOf: block, enriched };
}
