import { beforeEach, describe, expect, test } from "vitest";
import type { enrichApproval } from "../../../../service/db/tables/enrich.ts";
import { storedHistory } from "../../../../service/db/tables/history.ts";
import { storeApprovals } from "../../../../service/ingest/enrich/enrich-approvals.ts";
import type { OwnCall, WalletRows } from "../../../../service/model/features/types.ts";
import { rowsDigest } from "../../../../service/scores/inputs-hash.ts";
import { readWalletRows } from "../../../../service/scores/read/read-rows.ts";
import { account, DAY, START, TOKENS } from "../../model/features/histories.ts";
import {
  blockHash,
  followEnriched,
  insertOwnCall,
  insertTransaction,
} from "../../model/features/index-tables.ts";
import { AGENT, blockAt, callAt, OTHER, request, SCHEMA, useRowsWorld } from "./rows-world.ts";

const STRANGER = account(0xbad);
const LISTING = `0x${"11".repeat(32)}` as const;
const EMPTY = { marketPrice: null, effect: "none", emitters: [], moves: [] } as const;

const world = useRowsWorld();

describe("an index of 400 days with a block a day", () => {
  test("reads a wallet's own calls exactly, in the order of the chain, with and without receipt", async () => {
    const calls: readonly OwnCall[] = [
      callAt(10, {
        value: 10n ** 27n,
        gasLimit: 21_000n,
        gasUsed: 21_000n,
        gasPrice: 3_000_000_007n,
        fee: 10n ** 15n,
      }),
      callAt(11, { ok: false, receipt: null }),
      callAt(12, { to: null, selector: null, receipt: { ...EMPTY, effect: "none", marketPrice: null } }),
      callAt(13, {
        recipient: OTHER,
        amount: 2n ** 200n + 1n,
        receipt: {
          marketPrice: 10n ** 9n,
          effect: "transfer",
          emitters: [account(0xc0), account(0xc1)],
          moves: [
            { token: account(0xc0), amount: -(2n ** 200n) },
            { token: account(0xc1), amount: 5n },
          ],
        },
      }),
      { ...callAt(13), position: 3 },
    ];
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 5 });
    await world.insertCalls(calls.toReversed());
    expect(await world.readOne()).toEqual({
      chainId: 31337,
      wallet: AGENT,
      calls,
      counterparties: [account(0xa2), account(0xc0), account(0xc1), account(1000)].map((address) => ({
        address,
        ownerLink: null,
        hasCode: null,
        existedAt: null,
        fundedFromOutside: null,
        firstContactAt: null,
        outsideUsers: 0,
        flag: null,
      })),
      approvals: [],
      delegation: null,
      tokens: TOKENS,
      servicesUpAt: null,
      sanctions: [],
      coverage: {
        fromBlock: 5,
        fromTimestamp: blockAt(5).timestamp,
        toBlock: 300,
        complete: false,
        sources: ["index"],
      },
      chainStartTimestamp: START,
    });
  });

  test("digests rows as they are read like rows by themselves", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await world.insertCalls([callAt(20), callAt(10, { receipt: null }), callAt(15, { to: null })]);
    const [read] = await readWalletRows(world.client, request([AGENT]));
    if (read === undefined) throw new Error("expected the rows of one wallet");
    expect(read.digest).toBe(rowsDigest(read.rows));
    expect(rowsDigest({ ...read.rows, calls: read.rows.calls.toReversed() })).toBe(read.digest);
  });

  test("reads calls that were stored before lines were like those stored since", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 5 });
    await world.insertCalls([
      callAt(10),
      callAt(11, { receipt: null }),
      callAt(12, { to: null, selector: null }),
    ]);
    const read = await readWalletRows(world.client, request([AGENT]));
    await world.client.query("set session_replication_role = replica");
    await world.client.query("update ahs.own_call set line = null where block <= 11");
    await world.client.query("set session_replication_role = default");
    expect(await readWalletRows(world.client, request([AGENT]))).toEqual(read);
  });

  test("leaves out what happened after the block", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 15 });
    await world.insertCalls([callAt(20), callAt(301)]);
    expect((await world.readOne()).calls.map((call) => call.blockNumber)).toEqual([20]);
  });

  test("reads the window of 180 days before the last call as of the block", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await world.insertCalls([callAt(69), callAt(70), callAt(250), callAt(350)]);
    expect(blocksOf(await world.readOne())).toEqual([70, 250]);
  });

  test("reads of each wallet its own window, whatever else is read with it", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await followEnriched(world.client, SCHEMA, { wallet: OTHER, block: 0 });
    await world.insertCalls([callAt(5), callAt(250)]);
    const old = { ...callAt(20), hash: blockHash(9_999) };
    await insertOwnCall(world.client, { call: old, wallet: OTHER });
    const rows = await readWalletRows(world.client, request([AGENT, OTHER]));
    expect(new Map(rows.map((own) => [own.rows.wallet, blocksOf(own.rows)]))).toEqual(
      new Map([
        [AGENT, [250]],
        [OTHER, [20]],
      ]),
    );
  });

  test("reads many wallets at once, and none that was not followed by the block", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await followEnriched(world.client, SCHEMA, { wallet: OTHER, block: 301 });
    const rows = await readWalletRows(world.client, request([AGENT, OTHER, STRANGER]));
    expect(rows.map(({ rows: { wallet, calls } }) => ({ wallet, calls }))).toEqual([
      { wallet: AGENT, calls: [] },
    ]);
  });

  test.each([
    { name: "followed from the chain's first block", followed: 0, nonces: [7], first: 0, complete: true },
    { name: "followed before its first call ever", followed: 50, nonces: [0, 1], first: 0, complete: true },
    { name: "followed after its first call", followed: 50, nonces: [3, 4], first: 0, complete: false },
    { name: "followed since before the window", followed: 1, nonces: [3], first: 0, complete: true },
    { name: "without any call", followed: 50, nonces: [], first: 0, complete: false },
    {
      name: "from the start of an index that starts later than its chain",
      followed: 100,
      nonces: [3, 4],
      first: 100,
      complete: false,
    },
  ])("a wallet $name: complete $complete", async ({ followed, nonces, first, complete }) => {
    await world.client.query(`delete from ${SCHEMA}.block where number < $1`, [first]);
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: followed });
    const block = followed === 1 ? 290 : 120;
    for (const [position, nonce] of nonces.entries()) {
      const call = callAt(block + position);
      await insertTransaction(world.client, SCHEMA, { call, from: AGENT, nonce });
      await insertOwnCall(world.client, { call, wallet: AGENT });
    }
    const rows = await world.readOne();
    expect(rows.coverage.complete).toBe(complete);
    expect(rows.coverage.fromBlock).toBe(followed);
    expect(rows.chainStartTimestamp).toBe(first === 0 ? START : null);
  });

  test("flags a wallet whose newest change by the block is a listing", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    expect((await world.readOne()).sanctions).toEqual([]);
    await change({ block: 100, logIndex: 5, listed: false });
    await change({ block: 100, logIndex: 6, listed: true, transactionHash: LISTING });
    await change({ block: 301, logIndex: 0, listed: false });
    const flag = {
      source: "chainalysis-oracle",
      reference: LISTING,
      detected_at: new Date(blockAt(100).timestamp * 1000).toISOString(),
    };
    expect((await world.readOne()).sanctions).toEqual([flag]);
    await change({ block: 300, logIndex: 0, listed: false });
    expect((await world.readOne()).sanctions).toEqual([]);
  });

  test("has neither a whole history nor approvals for a wallet whose past is not enriched yet", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await approve(10, {});
    expect(await world.readOne()).toMatchObject({ coverage: { complete: true }, approvals: [{}] });
    await world.client.query("update ahs.enrich_wallet set past_next = 5, past_until = 300");
    expect(await world.readOne()).toMatchObject({ coverage: { complete: false }, approvals: null });
    await world.client.query("delete from ahs.enrich_wallet");
    expect(await world.readOne()).toMatchObject({ coverage: { complete: false }, approvals: null });
  });

  test("reads open approvals without limit that the wallet itself gave", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await approve(10, { amount: 2n ** 255n });
    await approve(11, { token: account(0xc1), amount: 2n ** 255n - 1n });
    await approve(12, { token: account(0xc2), kind: "all", amount: null });
    await approve(13, { token: account(0xc3), own: false });
    await approve(14, { token: account(0xc4) });
    await approve(15, { token: account(0xc4), amount: 0n, approved: false });
    expect((await world.readOne()).approvals).toEqual([
      { token: account(0xc0), spender: OTHER, kind: "amount", approvedAt: blockAt(10).timestamp },
      { token: account(0xc2), spender: OTHER, kind: "all", approvedAt: blockAt(12).timestamp },
    ]);
  });

  describe("an approval without limit", () => {
    const OPEN_APPROVAL = {
      token: account(0xc0),
      spender: OTHER,
      kind: "amount",
      approvedAt: blockAt(10).timestamp,
    };
    const MUCH = 2n ** 255n;
    const byStranger = { own: false } as const;
    const approvals = async () => (await world.readOne()).approvals;
    beforeEach(() => followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 }));

    test("is not hidden by what the token logs when its spender draws on it", async () => {
      await approve(10, {});
      await approve(11, { ...byStranger, amount: MUCH });
      expect(await approvals()).toEqual([OPEN_APPROVAL]);
    });

    test.each<{ name: string; left: Partial<typeof enrichApproval.$inferInsert> }>([
      { name: "half of it", left: { amount: MUCH - 1n } },
      { name: "nothing", left: { amount: 0n, approved: false } },
    ])("is gone once a stranger's transaction left $name", async ({ left }) => {
      await approve(10, {});
      await approve(11, { ...byStranger, ...left });
      expect(await approvals()).toEqual([]);
    });

    test.each<{ name: string; own: Partial<typeof enrichApproval.$inferInsert> | null }>([
      { name: "never gave any", own: null },
      { name: "gave one to another spender", own: { spender: STRANGER, amount: 5n } },
      { name: "gave one of another kind", own: { kind: "token", tokenId: 1n, subject: "1", amount: null } },
      { name: "gave one with a limit", own: { amount: 5n } },
      { name: "took its own back", own: { amount: 0n, approved: false } },
    ])("is not made by what strangers let a token log where the wallet $name", async ({ own }) => {
      if (own !== null) {
        await approve(9, { spender: own.spender ?? OTHER });
        await approve(9, { logIndex: 1, amount: 0n, approved: false, spender: own.spender ?? OTHER });
        await approve(10, own);
      }
      await approve(11, byStranger);
      await world.insertCalls([{ ...callAt(12), position: 3, hash: blockHash(12) }]);
      expect(await approvals()).toEqual([]);
    });
  });

  test("reads the newest delegation by the block, and when a service of its agent last answered, to the day", async () => {
    await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 0 });
    await world.client.query(
      "insert into ahs.wallet_delegation values (31337, $1, 10, $2), (31337, $1, 20, null)",
      [AGENT, OTHER],
    );
    expect((await world.readOne()).delegation).toEqual({ to: null });
    await world.client.query("insert into ahs.wallet_delegation values (31337, $1, 300, $2)", [AGENT, OTHER]);
    expect((await world.readOne()).delegation).toEqual({ to: OTHER });

    expect((await world.readOne()).servicesUpAt).toBeNull();
    await world.client.query(
      `insert into ${SCHEMA}.agent_wallet values ('7:0:0', 7, $1, 0, null), ('8:0:0', 8, $1, 0, 9)`,
      [AGENT],
    );
    await world.client.query(`insert into ahs.agent_document (chain_id, agent_id, uri, state, services, attempts) values
      (31337, 7, 'data:,', 'current', '[{"name": "api", "endpoint": "https://a"}]', 1),
      (31337, 8, 'data:,', 'current', '[{"name": "api", "endpoint": "https://b"}]', 1)`);
    await world.client.query(
      `insert into ahs.probe (chain_id, endpoint, at, outcome) values (31337, 'https://a', to_timestamp($1), 'ok'),
         (31337, 'https://a', to_timestamp($1 + 86400), 'timeout'), (31337, 'https://b', to_timestamp($1 + 86400), 'ok')`,
      [START + 5 * DAY + 3_000],
    );
    expect((await world.readOne()).servicesUpAt).toBe(START + 5 * DAY);
  });

  describe("a history source", () => {
    const stored = { chainId: 31337, wallet: AGENT, source: "otterscan", toHash: blockHash(99) };

    test("reports a wallet that the index does not follow", async () => {
      await world.db.insert(storedHistory).values({
        ...{ ...stored, complete: true, fromBlock: 3, toBlock: 290 },
        fromTimestamp: blockAt(3).timestamp,
      });
      await insertOwnCall(world.client, { call: callAt(10), wallet: AGENT, source: "otterscan" });
      const rows = await world.readOne();
      expect(blocksOf(rows)).toEqual([10]);
      expect(rows.coverage).toEqual({
        ...{ fromBlock: 3, fromTimestamp: blockAt(3).timestamp, toBlock: 290, complete: true },
        sources: ["otterscan"],
      });
      expect(rows.counterparties).toMatchObject([{ firstContactAt: blockAt(10).timestamp }]);
    });

    test.each([
      { toBlock: 99, fromBlock: 3, complete: true, sources: ["index", "otterscan"] },
      { toBlock: 98, fromBlock: 100, complete: false, sources: ["index"] },
    ])("up to block $toBlock of a wallet followed from 100 on: complete $complete", async (expected) => {
      const { toBlock, ...coverage } = expected;
      await followEnriched(world.client, SCHEMA, { wallet: AGENT, block: 100 });
      await world.db.insert(storedHistory).values({
        ...{ ...stored, complete: true, fromBlock: 3, toBlock },
        fromTimestamp: blockAt(3).timestamp,
      });
      await insertOwnCall(world.client, { call: callAt(110), wallet: AGENT });
      expect((await world.readOne()).coverage).toEqual({
        ...coverage,
        fromTimestamp: blockAt(coverage.fromBlock).timestamp,
        toBlock: 300,
      });
    });
  });
});

