/**
 * Facts of the wallets of one batch besides their calls. Rows "scoring: one wallet, beside reading and hashing it" and "scoring: wallets
 * of 100 calls" of bench/results.md.
 */

import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import { preparedByChain } from "../../db/statement.ts";
import type { storedHistory } from "../../db/tables/history.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Delegation } from "../../model/features/types.ts";

/** Times are in Unix seconds. */
export type WalletRow = {
  readonly address: Address;
  /** Null for a wallet that the index does not follow. */
  readonly followedBlock: number | null;
  readonly followedTimestamp: number | null;
  readonly firstBlock: number;
  readonly firstTimestamp: number;
  readonly firstNonce: number | null;
  readonly lastTimestamp: number | null;
  /** Whether enriched blocks since it is followed are still to be read for it, or it is not followed. */
  readonly pastOpen: boolean;
  /** As a history source reported it. */
  readonly past: Pick<
    typeof storedHistory.$inferSelect,
    "source" | "fromBlock" | "fromTimestamp" | "toBlock" | "complete"
  > | null;
  readonly delegation: Delegation | null;
};

/** Facts of wallets by the block of the record and the one up to which own calls are known. */
export const walletFacts = preparedByChain<{
  readonly wallets: readonly Address[];
  readonly asOfBlock: number;
  readonly enrichedBlock: number;
}>("wallet_facts", (chainId) => {
  const { block, wallet, transaction } = indexOf(chainId);
  const w = alias(wallet, "w");
  const enrichedBlock = sql.placeholder("enrichedBlock");
  return sql`
    select wanted.address, ${w.followedBlock}::float8 as "followedBlock", f.timestamp::float8 as "followedTimestamp",
      start.number::float8 as "firstBlock", start.timestamp::float8 as "firstTimestamp", first.nonce as "firstNonce",
      last.timestamp::float8 as "lastTimestamp",
      e.wallet is null or e.past_next is not null or e.from_block > ${w.followedBlock} as "pastOpen",
      case when stored.wallet is not null then json_build_object('source', stored.source, 'fromBlock', stored.from_block,
        'fromTimestamp', stored.from_timestamp, 'toBlock', stored.to_block, 'complete', stored.complete) end as past,
      case when d.wallet is not null then json_build_object('to', d.delegate) end as delegation
    from unnest(${sql.placeholder("wallets")}::text[]) as wanted (address)
    cross join (select ${block.number}, ${block.timestamp} from ${block} order by ${block.number} limit 1) start
    left join ${wallet} ${w} on ${w.address} = wanted.address and ${w.followedBlock} <= ${sql.placeholder("asOfBlock")}
    left join ahs.stored_history stored on stored.chain_id = ${chainId} and stored.wallet = wanted.address and stored.from_block <= ${enrichedBlock}
    left join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = ${w.address}
    left join lateral (
      select ${block.timestamp} from ${block} where ${block.number} >= ${w.followedBlock} order by ${block.number} limit 1
    ) f on true
    left join lateral (
      select ${transaction.nonce} from ${transaction}
      where ${transaction.from} = ${w.address} and ${transaction.own} and ${transaction.block} <= ${enrichedBlock}
      order by ${transaction.block}, ${transaction.transactionIndex} limit 1
    ) first on true
    left join lateral (
      select timestamp from ahs.own_call
      where chain_id = ${chainId} and wallet = wanted.address and block <= ${enrichedBlock}
      order by block desc, transaction_index desc, position desc limit 1
    ) last on true
    left join lateral (
      select wallet, delegate from ahs.wallet_delegation
      where chain_id = ${chainId} and wallet = wanted.address and block <= ${enrichedBlock} order by block desc limit 1
    ) d on true
    where ${w.address} is not null or stored.wallet is not null`;
});

/** Newest agents of one wallet whose services are read: registering an agent costs a cent. */
const MAX_AGENTS = sql.raw("16");
const DAY = sql.raw(String(SECONDS_PER_DAY));

/** Each wallet with the start of the day on which a service of one of its current agents last answered. */
export const servicesUp = preparedByChain<{ readonly wallets: readonly Address[] }>(
  "services_up",
  (chainId) => {
    const { agentWallet } = indexOf(chainId);
    return sql`
    select wanted.wallet, floor(extract(epoch from max(up.at)) / ${DAY})::float8 * ${DAY}
    from unnest(${sql.placeholder("wallets")}::text[]) as wanted (wallet)
    cross join lateral (
      select ${agentWallet.agentId} from ${agentWallet}
      where ${agentWallet.wallet} = wanted.wallet and ${agentWallet.toBlock} is null
      order by ${agentWallet.agentId} desc limit ${MAX_AGENTS}
    ) a
    join ahs.agent_document d on d.chain_id = ${chainId} and d.agent_id = a.agent_id
    cross join lateral jsonb_array_elements(d.services) service
    cross join lateral (
      select at from ahs.probe
      where chain_id = ${chainId} and endpoint = service->>'endpoint' and outcome = 'ok' order by at desc limit 1
    ) up
    group by wanted.wallet`;
  },
);
