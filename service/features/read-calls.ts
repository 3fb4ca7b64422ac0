import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import { createCallParser } from "./call-line.ts";
import type { OwnCall } from "./types.ts";

export type CallsQuery = {
  readonly chainId: number;
  /** With the moment in Unix seconds from which on to read the calls of each. */
  readonly wallets: readonly { readonly address: Address; readonly since: number }[];
  /** Last block to read. */
  readonly throughBlock: number;
};

/** Own calls of one wallet, sorted, and the lines that `formatCall` makes of them, a newline between each two. */
export type CallLines = { readonly calls: readonly OwnCall[]; readonly text: string };

/** Texts of own calls by wallet, sorted, a line for each; a wallet without any has none. */
export async function readCallTexts(
  client: ClientBase,
  { chainId, wallets, throughBlock }: CallsQuery,
): Promise<ReadonlyMap<Address, string>> {
  if (wallets.length === 0) return new Map();
  const { rows } = await client.query({
    name: "call-texts",
    text: CALLS,
    values: [chainId, wallets.map(({ address }) => address), wallets.map(({ since }) => since), throughBlock],
    rowMode: "array",
  });
  return new Map(rows as [Address, string][]);
}

// Wallet by wallet: so the primary key finds and sorts the rows of each, whatever the planner makes of the table's size.
const CALLS = `
  select wanted.wallet, told.lines
  from unnest($2::text[], $3::bigint[]) as wanted (wallet, since)
  cross join lateral (
    select string_agg(coalesce(line, ahs.call_line(own_call)), E'\\n' order by block, transaction_index, position) as lines
    from ahs.own_call
    where chain_id = $1 and wallet = wanted.wallet and block <= $4 and timestamp >= wanted.since
  ) told
  where told.lines is not null`;

/** A reader of such texts, or of none. */
export function createTextReader(): (text: string | undefined) => CallLines {
  const parse = createCallParser();
  return (text) =>
    text === undefined ? { calls: [], text: "" } : { calls: text.split("\n").map(parse), text };
}

/** SHA-256 over a head line and the lines of calls, each ended by a newline. */
export function digestText(head: string, text: string): Hex {
  const hash = createHash("sha256");
  hash.update(`${head}\n`, "latin1");
  if (text !== "") hash.update(text, "latin1").update("\n", "latin1");
  return `0x${hash.digest("hex")}`;
}
