import type { PoolClient } from "pg";
import type { Address, Hex } from "viem";
import { QUERY_DEADLINE } from "../../db/query-deadline.ts";
import { newestCalls } from "../../scores/read/newest-calls.ts";

/**
 * The newest success among the calls that the account's own code made in a transaction of somebody else, of one method of one account; where
 * it is not known whom it called, `to` is null.
 */
type Executed = { readonly to: Address | null; readonly selector: Hex | null; readonly block: number };

/** What a wallet's own code did beside its key, as far as it can be told. */
export type OwnCode = {
  /** Of the recent days; blocks that are not enriched yet tell of none. */
  readonly executed: readonly Executed[];
  /** The newest success of the recent days, whoever sent it, that called the wallet itself, so that its own code may have done anything. */
  readonly selfCall: { readonly hash: Hex; readonly block: number; readonly transactionIndex: number } | null;
  /** The newest block whose executions by the wallet's own code are known; null where they were never read. */
  readonly enrichedBlock: number | null;
};

type OwnCodeQuery = {
  /** Views schema of the index, escaped. */
  readonly schema: string;
  readonly chainId: number;
  readonly wallet: Address;
  /** Unix seconds. */
  readonly recentSince: number;
};

/** Reads it on the client's snapshot. */
export async function readOwnCode(
  client: PoolClient,
  { schema, chainId, wallet, recentSince }: OwnCodeQuery,
): Promise<OwnCode> {
  const executed = await client.query<Executed>({
    ...QUERY_DEADLINE,
    text: `select "to", selector, max(block)::float8 as block
           from ${newestCalls("$1", "$2")} executed
           where position > 0 and ok and timestamp >= $3
           group by "to", selector`,
    values: [chainId, wallet, recentSince],
  });
  const selfCalls = await client.query<NonNullable<OwnCode["selfCall"]>>({
    ...QUERY_DEADLINE,
    text: `select hash, block::float8, transaction_index as "transactionIndex" from ${schema}.transaction
           where "to" = $1 and ok and input <> '0x' and timestamp >= $2
           order by block desc, transaction_index desc limit 1`,
    values: [wallet, recentSince],
  });
  const enriched = await client.query<{ readonly block: number }>({
    ...QUERY_DEADLINE,
    text: `select least(cursor.block, read.past_next - 1)::float8 as block
           from ahs.enrich_cursor as cursor join ahs.enrich_wallet as read using (chain_id)
           where cursor.chain_id = $1 and read.wallet = $2`,
    values: [chainId, wallet],
  });
  return {
    executed: executed.rows,
    selfCall: selfCalls.rows[0] ?? null,
    enrichedBlock: enriched.rows[0]?.block ?? null,
  };
}
