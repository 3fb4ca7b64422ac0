import { eq } from "drizzle-orm";
import { Registry } from "prom-client";
import { type Address, zeroAddress } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resetChain } from "../../../../service/db/reset-chain.ts";
import { walletBacking } from "../../../../service/db/tables/backing.ts";
import { costBases } from "../../../../service/model/backing/cost-basis.ts";
import { createBackingMetrics, createBackingPass } from "../../../../service/scores/backing/run-backing.ts";
import { readBackingAsOf, storeBacking } from "../../../../service/scores/backing/store-backing.ts";
import { account, USDC } from "../../model/features/histories.ts";
import { blockHash } from "../../model/features/index-tables.ts";
import {
  createBackingWorld,
  FAUCET,
  HEAD,
  MIXER,
  REPUTATION,
  timeOf,
  VENUE,
  VETTED,
} from "./backing-world.ts";

const [A, B, C, STRANGER, POOL] = [account(1), account(2), account(3), account(0x99), account(0x88)];
const FOREVER = new AbortController().signal;

let world: Awaited<ReturnType<typeof createBackingWorld>>;
beforeEach(async () => {
  world = await createBackingWorld();
});
afterEach(() => world.close());

const pass = () => createBackingPass(world.context, createBackingMetrics(new Registry()))(FOREVER);
const backingOf = async (wallet: Address) => {
  const { ownMicroUsd, costBasisMicroUsd, safeMicroUsd, receivedDayMicroUsd, asOfBlock, asOfTime } =
    walletBacking;
  const [row] = await world.db
    .select({ ownMicroUsd, costBasisMicroUsd, safeMicroUsd, receivedDayMicroUsd, asOfBlock, asOfTime })
    .from(walletBacking)
    .where(eq(walletBacking.wallet, wallet));
  return row ?? null;
};
const amountsOf = async (wallet: Address) => {
  const found = await backingOf(wallet);
  return found === null ? null : [found.ownMicroUsd, found.costBasisMicroUsd, found.safeMicroUsd];
};
const bondOf = async (wallet: Address) => {
  const { rows } = await world.query(
    "select bond_micro_usd::bigint as bond from ahs.wallet_backing where wallet = $1",
    [wallet],
  );
  return rows[0]?.bond;
};
const ownOf = async (wallet: Address) => (await backingOf(wallet))?.ownMicroUsd;
const profileOf = async (wallet: Address) => {
  const { rows } = await world.query("select seller_profile from ahs.wallet_backing where wallet = $1", [
    wallet,
  ]);
  return rows[0]?.seller_profile;
};

test("stores the cost bases that the rows give by hand", async () => {
  await world.follow(A, B, C);
  await world.spend(A, 8);
  await world.spend(B, 1);
  await world.transfer({ from: A, to: B, usd: 30 });
  await world.transfer({ from: A, to: C, usd: 10, token: zeroAddress, sender: A });
  await world.transfer({ from: B, to: STRANGER, usd: 5 });
  expect(await pass()).toBe(3);
  const bases = costBases({
    ownMicroUsd: new Map([
      [A, 8_000_000n],
      [B, 1_000_000n],
    ]),
    payments: [
      { payer: A, payee: B, microUsd: 30_000_000n },
      { payer: A, payee: C, microUsd: 10_000_000n },
      { payer: B, payee: STRANGER, microUsd: 5_000_000n },
    ],
    clusterOf: (wallet) => wallet,
  });
  for (const wallet of [A, B, C]) {
    const { costBasis, safe } = bases.get(wallet) ?? { costBasis: 0n, safe: 0n };
    expect((await amountsOf(wallet))?.slice(1)).toEqual([costBasis, safe]);
  }
  expect(await backingOf(C)).toEqual({
    ownMicroUsd: 0n,
    costBasisMicroUsd: 1_000_000n,
    safeMicroUsd: 500_000n,
    receivedDayMicroUsd: 0n,
    asOfBlock: HEAD,
    asOfTime: new Date(timeOf(HEAD) * 1000),
  });
  expect(await readBackingAsOf(world.db, 31_337)).toEqual({
    asOfBlock: HEAD,
    asOfTime: new Date(timeOf(HEAD) * 1000),
  });
  expect(await backingOf(STRANGER)).toBeNull();
});

