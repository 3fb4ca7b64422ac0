import { escapeIdentifier, type QueryArrayConfig, type QueryArrayResult } from "pg";
import type { Address, Hex } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { parseCall } from "./call-line.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { AsOf, Coverage, OwnCall, SanctionsFlag, WalletRows } from "./types.ts";

/** A pg client or pool; rows of one wallet are consistent only within one REPEATABLE READ transaction, which the caller opens. */
export type Snapshot = {
  readonly query: (config: QueryArrayConfig) => Promise<QueryArrayResult>;
};

export type RowsRequest = {
  /** Views schema of the index, chain_<id>. */
  readonly schema: string;
  readonly chainId: number;
  readonly asOf: AsOf;
  /** Lower-case. */
  readonly wallets: readonly Address[];
  /** Gives the window to read. */
  readonly policy: Policy;
};

/** The newest finalized block that the index holds; null before there is one, or before the index is ready to be read. */
export async function readAsOf(client: Snapshot, schema: string): Promise<AsOf | null> {
  const checkpoint = `${escapeIdentifier(schema)}._ponder_checkpoint`;
  const ready = await client.query({
    text: "select to_regclass($1) is not null and to_regclass($2) is not null",
    values: [checkpoint, `${escapeIdentifier(schema)}.block`],
    rowMode: "array",
  });
  if (ready.rows[0]?.[0] !== true) return null;
  // A checkpoint is a 10-digit time, a 16-digit chain id and a 16-digit block number, then places within the block.
  const { rows } = await client.query({
    text: `
      select b.number::float8, b.hash, b.timestamp::float8
      from ${checkpoint} c
      cross join lateral (
        select number, hash, timestamp from ${escapeIdentifier(schema)}.block
        where number <= substring(c.finalized_checkpoint from 27 for 16)::numeric
        order by number desc limit 1
      ) b
      order by b.number limit 1`,
    rowMode: "array",
  });
  const [row] = rows as [number, Hex, number][];
  return row === undefined ? null : { blockNumber: row[0], blockHash: row[1], timestamp: row[2] };
}

/** Rows of the given wallets as of a block, in no particular order; wallets that were not followed by then are left out. */
export async function readWalletRows(client: Snapshot, request: RowsRequest): Promise<readonly WalletRows[]> {
  const { schema, asOf, wallets, policy } = request;
  const { rows } = await client.query({
    name: `wallet-rows-${schema}`,
    text: walletRowsQuery(escapeIdentifier(schema)),
    values: [wallets, asOf.blockNumber, policy.window.days * SECONDS_PER_DAY],
    rowMode: "array",
  });
  return (rows as WalletTuple[]).map((row) => toWalletRows(row, request));
}

/** Every address on the sanctions list as of a block, by address. */
export async function readSanctionsList(
  client: Snapshot,
  { schema, asOf }: Pick<RowsRequest, "schema" | "asOf">,
): Promise<readonly (SanctionsFlag & { readonly address: Address })[]> {
  const { rows } = await client.query({
    text: `
      select address, transaction_hash, timestamp::float8 from (
        select distinct on (address) address, listed, transaction_hash, timestamp
        from ${escapeIdentifier(schema)}.sanctions_change
        where block <= $1
        order by address, block desc, log_index desc
      ) newest
      where listed order by address collate "C"`,
    values: [asOf.blockNumber],
    rowMode: "array",
  });
  return (rows as [Address, Hex, number][]).map(([address, reference, timestamp]) => ({
    address,
    ...sanctionsFlag(reference, timestamp),
  }));
}

type WalletTuple = [
  wallet: Address,
  fromBlock: number,
  fromTimestamp: number,
  firstBlock: number,
  firstTimestamp: number,
  firstNonce: number | null,
  lastTimestamp: number | null,
  listed: boolean | null,
  listingHash: Hex | null,
  listedAt: number | null,
  calls: string | null,
];

/**
 * One row per wallet, its calls as lines of text: reading a million calls so costs a quarter of what a million rows do.
 * $1 wallets, $2 as-of block, $3 seconds of the window.
 */
function walletRowsQuery(schema: string): string {
  return `
    select w.address, f.number::float8, f.timestamp::float8,
      start.number::float8, start.timestamp::float8,
      first.nonce, last.timestamp::float8,
      s.listed, s.transaction_hash, s.timestamp::float8, calls.lines
    from ${schema}.wallet w
    cross join (select number, timestamp from ${schema}.block order by number limit 1) start
    cross join lateral (
      select number, timestamp from ${schema}.block where number >= w.followed_block order by number limit 1
    ) f
    left join lateral (
      select nonce from ${schema}.transaction
      where "from" = w.address and own and block <= $2 order by block, transaction_index limit 1
    ) first on true
    left join lateral (
      select timestamp from ${schema}.transaction
      where "from" = w.address and own and block <= $2 order by block desc, transaction_index desc limit 1
    ) last on true
    left join lateral (
      select listed, transaction_hash, timestamp from ${schema}.sanctions_change
      where address = w.address and block <= $2 order by block desc, log_index desc limit 1
    ) s on true
    cross join lateral (
      select string_agg(concat_ws(' ', hash, block, transaction_index, timestamp, coalesce("to", '-'),
        coalesce(selector, '-'), value, ok::int, gas_limit, gas_used, gas_used * effective_gas_price), E'\\n') as lines
      from ${schema}.transaction
      where "from" = w.address and own and block <= $2 and timestamp >= last.timestamp - $3
    ) calls
    where w.address = any($1::text[]) and w.followed_block <= $2`;
}

function toWalletRows(row: WalletTuple, { chainId, asOf, policy }: RowsRequest): WalletRows {
  const [wallet, , , firstBlock, firstTimestamp, , , listed, listingHash, listedAt, lines] = row;
  // A chain whose blocks are indexed from 0 or 1 on is indexed from its beginning.
  const chainStartTimestamp = firstBlock <= 1 ? firstTimestamp : null;
  const sanctions =
    listed === true && listingHash !== null && listedAt !== null
      ? [sanctionsFlag(listingHash, listedAt)]
      : [];
  return {
    chainId,
    wallet,
    calls: lines === null ? [] : parseLines(lines),
    sanctions,
    coverage: coverageOf(row, { asOf, policy, chainStartTimestamp }),
    chainStartTimestamp,
  };
}

/**
 * Covered from the block that the wallet was followed from. Complete when no own call of the window can be missing: it was
 * followed from the chain's first block, its first known call is its first ever (nonce 0), or the window starts later.
 */
function coverageOf(
  [, fromBlock, fromTimestamp, , , firstNonce, lastTimestamp]: WalletTuple,
  {
    asOf,
    policy,
    chainStartTimestamp,
  }: { readonly asOf: AsOf; readonly policy: Policy; readonly chainStartTimestamp: number | null },
): Coverage {
  const complete =
    fromTimestamp === chainStartTimestamp ||
    firstNonce === 0 ||
    (lastTimestamp !== null && lastTimestamp - policy.window.days * SECONDS_PER_DAY >= fromTimestamp);
  return { fromBlock, fromTimestamp, toBlock: asOf.blockNumber, complete, sources: ["index"] };
}

function parseLines(lines: string): readonly OwnCall[] {
  return lines.split("\n").map(parseCall);
}

function sanctionsFlag(reference: Hex, timestamp: number): SanctionsFlag {
  return {
    source: "chainalysis-oracle",
    reference,
    detected_at: new Date(timestamp * 1000).toISOString(),
  };
}
