import { type ClientBase, escapeIdentifier } from "pg";
import type { Address } from "viem";
import type { storedHistory } from "../../db/tables/history.ts";
import type { ReadPoint } from "../../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Coverage, Delegation } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";

/** Facts about a wallet besides its calls. */
export type WalletFacts = {
  readonly address: Address;
  readonly coverage: Coverage;
  /** Unix seconds; null where the index starts later than the chain. */
  readonly chainStartTimestamp: number | null;
  /** Unix seconds of the window's first moment; null without an own call. */
  readonly windowStart: number | null;
  /** Whether enriched blocks since it is followed are still to be read for it, or it is not followed. */
  readonly pastOpen: boolean;
  /** Whether some of its calls come from a history source. */
  readonly hasHistory: boolean;
  readonly delegation: Delegation | null;
  /** Unix seconds at which the day began on which a service of one of its agents last answered; null where none did. */
  readonly servicesUpAt: number | null;
};

export type WalletsQuery = {
  /** Views schema of the index, chain_<id>. */
  readonly schema: string;
  readonly chainId: number;
  readonly point: ReadPoint;
  /** Lower-case, each once. */
  readonly wallets: readonly Address[];
  /** Gives the window to read. */
  readonly policy: Policy;
};

/** Facts of the wallets that the index follows by the record's block, or that have a history from a source. */
export async function readWalletFacts(
  client: ClientBase,
  query: WalletsQuery,
): Promise<readonly WalletFacts[]> {
  const { schema, chainId, point, wallets } = query;
  const { rows } = await client.query<WalletRow>({
    name: `wallet-facts-${schema}`,
    text: walletsSql(escapeIdentifier(schema)),
    values: [wallets, point.asOf.blockNumber, point.enriched.blockNumber, chainId],
  });
  const services = await readServices(client, query);
  return rows.map((row) => {
    const { address, pastOpen, delegation } = row;
    // A chain whose blocks are indexed from 0 or 1 on is indexed from its beginning.
    const chainStartTimestamp = row.firstBlock <= 1 ? row.firstTimestamp : null;
    const windowStart =
      row.lastTimestamp === null ? null : row.lastTimestamp - query.policy.window.days * SECONDS_PER_DAY;
    return {
      ...{ address, pastOpen, delegation, chainStartTimestamp, windowStart },
      coverage: coverageOf(row, { chainStartTimestamp, windowStart, enrichedTo: point.enriched.blockNumber }),
      hasHistory: row.past !== null,
      servicesUpAt: services.get(address) ?? null,
    };
  });
}

type WalletRow = Pick<WalletFacts, "address" | "pastOpen" | "delegation"> & {
  /** Null for a wallet that the index does not follow. */
  readonly followedBlock: number | null;
  readonly followedTimestamp: number | null;
  readonly firstBlock: number;
  readonly firstTimestamp: number;
  readonly firstNonce: number | null;
  readonly lastTimestamp: number | null;
  /** As a history source reported it. */
  readonly past: Pick<
    typeof storedHistory.$inferSelect,
    "source" | "fromBlock" | "fromTimestamp" | "toBlock" | "complete"
  > | null;
};

