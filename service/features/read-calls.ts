import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import type { Address, Hex } from "viem";
import { compareCalls, createCallParser } from "./call-line.ts";
import type { OwnCall } from "./types.ts";

export type CallsQuery = {
  readonly chainId: number;
  readonly wallets: readonly Address[];
  /** Last block to read. */
  readonly throughBlock: number;
  /** Unix seconds; null where none of the wallets ever called. */
  readonly since: number | null;
};

/** Own calls of one wallet, sorted, and the lines that `formatCall` makes of them, a newline between each two. */
export type CallLines = { readonly calls: readonly OwnCall[]; readonly text: string };

/**
 * Texts of own calls by wallet since a moment, a line for each. The rows of all wallets are found by the primary key: of a
 * large table a batch of wallets is a small part, whatever the planner makes of it.
 */
export async function readCallTexts(
  client: ClientBase,
  { chainId, wallets, throughBlock, since }: CallsQuery,
): Promise<ReadonlyMap<Address, string>> {
  if (since === null) return new Map();
  // For this transaction only.
  await client.query(
    "select set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)",
  );
  const { rows } = await client.query({
    text: CALLS,
    values: [chainId, wallets, throughBlock, since],
    rowMode: "array",
  });
  return new Map(rows as [Address, string][]);
}

const CALLS = `
  select wallet, string_agg(concat_ws(' ', hash, block, transaction_index, position, timestamp, coalesce("to", '-'),
    coalesce(selector, '-'), value, ok::int, gas_limit, gas_used, fee_wei + coalesce(l1_fee_wei, 0), gas_price_wei,
    coalesce(recipient, '-'), coalesce(amount::text, '-'),
    case when effect is null then '- - - -' else concat_ws(' ', coalesce(market_price_wei::text, '-'), effect,
      coalesce(nullif(array_to_string(emitters, ','), ''), '-'), coalesce(nullif(array_to_string(moves, ','), ''), '-'))
    end), E'\\n')
  from ahs.own_call
  where chain_id = $1 and wallet = any($2::text[]) and block <= $3 and timestamp >= $4
  group by wallet`;

/** A reader of such texts that leaves out calls before a moment, which other wallets of the batch asked for. */
export function createTextReader(): (text: string | undefined, since: number | null) => CallLines {
  const parse = createCallParser();
  return (text, since) => {
    if (text === undefined || since === null) return { calls: [], text: "" };
    const lines = text.split("\n");
    const calls = lines.map(parse);
    if (isInOrder(calls, since)) return { calls, text };
    const read = lines.map((line) => ({ line, call: parse(line) }));
    const wanted = read.filter(({ call }) => call.timestamp >= since);
    wanted.sort((a, b) => compareCalls(a.call, b.call));
    return { calls: wanted.map(({ call }) => call), text: wanted.map(({ line }) => line).join("\n") };
  };
}

/** Whether the calls are sorted and none is of before a moment, as rows found by the primary key mostly are. */
function isInOrder(calls: readonly OwnCall[], since: number): boolean {
  let before: OwnCall | undefined;
  for (const call of calls) {
    if (call.timestamp < since || (before !== undefined && compareCalls(before, call) > 0)) return false;
    before = call;
  }
  return true;
}

/** SHA-256 over a head line and the lines of calls, each ended by a newline. */
export function digestText(head: string, text: string): Hex {
  const hash = createHash("sha256");
  hash.update(`${head}\n`, "latin1");
  if (text !== "") hash.update(text, "latin1").update("\n", "latin1");
  return `0x${hash.digest("hex")}`;
}
