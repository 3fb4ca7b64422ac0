import { type Address, encodeAbiParameters, encodeEventTopics, type Hex, keccak256, toHex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { reputationRegistryAbi } from "../../../../service/chain/abi/reputation-registry.ts";
import type { LogFilter } from "../../../../service/chain/node/chain-reader.ts";
import { NodeFailure } from "../../../../service/chain/node/failure.ts";
import type { RawLog } from "../../../../service/chain/node/rpc-answers.ts";
import { paidFeedbackRound } from "../../../../service/scores/backing/paid-feedback-round.ts";
import { account, USDC } from "../../model/features/histories.ts";
import { blockHash } from "../../model/features/index-tables.ts";
import { createBackingWorld, HEAD, REPUTATION } from "./backing-world.ts";

const [WALLET, EARLIER, PAYER, STRANGER, OTHER] = [1, 2, 3, 4, 5].map(account) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const CHAIN_ID = 31_337;
const AGENT = 7n;

let world: Awaited<ReturnType<typeof createBackingWorld>>;
let logs: RawLog[];
let asked: LogFilter[];
/** Blocks of a range from which on the node fails, and how. */
let [most, failure] = [Number.POSITIVE_INFINITY, new Error()];
beforeEach(async () => {
  most = Number.POSITIVE_INFINITY;
  world = await createBackingWorld();
  [logs, asked] = [[], []];
  await world.query(
    `insert into chain_${CHAIN_ID}.agent_wallet values ('a', $1, $2, 1, 100), ('b', $1, $3, 100, null)`,
    [AGENT.toString(), EARLIER, WALLET],
  );
});
afterEach(() => world.close());

const round = () =>
  paidFeedbackRound({
    ...{ db: world.db, chainId: CHAIN_ID, registry: REPUTATION, usdc: USDC, startBlock: 0 },
    node: {
      logs: async (filter) => {
        asked.push(filter);
        if (filter.to - filter.from >= most) throw failure;
        return logs.filter(({ blockNumber }) => filter.from <= blockNumber && blockNumber <= filter.to);
      },
    },
  });

type Given = {
  readonly client: Address;
  readonly block?: number;
  readonly index?: bigint;
  readonly value?: bigint;
  readonly decimals?: number;
  readonly tag?: string;
};

function give({ client, block = 200, index = 1n, value = 87n, decimals = 0, tag = "starred" }: Given): void {
  const topics = encodeEventTopics({
    abi: reputationRegistryAbi,
    eventName: "NewFeedback",
    args: { agentId: AGENT, clientAddress: client, indexedTag1: tag },
  });
  const types = ["uint64", "int128", "uint8", "string", "string", "string", "string", "bytes32"] as const;
  const data = encodeAbiParameters(
    types.map((type) => ({ type })),
    [index, value, decimals, tag, "", "", "", keccak256("0x")] as never,
  );
  log(block, topics as Hex[], data);
}

function revoke(client: Address, index: bigint): void {
  const args = { agentId: AGENT, clientAddress: client, feedbackIndex: index };
  log(
    210,
    encodeEventTopics({ abi: reputationRegistryAbi, eventName: "FeedbackRevoked", args }) as Hex[],
    "0x",
  );
}

function log(blockNumber: number, topics: Hex[], data: Hex): void {
  const place = {
    blockNumber,
    blockHash: blockHash(blockNumber),
    transactionHash: blockHash(1),
    logIndex: 1_000,
  };
  logs.push({ address: REPUTATION, topics, data, ...place });
}

const stored = async () =>
  (
    await world.query(
      `select client, feedback_index::int as index, wallet, (value / 1e18)::float8 as value, tag, paid::int as paid
       from ahs.paid_feedback order by client, feedback_index`,
    )
  ).rows;

test("stores feedback of clients that paid the wallet the agent had then, before they left it", async () => {
  await world.transfer({ from: PAYER, to: WALLET, usd: 2, block: 150 });
  await world.transfer({ from: PAYER, to: WALLET, usd: 1, block: 160 });
  await world.transfer({ from: STRANGER, to: EARLIER, usd: 9, block: 150 });
  await world.transfer({ from: OTHER, to: WALLET, usd: 9, block: 201 });
  give({
    client: PAYER,
    value: 8_750n,
    decimals: 2,
    tag: ` Starred\n\u0000 ${"a".repeat(20)}😀`,
  });
  for (const client of [STRANGER, OTHER]) give({ client });
  give({ client: STRANGER, block: 90, index: 2n });
  give({ client: WALLET, index: 3n });
  await round();
  expect(await stored()).toEqual([
    {
      client: PAYER,
      index: 1,
      wallet: WALLET,
      value: 87.5,
      tag: `starred ${"a".repeat(20)}`,
      paid: 3_000_000,
    },
  ]);
  // A payment to the wallet of that time counts for that time alone.
  await world.query("delete from ahs.registry_cursor");
  await world.transfer({ from: STRANGER, to: EARLIER, usd: 9, block: 80 });
  await round();
  expect((await stored()).map(({ client, wallet }) => [client, wallet])).toEqual([
    [PAYER, WALLET],
    [STRANGER, EARLIER],
  ]);
});

test("forgets what was revoked, and reads each block once, up to the newest enriched one", async () => {
  await world.transfer({ from: PAYER, to: WALLET, usd: 2, block: 150 });
  for (const index of [1n, 2n]) give({ client: PAYER, index });
  revoke(PAYER, 1n);
  await round();
  expect((await stored()).map(({ index }) => index)).toEqual([2]);
  revoke(PAYER, 2n);
  logs.push(...logs.splice(0).map((one) => ({ ...one, blockNumber: HEAD + 1 })));
  await round();
  expect((await stored()).map(({ index }) => index)).toEqual([2]);
  await world.settle(HEAD + 1);
  await round();
  expect(await stored()).toEqual([]);
  expect(asked.map(({ from, to }) => [from, to])).toEqual([
    [0, HEAD],
    [HEAD + 1, HEAD + 1],
  ]);
});

test("stores at most four entries of a client, and of an agent those of the clients that paid most", async () => {
  await world.transfer({ from: PAYER, to: WALLET, usd: 2, block: 150 });
  for (let index = 1n; index <= 6n; index += 1n) give({ client: PAYER, index });
  const crowd = Array.from({ length: 210 }, (_, number) => account(1_000 + number));
  for (const client of crowd) {
    await world.transfer({ from: client, to: WALLET, usd: 0.000001, block: 150 });
    give({ client });
  }
  await round();
  const rows = await stored();
  expect(rows.length).toBe(200);
  expect(rows.filter(({ client }) => client === PAYER).map(({ index }) => index)).toEqual([3, 4, 5, 6]);
});

test("looks at the newest 10,000 transfers of a client, which can make any number", async () => {
  for (const client of [PAYER, OTHER]) {
    await world.transfer({ from: client, to: WALLET, usd: 2, block: 140 });
    give({ client });
  }
  await world.query(
    `insert into ahs.enrich_transfer (chain_id, block, log_index, item, transaction_hash, timestamp, token, standard, "from", "to", amount)
     select 31337, 150, n, 0, '0xab', 1, '0xfa', 'erc20', case when n < 10000 then $1 else $2 end, $3, 1 from generate_series(1, 19999) n`,
    [PAYER, OTHER, STRANGER],
  );
  await round();
  expect((await stored()).map(({ client }) => client)).toEqual([PAYER]);
});

test.each(["too_many_results", "timeout"] as const)("halves a range that fails by %s", async (kind) => {
  await world.transfer({ from: PAYER, to: WALLET, usd: 2, block: 150 });
  give({ client: PAYER });
  most = 100;
  failure = new NodeFailure(kind, "the range is too large");
  await round();
  expect((await stored()).map(({ client }) => client)).toEqual([PAYER]);
  expect(asked.map(({ from, to }) => [from, to])).toEqual([
    ...[HEAD, 150, 75].map((to) => [0, to]),
    ...[76, 152, 228].map((from) => [from, Math.min(from + 75, HEAD)]),
  ]);
});

test("ignores entries that cannot be read", async () => {
  await world.transfer({ from: PAYER, to: WALLET, usd: 2, block: 150 });
  give({ client: PAYER });
  const [good] = logs;
  if (good !== undefined) logs.push({ ...good, data: "0x01" }, { ...good, topics: [toHex(1, { size: 32 })] });
  give({ client: PAYER, index: 2n, decimals: 19 });
  await round();
  expect((await stored()).map(({ index }) => index)).toEqual([1]);
});
