import { type ClientBase, escapeIdentifier } from "pg";
import { type Address, type Hex, zeroAddress } from "viem";
import type { ChainFacts } from "../../chain/deployments.ts";
import type { Database } from "../../db/database.ts";
import { readSnapshotInTime } from "../../db/index-snapshot.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
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

/** A wallet's dealings as of a block. */
export type WalletDealings = {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly incoming: readonly Incoming[];
  /** True if only the newest incoming transfers were read. */
  readonly incomingTruncated: boolean;
};

/**
 * not-ready: no block is both final and enriched. gone: the pinned block was reorganised. not-indexed: the wallet was
 * not followed at that block.
 */
export type DealingsOutcome =
  | ({ readonly kind: "read" } & WalletDealings)
  | { readonly kind: "not-ready" | "gone" | "not-indexed" };

type DealingsContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: Pick<ChainFacts, "market" | "accounts">;
  readonly policy: Policy;
  /** Shared by all reports. */
  readonly contacts: ContactCaches;
  /** See `RowsRequest`. */
  readonly mostAddresses: number;
};

export type DealingsReader = {
  /** Returns the newest final and enriched block, or the pinned one. */
  blockOf(pin: PinnedBlock | null): Promise<AsOf | "not-ready" | "gone">;
  /** Reads a wallet's rows and incoming transfers of the window in one snapshot at that block. */
  read(wallet: Address, pin: PinnedBlock | null): Promise<DealingsOutcome>;
};

/** Most incoming transfers read: more would add little and take seconds. */
const MAX_INCOMING = 50_000;

/** Above any block number: listings at the newest indexed block count. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** Reads dealings at the newest final and enriched block, or at an earlier pinned one. Sanctions flags are current. */
export function createDealingsReader(context: DealingsContext): DealingsReader {
  const { db, chainId } = context;
  return {
    blockOf: (pin) =>
      readSnapshotInTime(db, async (client) => {
        const block = await readBlock(client, chainId, pin);
        return typeof block === "string" ? block : block.asOf;
      }),
    read: (wallet, pin) =>
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
  const asOf = await readPinned(client, { schema, pin, newest });
  return asOf === null ? "gone" : { asOf, isNewest: false };
}

async function readPinned(
  client: ClientBase,
  { schema, pin, newest }: { readonly schema: string; readonly pin: PinnedBlock; readonly newest: AsOf },
): Promise<AsOf | null> {
  if (pin.blockNumber > newest.blockNumber) return null;
  const { rows } = await client.query<{ hash: Hex; timestamp: number }>(
    `select hash, timestamp::float8 from ${escapeIdentifier(schema)}.block where number = $1`,
    [pin.blockNumber],
  );
  const [row] = rows;
  if (row === undefined || row.hash !== pin.blockHash) return null;
  return { ...pin, timestamp: row.timestamp };
}

async function readAt(
  client: ClientBase,
  { chainId, chain, policy, contacts, mostAddresses }: DealingsContext,
  { wallet, asOf }: { readonly wallet: Address; readonly asOf: AsOf },
): Promise<DealingsOutcome> {
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
  if (read === undefined) return { kind: "not-indexed" };
  const { rows } = read;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const listed = rows.tokens.tokens.map(({ address }) => address);
  const through = asOf.blockNumber;
  const { incoming, truncated } = await readIncoming(client, { chainId, wallet, through, since, listed });
  return { kind: "read", rows, asOf, incoming, incomingTruncated: truncated };
}

/** Reads amounts that others sent: native coin and listed tokens, above zero, outside of own calls of the wallet. */
async function readIncoming(
  client: ClientBase,
  {
    chainId,
    wallet,
    through,
    since,
    listed,
  }: {
    readonly chainId: number;
    readonly wallet: Address;
    readonly through: number;
    /** Unix seconds. */
    readonly since: number;
    /** Listed tokens; any other contract can log false transfers. */
    readonly listed: readonly Address[];
  },
): Promise<{ readonly incoming: readonly Incoming[]; readonly truncated: boolean }> {
  const { rows } = await client.query({
    name: "incoming-transfers",
    text: INCOMING,
    values: [chainId, wallet, through, since, listed],
    rowMode: "array",
  });
  const told = rows as [Address, Address, string, number, number, number, boolean][];
  return {
    incoming: told.flatMap(([from, token, amount, transfers, firstAt, lastAt, isBeyond]) => {
      if (isBeyond) return [];
      const sum = { amount: BigInt(amount), transfers, firstAt, lastAt };
      return [{ from, token: token === zeroAddress ? null : token, ...sum }];
    }),
    truncated: told.some(([, , , , , , isBeyond]) => isBeyond),
  };
}

/** Reads one transfer more than the limit, to detect that there are more. */
const INCOMING = `
  select "from", token, sum(amount)::text, count(*)::int, min(timestamp)::float8, max(timestamp)::float8,
    place > ${MAX_INCOMING} as beyond
  from (
    select t."from", t.token, t.amount, t.timestamp,
      row_number() over (order by t.block desc, t.log_index desc, t.item desc) as place
    from ahs.enrich_transfer t
    where t.chain_id = $1 and t."to" = $2 and t.block <= $3 and t.timestamp >= $4
      and t.amount > 0 and t."from" not in ($2, '${zeroAddress}') and not ${IS_OWN}
      and (t.standard = 'native' or t.standard = 'erc20' and t.token = any($5::text[]))
    order by t.block desc, t.log_index desc, t.item desc limit ${MAX_INCOMING + 1}
  ) newest
  group by "from", token, timestamp / ${SECONDS_PER_DAY}, beyond
  order by "from", token, 5`;