test("shows a bond by its newest change that is final, beside the safe amount", async () => {
  await world.follow(A, B, C);
  await world.spend(A, 8);
  await world.bond(A, 3, HEAD - 2);
  await world.bond(A, 40, HEAD);
  await world.bond(A, 0, HEAD + 1);
  await world.bond(B, 7, HEAD - 1);
  await world.bond(C, 7, HEAD - 1);
  await world.bond(C, 0, HEAD);
  await world.bond(STRANGER, 9);
  await pass();
  expect([await amountsOf(A), await bondOf(A)]).toEqual([[8_000_000n, 8_000_000n, 4_000_000n], "40000000"]);
  expect([await amountsOf(B), await bondOf(B)]).toEqual([[0n, 0n, 0n], "7000000"]);
  expect(await backingOf(C)).toBeNull();
  expect(await backingOf(STRANGER)).toBeNull();
  await world.settle(HEAD + 1);
  await pass();
  expect([await amountsOf(A), await bondOf(A)]).toEqual([[8_000_000n, 8_000_000n, 4_000_000n], "0"]);
});

test("knows no bond where the index was built by older code", async () => {
  await world.follow(A);
  await world.spend(A, 8);
  await world.bond(A, 40);
  await world.query("drop table chain_31337.bond_change");
  await pass();
  expect(await amountsOf(A)).toEqual([8_000_000n, 8_000_000n, 4_000_000n]);
});

test("counts only fees of own transactions within 180 days", async () => {
  await world.follow(A);
  await world.spend(A, 2, { ok: false });
  await world.spend(A, 4, { position: 3 });
  await world.spend(A, 8, { at: timeOf(HEAD - 181) });
  await world.spend(A, 16, { at: timeOf(HEAD + 1) });
  await world.query("update ahs.own_call set l1_fee_wei = l1_fee_wei + 1000000000000000 where position = 0");
  await pass();
  expect(await ownOf(A)).toBe(4_000_000n);
});

test("counts fees at listed venues, and a part of payments to vetted services", async () => {
  await world.follow(A, B);
  const swap = { to: VENUE, moves: [{ token: USDC, amount: -1_000_000_000n }] };
  await world.spend(A, 1, { ...swap });
  await world.query("update ahs.own_call set moves = $1", [[`${USDC}:-1000000000`]]);
  await world.learn(VETTED, true);
  await world.transfer({ from: B, to: VETTED, usd: 10 });
  await pass();
  expect(await ownOf(A)).toBe(1_000_000n);
  expect(await ownOf(B)).toBe(3_000_000n);
  await world.query("update ahs.own_call set value = 1000000000000000000, moves = $1", [
    [`${USDC}:1900000000`],
  ]);
  await pass();
  expect(await ownOf(A)).toBe(2_000_000n);
});

test("takes swaps, deposits, withdrawals and payments of strangers for no backing", async () => {
  await world.follow(A, B);
  await world.spend(A, 8);
  await world.learn(POOL, true);
  await world.transfer({ from: A, to: POOL, usd: 900 });
  await world.transfer({ from: A, to: B, usd: 1 });
  await world.transfer({ from: POOL, to: B, usd: 900, sender: B, block: HEAD });
  await world.transfer({ from: FAUCET, to: B, usd: 900, block: HEAD });
  await world.transfer({ from: MIXER, to: B, usd: 900, block: HEAD });
  await world.transfer({ from: zeroAddress, to: B, usd: 900, block: HEAD });
  await world.transfer({ from: STRANGER, to: B, usd: 3, block: HEAD });
  await pass();
  // A passes on no more than it paid.
  expect(await amountsOf(B)).toEqual([0n, 1_000_000n, 500_000n]);
  expect((await backingOf(B))?.receivedDayMicroUsd).toBe(3_000_000n);
  expect(await backingOf(POOL)).toBeNull();
});

test("leaves the owner's other accounts out", async () => {
  await world.follow(A, B);
  await world.learn(A, false);
  await world.learn(B, false, A);
  await world.spend(A, 8);
  await world.transfer({ from: A, to: B, usd: 5, block: HEAD });
  await pass();
  expect(await backingOf(B)).toMatchObject({ costBasisMicroUsd: 0n, receivedDayMicroUsd: 0n });
  expect(await profileOf(B)).toMatchObject({ payers: 0, ownClusterShare: 1, revenueMicroUsd: "0" });
});

test("describes how a wallet earns", async () => {
  await world.follow(A, B, C);
  await world.spend(A, 8);
  for (const block of [HEAD - 20, HEAD - 10]) await world.transfer({ from: A, to: B, usd: 4, block });
  await world.transfer({ from: STRANGER, to: B, usd: 2, block: HEAD - 10 });
  await world.transfer({ from: B, to: A, usd: 2 });
  await world.endJob({ provider: B, client: A, status: "Completed", endedBy: C, decision: 1 });
  await world.endJob({ provider: B, client: A, status: "Rejected", endedBy: C, decision: 2 });
  await world.endJob({ provider: B, client: A, status: "Rejected", endedBy: A });
  await world.endJob({ provider: B, client: A, status: "Expired", funded: 0 });
  await world.endJob({ provider: B, client: B, status: "Completed", endedBy: B });
  await pass();
  expect(await profileOf(B)).toEqual({
    payers: 2,
    weightedPayers: 1,
    returningPayers: 1,
    weeks: 2,
    activeWeeks: expect.closeTo(1.98, 1),
    revenueMicroUsd: "10000000",
    refundedShare: 0.2,
    ownClusterShare: 0,
    jobs: { completed: 1, rejected: 1, expired: 0 },
    verdicts: { allow: 1, reject: 1 },
    feedback: { payers: 0, tags: [] },
  });
  expect(await profileOf(C)).toBeUndefined();
});

