import { type ClientBase, escapeIdentifier } from "pg";
import { type Address, type Hex, zeroAddress } from "viem";
import type { ChainFacts } from "../chain/deployments.ts";
import { createContactCaches } from "../features/contact-cache.ts";
import { readAsOf } from "../features/read-as-of.ts";
import { readWalletRows } from "../features/read-rows.ts";
import { readTokenList } from "../features/read-token-list.ts";
import { SECONDS_PER_DAY } from "../features/time.ts";
import type { AsOf, WalletRows } from "../features/types.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Database } from "./database.ts";
import { readSnapshot } from "./index-snapshot.ts";
import { readSanctionsEntries } from "./sanctions.ts";

/** What one account sent to the wallet of one token on one UTC day, in transactions that were not the wallet's own calls. */
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

/** A block that an earlier answer was as of. */
export type PinnedBlock = { readonly blockNumber: number; readonly blockHash: Hex };

/** What is known of a wallet's dealings as of a block. */
export type WalletDealings = {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly incoming: readonly Incoming[];
  /** Whether more transfers came in than are looked at: then the newest are. */
  readonly incomingTruncated: boolean;
};

/** not-ready: no block is both final and enriched. gone: the pinned block is no longer one. not-indexed: nobody followed the wallet by then. */
export type DealingsOutcome =
  | ({ readonly kind: "read" } & WalletDealings)
  | { readonly kind: "not-ready" | "gone" | "not-indexed" };

export type DealingsContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: Pick<ChainFacts, "market" | "accounts">;
  readonly policy: Policy;
};

/** So many transfers from others are looked at: more would say little, and take seconds. */
const MAX_INCOMING = 50_000;

/** No block has a greater number: listings of the newest indexed one count. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/**
 * Reads a wallet's rows and what reached it in the window, in one snapshot: at the newest finalized and enriched block, or at an
 * earlier one that is pinned. Accounts are flagged by the lists of now.
 */
export function createDealingsReader(
  context: DealingsContext,
): (wallet: Address, pin: PinnedBlock | null) => Promise<DealingsOutcome> {
  const { db, chainId } = context;
  const schema = `chain_${chainId}`;
  return (wallet, pin) =>
    readSnapshot(db, async (client) => {
      const newest = await readAsOf(client, { schema, chainId });
      if (newest === null) return { kind: "not-ready" };
      const asOf = pin === null ? newest : await readPinned(client, { schema, pin, newest });
      if (asOf === null) return { kind: "gone" };
      return readAt(client, context, { wallet, asOf });
    });
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
  { chainId, chain, policy }: DealingsContext,
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
    contacts: createContactCaches()(asOf.blockHash),
  });
  if (read === undefined) return { kind: "not-indexed" };
  const { rows } = read;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const listed = rows.tokens.tokens.map(({ address }) => address);
  const incoming = await readIncoming(client, { chainId, wallet, through: asOf.blockNumber, since, listed });
  const transfers = incoming.reduce((sum, entry) => sum + entry.transfers, 0);
  return { kind: "read", rows, asOf, incoming, incomingTruncated: transfers >= MAX_INCOMING };
}

type IncomingQuery = {
  readonly chainId: number;
  readonly wallet: Address;
  readonly through: number;
  /** Unix seconds. */
  readonly since: number;
  /** Listed tokens: any other contract can claim that it moved something, to anybody. */
  readonly listed: readonly Address[];
};

/** What others sent: native coin and listed tokens, more than nothing of it, in no own call of the wallet. */
async function readIncoming(client: ClientBase, query: IncomingQuery): Promise<readonly Incoming[]> {
  const { chainId, wallet, through, since, listed } = query;
  const { rows } = await client.query({
    name: "incoming-transfers",
    text: `
      select "from", token, sum(amount)::text, count(*)::int, min(timestamp)::float8, max(timestamp)::float8
      from (
        select "from", token, amount, timestamp from ahs.enrich_transfer
        where chain_id = $1 and "to" = $2 and block <= $3 and timestamp >= $4
          and amount > 0 and "from" not in ($2, '${zeroAddress}') and sender is distinct from $2
          and (standard = 'native' or standard = 'erc20' and token = any($5::text[]))
        order by block desc, log_index desc, item desc limit ${MAX_INCOMING}
      ) newest
      group by "from", token, timestamp / ${SECONDS_PER_DAY}
      order by "from", token, 5`,
    values: [chainId, wallet, through, since, listed],
    rowMode: "array",
  });
  return (rows as [Address, Address, string, number, number, number][]).map(
    ([from, token, amount, transfers, firstAt, lastAt]) => ({
      from,
      token: token === zeroAddress ? null : token,
      amount: BigInt(amount),
      transfers,
      firstAt,
      lastAt,
    }),
  );
}
