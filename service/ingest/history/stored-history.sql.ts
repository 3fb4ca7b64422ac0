/** Facts of a wallet's past, which every score on demand reads: one statement of lateral reads, each of one row. */

import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { indexOf } from "../../db/index-tables.ts";
import { preparedByChain } from "../../db/statement.ts";

/** `PastFacts` of a wallet as of a block; no row while the index holds none. */
export const pastFacts = preparedByChain<{ readonly wallet: string; readonly asOfBlock: number }>(
  "past_facts",
  (chainId) => {
    const { block, wallet, transaction } = indexOf(chainId);
    const w = alias(wallet, "w");
    const [address, asOfBlock] = [sql.placeholder("wallet"), sql.placeholder("asOfBlock")];
    return sql`
      select
        case when f.number is not null then
          json_build_object('blockNumber', f.number, 'blockHash', f.hash, 'timestamp', f.timestamp) end as followed,
        f.number is not null and f.number = start.number and start.number <= 1 as "fromChainStart",
        first.nonce as "firstNonce", last.timestamp::float8 as "lastCallAt",
        case when k.source is not null then
          json_build_object('source', k.source, 'toBlock', k.to_block, 'toHash', k.to_hash) end as stored
      from (select ${block.number} from ${block} order by ${block.number} limit 1) start
      left join ${wallet} ${w} on ${w.address} = ${address} and ${w.followedBlock} <= ${asOfBlock}
      left join lateral (
        select ${block.number}, ${block.hash}, ${block.timestamp} from ${block}
        where ${block.number} >= ${w.followedBlock} order by ${block.number} limit 1
      ) f on true
      left join lateral (
        select ${transaction.nonce} from ${transaction}
        where ${transaction.from} = ${w.address} and ${transaction.own} and ${transaction.block} <= ${asOfBlock}
        order by ${transaction.block}, ${transaction.transactionIndex} limit 1
      ) first on true
      left join lateral (
        select timestamp from ahs.own_call
        where chain_id = ${chainId} and wallet = ${address} and block <= ${asOfBlock} and source = 'enrich'
        order by block desc, transaction_index desc, position desc limit 1
      ) last on true
      left join ahs.stored_history k on k.chain_id = ${chainId} and k.wallet = ${address}`;
  },
);
