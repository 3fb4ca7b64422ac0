import { createHash } from "node:crypto";
import type { ClientBase, Pool } from "pg";
import type { Address, Hex } from "viem";
import { countNewest, createCallParser, WALLET_BOUNDS } from "../../model/features/call-line.ts";
import type { OwnCall } from "../../model/features/types.ts";

/** The newest own calls of one wallet, sorted, and the lines that `formatCall` makes of them, a newline between each two. */
export type CallLines = {
  readonly calls: readonly OwnCall[];
  readonly text: string;
  /** Whether the window holds older calls, which `WALLET_BOUNDS` leaves out. */
  readonly cut: boolean;
};

/** Lines of own calls that are still to be parsed. */
type CallText = Omit<CallLines, "calls">;

/** Texts of the newest own calls of wallets; one without any has none. As many are read as `WALLET_BOUNDS` has room for by number and bytes. */
export async function readCallTexts(
  client: ClientBase,
  query: {
    readonly chainId: number;
    /** With the moment in Unix seconds from which on to read the calls of each. */
    readonly wallets: readonly { readonly address: Address; readonly since: number }[];
    readonly throughBlock: number;
  },
): Promise<ReadonlyMap<Address, CallText>> {
  const { chainId, wallets, throughBlock } = query;
  const read = async (name: string, text: string, some: typeof wallets) => {
    if (some.length === 0) return [];
    const addresses = some.map(({ address }) => address);
    const since = some.map(({ since }) => since);
    const bounds = [WALLET_BOUNDS.calls, WALLET_BOUNDS.bytes];
    const values = [chainId, addresses, since, throughBlock, ...bounds];
    const { rows } = await client.query({ name, text, values, rowMode: "array" });
    return rows as [Address, string | null, boolean][];
  };
  const found = await read("all-call-texts", ALL_CALLS, wallets);
  const beyond = new Set(found.flatMap(([wallet, text]) => (text === null ? [wallet] : [])));
  const cut = await read(
    "newest-call-texts",
    NEWEST_CALLS,
    wallets.filter(({ address }) => beyond.has(address)),
  );
  return new Map(
    [...found, ...cut].flatMap(([wallet, text, isCut]) =>
      text === null ? [] : [[wallet, { text, cut: isCut }] as const],
    ),
  );
}

// Wallet by wallet: so the primary key finds and sorts the rows of each, whatever the planner makes of the table's size.
/** Calls of wallets within the bounds, in two thirds of the time that it takes to count from the newest. Lines are null beyond them. */
const ALL_CALLS = `
  select wanted.wallet, case when kept.number <= $5 and kept.bytes <= $6 then kept.lines end, false
  from unnest($2::text[], $3::bigint[]) as wanted (wallet, since)
  cross join lateral (
    select string_agg(line, E'\\n' order by block, transaction_index, position) filter (where timestamp >= wanted.since) as lines,
      sum(octet_length(line) + 1) filter (where timestamp >= wanted.since) as bytes, count(*) as number
    from (
      select block, transaction_index, position, timestamp, coalesce(line, ahs.call_line(own_call)) as line
      from ahs.own_call
      where chain_id = $1 and wallet = wanted.wallet and block <= $4
      order by block, transaction_index, position limit $5::int + 1
    ) oldest
  ) kept
  where kept.number > $5 or kept.lines is not null`;

/** The limit precedes the window, so that no more rows than the limit are read of a wallet with millions of older calls. */
const NEWEST_CALLS = `
  select wanted.wallet, kept.lines, kept.cut
  from unnest($2::text[], $3::bigint[]) as wanted (wallet, since)
  cross join lateral (
    select string_agg(line, E'\\n' order by block, transaction_index, position) filter (where number <= $5 and bytes <= $6) as lines,
      bool_or(number > $5 or bytes > $6) as cut
    from (
      select block, transaction_index, position, line, row_number() over newest_first as number,
        sum(octet_length(line) + 1) over newest_first as bytes
      from (
        select block, transaction_index, position, timestamp, coalesce(line, ahs.call_line(own_call)) as line
        from ahs.own_call
        where chain_id = $1 and wallet = wanted.wallet and block <= $4
        order by block desc, transaction_index desc, position desc limit $5::int + 1
      ) newest
      where timestamp >= wanted.since
      window newest_first as (order by block desc, transaction_index desc, position desc)
    ) counted
  ) kept
  where kept.lines is not null`;

/** A reader of such texts, or of none, that leaves out what `WALLET_BOUNDS` has no room for by its accounts. */
export function createTextReader(): (read: CallText | undefined) => CallLines {
  const parse = createCallParser();
  return (read) => {
    if (read === undefined) return { calls: [], text: "", cut: false };
    const lines = read.text.split("\n");
    const calls = lines.map(parse);
    const left = calls.length - countNewest(calls, (place) => lines[place]?.length ?? 0);
    if (left === 0) return { calls, ...read };
    return { calls: calls.slice(left), text: lines.slice(left).join("\n"), cut: true };
  };
}

/** SHA-256 over a head line and the lines of calls, each ended by a newline. */
export function digestText(head: string, text: string): Hex {
  const hash = createHash("sha256");
  hash.update(`${head}\n`, "latin1");
  if (text !== "") hash.update(text, "latin1").update("\n", "latin1");
  return `0x${hash.digest("hex")}`;
}

/** Numbers of the own calls of wallets, as far as `WALLET_BOUNDS` has room; wallets without calls are left out. From the index alone. */
export async function readCallCounts(
  client: Pick<Pool, "query">,
  { chainId, wallets }: { readonly chainId: number; readonly wallets: readonly string[] },
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ wallet: string; calls: number }>({
    name: "call-counts",
    text: COUNTS,
    values: [chainId, wallets, WALLET_BOUNDS.calls],
  });
  return new Map(rows.map(({ wallet, calls }) => [wallet, calls]));
}

const COUNTS = `
  select wanted.wallet, kept.calls
  from unnest($2::text[]) as wanted (wallet)
  cross join lateral (
    select count(*)::int as calls
    from (select from ahs.own_call where chain_id = $1 and wallet = wanted.wallet limit $3) bounded
  ) kept
  where kept.calls > 0`;