/** $1 wallets, $2 block of the record, $3 block up to which own calls are known, $4 chain. */
function walletsSql(schema: string): string {
  return `
    select wanted.address, w.followed_block::float8 as "followedBlock", f.timestamp::float8 as "followedTimestamp",
      start.number::float8 as "firstBlock", start.timestamp::float8 as "firstTimestamp", first.nonce as "firstNonce",
      last.timestamp::float8 as "lastTimestamp",
      e.wallet is null or e.past_next is not null or e.from_block > w.followed_block as "pastOpen",
      case when kept.wallet is not null then json_build_object('source', kept.source, 'fromBlock', kept.from_block,
        'fromTimestamp', kept.from_timestamp, 'toBlock', kept.to_block, 'complete', kept.complete) end as past,
      case when d.wallet is not null then json_build_object('to', d.delegate) end as delegation
    from unnest($1::text[]) as wanted (address)
    cross join (select number, timestamp from ${schema}.block order by number limit 1) start
    left join ${schema}.wallet w on w.address = wanted.address and w.followed_block <= $2
    left join ahs.kept_history kept on kept.chain_id = $4 and kept.wallet = wanted.address and kept.from_block <= $3
    left join ahs.enrich_wallet e on e.chain_id = $4 and e.wallet = w.address
    left join lateral (
      select timestamp from ${schema}.block where number >= w.followed_block order by number limit 1
    ) f on true
    left join lateral (
      select nonce from ${schema}.transaction
      where "from" = w.address and own and block <= $3 order by block, transaction_index limit 1
    ) first on true
    left join lateral (
      select timestamp from ahs.own_call
      where chain_id = $4 and wallet = wanted.address and block <= $3
      order by block desc, transaction_index desc, position desc limit 1
    ) last on true
    left join lateral (
      select wallet, delegate from ahs.wallet_delegation
      where chain_id = $4 and wallet = wanted.address and block <= $3 order by block desc limit 1
    ) d on true
    where w.address is not null or kept.wallet is not null`;
}

/**
 * Coverage of the index and a history source together, if they meet; else of the index alone. The index misses no
 * own call if it followed the wallet from the chain's first block, if the wallet's first known call is its first ever
 * (nonce 0), or if the window starts after the wallet was followed.
 */
function coverageOf(
  { address, followedBlock, followedTimestamp, firstNonce, pastOpen, past }: WalletRow,
  within: Pick<WalletFacts, "chainStartTimestamp" | "windowStart"> & { readonly enrichedTo: number },
): Coverage {
  const { chainStartTimestamp, windowStart, enrichedTo } = within;
  if (followedBlock === null || followedTimestamp === null) {
    if (past === null) throw new Error(`${address} is neither followed nor reported by a source`);
    const { source, toBlock, ...covered } = past;
    return { ...covered, toBlock: Math.min(toBlock, enrichedTo), sources: [source] };
  }
  const indexComplete =
    followedTimestamp === chainStartTimestamp ||
    firstNonce === 0 ||
    (windowStart !== null && windowStart >= followedTimestamp);
  const joined = past !== null && past.toBlock >= followedBlock - 1 ? past : null;
  const isLonger = joined !== null && joined.fromBlock < followedBlock;
  return {
    fromBlock: isLonger ? joined.fromBlock : followedBlock,
    fromTimestamp: isLonger ? joined.fromTimestamp : followedTimestamp,
    toBlock: Math.max(enrichedTo, followedBlock),
    complete: !pastOpen && (indexComplete || joined?.complete === true),
    sources: joined === null ? ["index"] : ["index", joined.source],
  };
}

/** Newest agents of one wallet whose services are read: registering an agent costs a cent. */
const MAX_AGENTS = 16;

/**
 * Day on which a declared endpoint of a current agent of the wallet last answered. To the day: otherwise every probe
 * would change the record, for a label about months.
 */
async function readServices(
  client: ClientBase,
  { schema, chainId, wallets }: WalletsQuery,
): Promise<ReadonlyMap<Address, number>> {
  const { rows } = await client.query({
    name: `services-${schema}`,
    text: `
      select wanted.wallet, floor(extract(epoch from max(up.at)) / ${SECONDS_PER_DAY})::float8 * ${SECONDS_PER_DAY}
      from unnest($1::text[]) as wanted (wallet)
      cross join lateral (
        select agent_id from ${escapeIdentifier(schema)}.agent_wallet
        where wallet = wanted.wallet and to_block is null order by agent_id desc limit ${MAX_AGENTS}
      ) a
      join ahs.agent_document d on d.chain_id = $2 and d.agent_id = a.agent_id
      cross join lateral jsonb_array_elements(d.services) service
      cross join lateral (
        select at from ahs.probe
        where chain_id = $2 and endpoint = service->>'endpoint' and outcome = 'ok' order by at desc limit 1
      ) up
      group by wanted.wallet`,
    values: [wallets, chainId],
    rowMode: "array",
  });
  return new Map(rows as [Address, number][]);
}
