import type { QueryConfig } from "pg";
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { countNewest, formatCall, WALLET_BOUNDS } from "../../../../service/model/features/call-line.ts";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { rowsDigest } from "../../../../service/scores/inputs-hash.ts";
import { readWalletRows } from "../../../../service/scores/read/read-rows.ts";
import { AGENT, asOf, blockAt, OTHER, request, SCHEMA, useRowsWorld } from "../../scores/read/rows-world.ts";
import { DAY, START } from "./histories.ts";
import { followEnriched } from "./index-tables.ts";

const world = useRowsWorld();
beforeEach(() => followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 }));

describe("a wallet of 100,000 calls in the window", () => {
  beforeEach(() => insertCalls({ calls: 100_000, lastBlock: 299 }));

  test("is read and scored by its newest 20,000, and its coverage says so", async () => {
    const { client, largest } = watchRows();
    const [only] = await readWalletRows(client, request([AGENT]));
    if (only === undefined) throw new Error("expected the rows of one wallet");
    const { rows, digest } = only;
    expect(rows.calls.length).toBe(WALLET_BOUNDS.calls);
    // 1,000 calls a block.
    expect([rows.calls[0]?.blockNumber, rows.calls.at(-1)?.blockNumber]).toEqual([280, 299]);
    expect(rows.coverage).toEqual({
      fromBlock: 280,
      fromTimestamp: blockAt(280).timestamp,
      toBlock: 300,
      complete: false,
      newestCallsOnly: true,
      sources: ["index"],
    });
    expect(digest).toBe(rowsDigest(rows));
    expect(largest()).toBeLessThan(WALLET_BOUNDS.bytes);

    const record = scoreWallet({ rows, asOf: asOf(300), policy: AHS_2026_2 });
    expect(record.coverage.newestCallsOnly).toBe(true);
  });

  test("is the same whatever older calls there are", async () => {
    const before = await readOnly();
    await world.client.query("delete from ahs.own_call where block < 270");
    expect(await readOnly()).toEqual(before);
  });
});

test("older calls outside the window are neither read nor reported as missing", async () => {
  await insertCalls({ calls: 30_000, lastBlock: 100 });
  await insertCalls({ calls: 10, lastBlock: 300 });
  const { rows } = await readOnly();
  expect([rows.calls.length, rows.coverage.complete]).toEqual([10, true]);
});

test("a wallet whose calls are large is cut by their bytes, where the database cuts as the node's reader does", async () => {
  await insertCalls({ calls: 6_000, lastBlock: 299, emitters: 32, moves: 32 });
  const { rows } = await readOnly();
  const lines = rows.calls.map(formatCall);
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
  expect(bytes).toBeLessThanOrEqual(WALLET_BOUNDS.bytes);
  expect(bytes).toBeGreaterThan(WALLET_BOUNDS.bytes - 10_000);
  expect(rows.coverage).toMatchObject({ complete: false, newestCallsOnly: true });
  const more = [...rows.calls.slice(0, 5).map((call) => ({ ...call, blockNumber: 1 })), ...rows.calls];
  expect(countNewest(more, (place) => formatCall(more[place] as (typeof more)[0]).length)).toBe(
    rows.calls.length,
  );
});

test("a wallet whose logs name more accounts than are described is cut by these", async () => {
  await insertCalls({ calls: 2_000, lastBlock: 299, emitters: 32, apart: true });
  const { rows, digest } = await readOnly();
  // 32 emitters of each call, and the one account that all of them go to.
  expect(rows.calls.length).toBe(Math.floor((WALLET_BOUNDS.accounts - 1) / 32));
  expect(rows.counterparties.length).toBe(rows.calls.length * 32 + 1);
  expect(digest).toBe(rowsDigest(rows));
  expect(rows.coverage.newestCallsOnly).toBe(true);
});

test("of the agents of a wallet the newest are asked whether their services answer", async () => {
  await world.client.query(
    `insert into ${SCHEMA}.agent_wallet select n || ':0:0', n, $1, 0, null from generate_series(1, 17) n`,
    [AGENT],
  );
  await world.client.query(`insert into ahs.agent_document (chain_id, agent_id, uri, state, services, attempts)
    select 31337, n, 'data:,', 'current', jsonb_build_array(jsonb_build_object('endpoint', 'https://' || n)), 1
    from generate_series(1, 17) n`);
  const answer = (agent: number, day: number) =>
    world.client.query(
      "insert into ahs.probe (chain_id, endpoint, at, outcome) values (31337, 'https://' || $1::int, to_timestamp($2), 'ok')",
      [agent, START + day * DAY],
    );
  await answer(1, 9);
  await answer(2, 5);
  expect((await world.readOne()).servicesUpAt).toBe(START + 5 * DAY);
});

async function readOnly(): Promise<{ readonly rows: WalletRows; readonly digest: string }> {
  const [read] = await readWalletRows(world.client, request([AGENT]));
  if (read === undefined) throw new Error("expected the rows of one wallet");
  return read;
}

type Calls = {
  readonly calls: number;
  readonly lastBlock: number;
  readonly wallet?: Address;
  readonly emitters?: number;
  readonly moves?: number;
  /** Whether each call has emitters of its own. */
  readonly apart?: boolean;
};

/** Calls to one account, 1,000 a block up to the last one. */
async function insertCalls({
  calls,
  lastBlock,
  wallet = AGENT,
  emitters = 0,
  moves = 0,
  apart = false,
}: Calls): Promise<void> {
  const word = (text: string) => `'0x' || substr(md5(${text}) || md5('x' || ${text}), 1, 40)`;
  await world.client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, "to",
       selector, value, ok, gas_limit, gas_used, gas_price_wei, fee_wei, market_price_wei, effect, logs, emitters, moves)
     select 31337, $1, block, n % 1000, 0, '0x' || md5($1 || n) || md5('h' || n), 'transaction', 'enrich',
       $2::bigint + block * $3::bigint, $4, '0x38ed1739', 0, true, 100000, 40000, 1000000000, 40000000000000, 1000000000, 'other', 2,
       array(select ${word("i || case when $7 then '-' || n else '' end")} from generate_series(1, $5::int) i),
       array(select ${word("'m' || i")} || ':' || repeat('7', 78) from generate_series(1, $6::int) i)
     from (select n, $8::int - n / 1000 as block from generate_series(0, $9::int - 1) n) placed`,
    [wallet, START, DAY, OTHER, emitters, moves, apart, lastBlock, calls],
  );
}

/** The test's client, with the length of the longest field that it was answered. */
function watchRows() {
  let longest = 0;
  const query = async (config: QueryConfig) => {
    const answer = await world.client.query(config);
    for (const field of answer.rows.flatMap((row: unknown) => Object.values(row as object)))
      if (typeof field === "string") longest = Math.max(longest, field.length);
    return answer;
  };
  const client = new Proxy(world.client, {
    get: (target, property) => (property === "query" ? query : Reflect.get(target, property, target)),
  });
  return { client, largest: () => longest };
}
