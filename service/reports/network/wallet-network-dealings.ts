import { eq } from "drizzle-orm";
import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import type { ChainFacts } from "../../chain/deployments.ts";
import { builderOn, type Database, NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { readSnapshotInTime } from "../../db/index-snapshot.ts";
import { indexOf, numberOf } from "../../db/index-tables.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { readSanctionsEntries } from "../../sanctions/sanctions.ts";
import { type ContactCaches, createContactCaches } from "../../scores/read/contact-graph.ts";
import { readTokenList, readWalletRows } from "../../scores/read/read-rows.ts";
import { incomingTransfers } from "./wallet-network-dealings.sql.ts";

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
  const newest = await readAsOf(client, chainId);
  if (newest === null) return "not-ready";
  if (pin === null || pin.blockHash === newest.blockHash) return { asOf: newest, isNewest: true };
  if (pin.blockNumber > newest.blockNumber) return "gone";
  const { block } = indexOf(chainId);
  const [row] = await builderOn(client)
    .select({ hash: block.hash, timestamp: numberOf(block.timestamp) })
    .from(block)
    .where(eq(block.number, BigInt(pin.blockNumber)));
  if (row === undefined || row.hash !== pin.blockHash) return "gone";
  return { asOf: { ...pin, timestamp: row.timestamp }, isNewest: false };
}

async function readAt(
  client: ClientBase,
  { chainId, chain, policy, contacts, mostAddresses }: Parameters<typeof createDealingsReader>[0],
  { wallet, asOf }: { wallet: Address; asOf: AsOf },
) {
  const [read] = await readWalletRows(client, {
    chainId,
    chain,
    policy,
    point: { asOf, enriched: asOf },
    wallets: [wallet],
    shared: {
      sanctions: await readSanctionsEntries(client, { chainId, asOfBlock: NEWEST }),
      tokens: await readTokenList(client, { chainId, market: chain.market, enriched: asOf }),
    },
    contacts: contacts(asOf.blockHash),
    mostAddresses,
  });
  if (read === undefined) return { kind: "not-indexed" as const };
  const { rows } = read;
  const since = asOf.timestamp - policy.window.days * SECONDS_PER_DAY;
  const listed = rows.tokens.tokens.map(({ address }) => address);
  const values = { chainId, wallet, throughBlock: asOf.blockNumber, since, listed };
  const { incoming, truncated } = await readIncoming(client, values);
  // Truncated if only the newest incoming transfers were read.
  return { kind: "read" as const, rows, asOf, incoming, incomingTruncated: truncated };
}

/**
 * Reads amounts that others sent: native coin and listed tokens, above zero, outside of own calls of the wallet. Any other
 * contract can log false transfers.
 */
async function readIncoming(
  client: ClientBase,
  values: Parameters<typeof incomingTransfers>[0],
): Promise<{ readonly incoming: readonly Incoming[]; readonly truncated: boolean }> {
  const { rows } = await client.query<Incoming & { beyond: boolean }>({
    ...NUMERIC_AS_BIGINT,
    ...incomingTransfers(values),
  });
  return {
    incoming: rows.flatMap(({ beyond, ...sum }) => (beyond ? [] : [sum])),
    truncated: rows.some(({ beyond }) => beyond),
  };
}