function blocksOf(rows: WalletRows): readonly number[] {
  return rows.calls.map((call) => call.blockNumber).toSorted((a, b) => a - b);
}

type ApprovalRow = typeof enrichApproval.$inferInsert;

/** Stores an approval as enrichment does. */
async function approve(block: number, parts: Partial<ApprovalRow>): Promise<void> {
  const row: ApprovalRow = {
    ...{ chainId: 31337, block, logIndex: 0, transactionHash: blockHash(block), kind: "amount" },
    ...{ timestamp: blockAt(block).timestamp, token: account(0xc0), owner: AGENT, spender: OTHER },
    ...{ amount: 2n ** 256n - 1n, approved: true, own: true, subject: parts.spender ?? OTHER },
    ...parts,
  };
  await world.db.transaction((tx) => storeApprovals(tx, 31337, { rows: [row], pastOf: [] }));
}

async function change(entry: {
  readonly block: number;
  readonly logIndex: number;
  readonly listed: boolean;
  readonly transactionHash?: string;
}): Promise<void> {
  await world.client.query(`insert into ${SCHEMA}.sanctions_change values ($1, $2, $3, $4, $5, $6, $7)`, [
    `${entry.block}-${entry.logIndex}`,
    AGENT,
    entry.listed,
    entry.block,
    entry.logIndex,
    blockAt(entry.block).timestamp,
    entry.transactionHash ?? `0x${"22".repeat(32)}`,
  ]);
}