test("changes nothing in a second pass, and removes what is gone", async () => {
  await world.follow(A, B);
  await world.spend(A, 8);
  await world.transfer({ from: A, to: B, usd: 5 });
  const stored = async () =>
    (await world.query("select *, xmin from ahs.wallet_backing order by wallet")).rows;
  await pass();
  const first = await stored();
  expect(first).toHaveLength(2);
  await pass();
  expect(await stored()).toEqual(first);
  await world.query("delete from ahs.enrich_transfer");
  await pass();
  expect((await stored()).map(({ wallet }) => wallet)).toEqual([A]);
});

test("adds the feedback of payers to a profile, but for that of the wallet's own owner", async () => {
  await world.follow(A);
  await world.learn(B, false);
  await world.learn(C, false, STRANGER);
  await world.learn(A, false, STRANGER);
  for (const from of [B, C]) await world.transfer({ from, to: A, usd: 5 });
  await pass();
  expect((await profileOf(A)).feedback).toEqual({ payers: 0, tags: [] });
  for (const [client, value] of [
    [B, 40],
    [C, 99],
    [POOL, 99],
  ] as const)
    await world.query(
      `insert into ahs.paid_feedback (chain_id, registry, agent_id, client, feedback_index, wallet, block, value, tag, paid)
       values (31337, $1, 1, $2, 1, $3, 5, $4, 'starred', 1)`,
      [REPUTATION, client, A, BigInt(value) * 10n ** 18n],
    );
  await pass();
  expect((await profileOf(A)).feedback).toEqual({
    payers: 1,
    tags: [{ tag: "starred", payers: 1, median: 40 }],
  });
  await createBackingPass(
    { ...world.context, chain: { ...world.context.chain, reputationRegistry: null } },
    createBackingMetrics(new Registry()),
  )(FOREVER);
  expect((await profileOf(A)).feedback).toBeNull();
});

test("waits until the head is five minutes on", async () => {
  await world.follow(A);
  await world.spend(A, 8);
  const repeated = createBackingPass(world.context, createBackingMetrics(new Registry()));
  expect(await repeated(FOREVER)).toBe(1);
  expect(await repeated(FOREVER)).toBeNull();
  await world.settle(HEAD + 1);
  expect(await repeated(FOREVER)).toBe(1);
  expect((await backingOf(A))?.asOfBlock).toBe(HEAD + 1);
});

test("stores nothing of a block that the index no longer holds", async () => {
  await world.follow(A);
  await world.spend(A, 8);
  await pass();
  const before = await backingOf(A);
  const asOf = { blockNumber: HEAD + 1, blockHash: blockHash(7), timestamp: timeOf(HEAD + 1) };
  expect(await storeBacking(world.db, { chainId: 31_337, asOf, backings: [] })).toBe(false);
  expect(await backingOf(A)).toEqual(before);
});

test("stores nothing before a block is final, nor without a price", async () => {
  await world.follow(A);
  await world.spend(A, 8);
  await world.query("delete from ahs.feed_price");
  expect(await pass()).toBeNull();
  expect(await backingOf(A)).toBeNull();
  await world.query("delete from ahs.enrich_cursor");
  expect(await pass()).toBeNull();
});

test("leaves out a wallet whose rows cannot be read, and stores the others", async () => {
  await world.follow(A, B, C);
  await world.spend(A, 8);
  await world.spend(B, 8, { to: VENUE });
  await world.query("update ahs.own_call set moves = $1 where wallet = $2", [[`${USDC}:-x`, `${USDC}:1`], B]);
  await world.transfer({ from: B, to: C, usd: 5 });
  expect(await pass()).toBe(2);
  expect(await amountsOf(A)).toEqual([8_000_000n, 8_000_000n, 4_000_000n]);
  expect(await amountsOf(B)).toBeNull();
  expect(await amountsOf(C)).toEqual([0n, 0n, 0n]);
  const { rows } = await world.query("select kind, subject from ahs.quarantine");
  expect(rows).toEqual([{ kind: "backing", subject: B }]);
});

test("is cleared with the index", async () => {
  await world.follow(A);
  await world.spend(A, 8);
  await pass();
  await resetChain(world.db, 31_337);
  expect(await readBackingAsOf(world.db, 31_337)).toBeNull();
});
