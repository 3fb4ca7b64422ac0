/** Followed wallets of which the past is to be read, found by comparing whole tables: the builder has no upsert from a joined select. */
import { type SQL, sql } from "drizzle-orm";
import { indexOf } from "../../db/index-tables.ts";
import { isNoHub } from "./enrich-reads.ts";

export type FollowedWallets = {
  readonly chainId: number;
  readonly finalizedBlock: number;
  /** Whether the time before the index is read of them as well. */
  readonly warms: boolean;
};

/** `isSame` is true where all wallets that the index follows up to the cursor are noted as they are. */
export function comparedSums({ chainId, finalizedBlock: asOfBlock }: FollowedWallets): SQL {
  const { wallet } = indexOf(chainId);
  const { address, followedBlock } = wallet;
  return sql`
    select (
      select row(count(*), sum(hashtextextended(${address} || ' ' || ${followedBlock}, 0))) from ${wallet}
      join ahs.enrich_cursor c on c.chain_id = ${chainId} and ${followedBlock} <= c.block where ${isNoHub({ chainId, asOfBlock })}
    ) = (
      select row(count(*), sum(hashtextextended(e.wallet || ' ' || e.from_block, 0))) from ahs.enrich_wallet e
      where e.chain_id = ${chainId}
    ) as "isSame"`;
}

export function deleteUnfollowed({ chainId, finalizedBlock: asOfBlock }: FollowedWallets): SQL {
  const { wallet } = indexOf(chainId);
  const { address, followedBlock } = wallet;
  return sql`
    delete from ahs.enrich_wallet e using ahs.enrich_cursor c
    where e.chain_id = ${chainId} and c.chain_id = ${chainId} and c.block <= ${asOfBlock} and not exists (
      select from ${wallet}
      where ${address} = e.wallet and ${followedBlock} <= c.block and ${isNoHub({ chainId, asOfBlock })})`;
}

/** Opens the past of wallets that the index follows from behind the cursor, and returns them. */
export function insertMissed({ chainId, finalizedBlock: asOfBlock, warms }: FollowedWallets): SQL {
  const { wallet } = indexOf(chainId);
  const { address, followedBlock } = wallet;
  return sql`
    insert into ahs.enrich_wallet as held (chain_id, wallet, from_block, past_next, past_until, warm_open)
    select ${chainId}::integer, ${address}, ${followedBlock}, ${followedBlock}, c.block, ${warms} and ${followedBlock} > 1
    from ${wallet}
    join ahs.enrich_cursor c on c.chain_id = ${chainId} and c.block <= ${asOfBlock} and ${followedBlock} <= c.block
    left join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = ${address}
    where (e.wallet is null or e.from_block > ${followedBlock}) and ${isNoHub({ chainId, asOfBlock })}
    on conflict (chain_id, wallet) do update set
      -- What others logged of approvals meanwhile says more once it is known which were given.
      past_until = excluded.past_until, from_block = excluded.from_block, past_next = excluded.past_next
    returning wallet`;
}
