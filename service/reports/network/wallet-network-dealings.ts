import { type ClientBase, escapeIdentifier } from "pg";
import { type Address, type Hex, zeroAddress } from "viem";
import type { ChainFacts } from "../../chain/deployments.ts";
import { type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { readSnapshotInTime } from "../../db/index-snapshot.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { readSanctionsEntries } from "../../sanctions/sanctions.ts";
import { type ContactCaches, createContactCaches } from "../../scores/read/contact-graph.ts";
import { readTokenList, readWalletRows } from "../../scores/read/read-rows.ts";
import { IS_OWN } from "../profit-and-loss/wallet-transfers.ts";

/** Amount of one token that one account sent to the wallet on one UTC day, in transactions that were not own calls. */
export type Incoming = {
  readonly from: Address;
  /** Null for native coin. */
  readonly token: Address | null;
  readonly amount: bigint;
  readonly transfers: number;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
};

/** The block of an earlier answer. */
export type PinnedBlock = { readonly blockNumber: number; readonly blockHash: Hex };

export type DealingsReader = ReturnType<typeof createDealingsReader>;

/** A wallet's dealings as of a block. */
export type WalletDealings = Omit<
  Extract<Awaited<ReturnType<DealingsReader["read"]>>, { kind: "read" }>,
  "kind"
>;

/** Most incoming transfers read: more would add little and take seconds. */
const MAX_INCOMING = 50_000;

/** Above any block number: listings at the newest indexed block count. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** Reads dealings at the newest final and enriched block, or at an earlier pinned one. Sanctions flags are current. */
export function createDealingsReader(context: {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: Pick<ChainFacts, "market" | "accounts">;
  readonly policy: Policy;
  /** Shared by all reports. */
  readonly contacts: ContactCaches;
  /** See `RowsRequest`. */
  readonly mostAddresses: number;
}) {
  const { db, chainId } = context;
  return {
    /** Returns the newest final and enriched block, or the pinned one. */
    blockOf: (pin: PinnedBlock | null) =>
      readSnapshotInTime(db, async (client) => {
        const block = await readBlock(client, chainId, pin);
        return typeof block === "string" ? block : block.asOf;
      }),
    /**
     * Reads a wallet's rows and incoming transfers of the window in one snapshot at that block. not-ready: no block is both
     * final and enriched. gone: the pinned block was reorganised. not-indexed: the wallet was not followed at that block.
     */
    read: (wallet: Address, pin: PinnedBlock | null) =>
      readSnapshotInTime(db, async (client) => {
        const block = await readBlock(client, chainId, pin);
        if (typeof block === "string") return { kind: block };
        const { asOf, isNewest } = block;
        // The caches hold the newest block; an older block must not replace it.
        const contacts = isNewest ? context.contacts : createContactCaches();
        return readAt(client, { ...context, contacts }, { wallet, asOf });
      }),
  };
}

async function readBlock(
  client: ClientBase,
  chainId: number,
  pin: PinnedBlock | null,
): Promise<{ readonly asOf: AsOf; readonly isNewest: boolean } | "not-ready" | "gone"> {
  const schema = `chain_${chainId}`;
  const newest = await readAsOf(client, { schema, chainId });
  if (newest === null) return "not-ready";
  if (pin === null || pin.blockHash === newest.blockHash) return { asOf: newest, isNewest: true };
  if (pin.blockNumber > newest.blockNumber) return "gone";
  const { rows } = await client.query<{ hash: Hex; timestamp: number }>(
    `select hash, timestamp::float8 from ${escapeIdentifier(schema)}.block where number = $1`,
    [pin.blockNumber],
  );
  const [row] = rows;
  if (row === undefined || row.hash !== pin.blockHash) return "gone";
  return { asOf: { ...pin, timestamp: row.timestamp }, isNewest: false };
}

async function readAt(
  client: ClientBase,
  { chainId, chain, policy, contacts, mostAddresses }: Parameters<typeof createDealingsReader>[0],
  { wallet, asOf }: { wallet: Address; asOf: AsOf },
) {
  const schema = `chain_${chainId}`;
  const [read] = await readWalletRows(client, {
    schema,
    chainId,
    chain,
    policy,
    point: { asOf, enriched: asOf },
    wallets: [wallet],
    shared: {
      sanctions: await readSanctionsEntries(client, { schema, chainId, asOfBlock: NEWEST }),
      tokens: await readTokenList(client, { chainId, market: chain.market, enriched: asOf }),
    },
    contacts: contacts(asOf.blockHash),
    mostAddresses,
  });
  if (read === undefined) return { kind: "not-indexed" as const };
  const { rows } = read;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const listed = rows.tokens.tokens.map(({ address }) => address);
  const through = asOf.blockNumber;
  const { incoming, truncated } = await readIncoming(client, [chainId, wallet, through, since, listed]);
  // Truncated if only the newest incoming transfers were read.
  return { kind: "read" as const, rows, asOf, incoming, incomingTruncated: truncated };
}

/**
 * Reads amounts that others sent: native coin and listed tokens, above zero, outside of own calls of the wallet. Any other
 * contract can log false transfers.
 */
async function readIncoming(
  client: ClientBase,
  values: [chainId: number, wallet: Address, throughBlock: number, since: number, listed: readonly Address[]],
): Promise<{ readonly incoming: readonly Incoming[]; readonly truncated: boolean }> {
  const { rows } = await client.query<Incoming & { beyond: boolean }>({
    ...NUMERIC_AS_BIGINT,
    name: "incoming-transfers",
    text: INCOMING,
    values,
  });
  return {
    incoming: rows.flatMap(({ beyond, ...sum }) => (beyond ? [] : [sum])),
    truncated: rows.some(({ beyond }) => beyond),
  };
}

/** Reads one transfer more than the limit, to detect that there are more. */
const INCOMING = `
  select "from", nullif(token, '${zeroAddress}') as token, sum(amount) as amount, count(*)::int as transfers,
    min(timestamp)::float8 as "firstAt", max(timestamp)::float8 as "lastAt", place > ${MAX_INCOMING} as beyond
  from (
    select t."from", t.token, t.amount, t.timestamp,
      row_number() over (order by t.block desc, t.log_index desc, t.item desc) as place
    from ahs.enrich_transfer t
    where t.chain_id = $1 and t."to" = $2 and t.block <= $3 and t.timestamp >= $4
      and t.amount > 0 and t."from" not in ($2, '${zeroAddress}') and not ${IS_OWN}
      and (t.standard = 'native' or t.standard = 'erc20' and t.token = any($5::text[]))
    order by t.block desc, t.log_index desc, t.item desc limit ${MAX_INCOMING + 1}
  ) newest
  group by "from", newest.token, timestamp / ${SECONDS_PER_DAY}, beyond
  order by "from", newest.token, "firstAt"`;
