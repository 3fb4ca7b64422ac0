import { setTimeout as sleep } from "node:timers/promises";
import { type Address, encodeFunctionData, getAddress, maxUint256, numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { keeperTargetAbi } from "../../devnet/abi/keeper-target.ts";
import { spamTokenAbi } from "../../devnet/abi/spam-token.ts";
import { usdCoinAbi } from "../../service/chain/abi/usd-coin.ts";
import type { Testkit } from "../support/anvil-testkit/testkit.ts";
import { readBalance } from "../support/test-keys.ts";
import { until } from "../support/until.ts";
import type { ReportStand } from "./reports-stand.ts";

const [FAILING, KEEPER, VICTIM, CARELESS] = [walletOf(1), walletOf(2), walletOf(3), walletOf(4)];
const [FRIEND, SPAMMER, THIEF, OUTSIDER] = [walletOf(5), walletOf(6), walletOf(7), walletOf(8)];
const REVERTS = 8;
const CALLS = 22;
const ETHER = 10n ** 18n;
const BALANCE = 100_000;
const PERFORM = encodeFunctionData({ abi: keeperTargetAbi, functionName: "perform", args: [1n, 2n ** 63n] });

function walletOf(number: number): Address {
  return getAddress(numberToHex(0xbee0 + number, { size: 20 }));
}

/** Makes a month of a failing wallet, a keeper, a spammed wallet and a careless one. */
export async function makeDiagnosedPast({ chain }: Testkit): Promise<void> {
  for (const wallet of [FAILING, KEEPER, VICTIM, CARELESS]) await chain.register(wallet);
  for (const wallet of [FRIEND, SPAMMER, OUTSIDER]) {
    await chain.rpc.request("anvil_setBalance", wallet, numberToHex(100n * ETHER));
  }
  const { keeperTarget1, keeperTarget2, spamToken, usdc } = chain.contracts;
  for (let call = 0; call < REVERTS; call += 1) {
    await chain.moveTime(86_400);
    await chain.revert(FAILING, keeperTarget1);
  }
  await chain.send({ from: FAILING, to: keeperTarget2, data: PERFORM, gas: 24_000n });
  for (let call = 0; call < CALLS; call += 1) {
    await chain.moveTime(86_400);
    await chain.succeed(KEEPER, keeperTarget1);
    if (call < 5) await chain.succeed(VICTIM, keeperTarget2);
    if (call < 5) await chain.succeed(OUTSIDER, keeperTarget2);
  }
  const airdrop = encodeFunctionData({ abi: spamTokenAbi, functionName: "airdrop", args: [[VICTIM], ETHER] });
  for (let drop = 0; drop < 3; drop += 1) await chain.send({ from: SPAMMER, to: spamToken, data: airdrop });
  await chain.send({ from: SPAMMER, to: VICTIM, value: 1n });
  const approve = encodeFunctionData({ abi: usdCoinAbi, functionName: "approve", args: [THIEF, maxUint256] });
  await chain.send({ from: CARELESS, to: usdc, data: approve });
  await chain.send({ from: CARELESS, to: FRIEND, value: ETHER });
  await chain.send({ from: FRIEND, to: CARELESS, value: ETHER });
}

type Money = { readonly wei: string };
type Health = {
  readonly totals: { readonly calls: number; readonly failures: number };
  readonly gas: { readonly spent: Money; readonly wasted: Money };
  readonly recommendations: readonly { readonly kind: string; readonly saves_usd_per_month: number | null }[];
};

/** Declares tests of the reports on what a wallet does. */
export function describeDiagnosis({ kit, createCaller }: ReportStand): void {
  let caller: Awaited<ReturnType<ReportStand["createCaller"]>>;
  beforeAll(async () => {
    caller = await createCaller(BALANCE);
    await until({ what: "everything is enriched" }, async () => {
      const answer = await caller.ask(`/health/${KEEPER}`);
      if (answer.status !== 200) return null;
      return ((await answer.json()) as Health).totals.calls === CALLS + 1 ? true : null;
    });
  });

  test("a wallet whose calls fail wastes money, by named causes", async () => {
    const health = await caller.read<Health>(`/health/${FAILING}`);
    expect(health).toMatchObject({
      // The one that succeeded registered it.
      totals: { calls: REVERTS + 2, successes: 1, failures: REVERTS + 1 },
      account: { kind: "eoa", is_contract: false },
      failures: { out_of_gas: { failures: 1 }, reverted: { failures: REVERTS } },
    });
    expect(BigInt(health.gas.wasted.wei)).toBeGreaterThan(0n);
    for (const { saves_usd_per_month } of health.recommendations)
      expect(saves_usd_per_month).toBeGreaterThanOrEqual(0.01);

    const optimized = await caller.read<{
      totals: { wasted: Money; spent: Money };
      methods: readonly { savings: readonly { kind: string }[] }[];
    }>(`/optimize/${FAILING}`);
    // The single call that ran out of gas is no habit.
    expect(optimized.methods.flatMap(({ savings }) => savings.map(({ kind }) => kind))).toEqual([
      "simulate_first",
    ]);
    expect(optimized.totals.wasted).toEqual(health.gas.wasted);
    expect(optimized.totals.spent).toEqual(health.gas.spent);
  });

  test("a keeper with generous gas limits reads so, and that it saves nothing", async () => {
    const optimized = await caller.read<{ methods: readonly { method: string | null; calls: number }[] }>(
      `/optimize/${KEEPER}`,
    );
    expect(optimized.methods.find(({ calls }) => calls === CALLS)).toMatchObject({
      failures: 0,
      wasted: { wei: "0" },
      gas_limit: { state: "generous", samples: CALLS, small_sample: false, median_limit: "500000" },
    });
    expect(optimized).toMatchObject({ totals: { wasted: { wei: "0", value_usd: 0 } } });
  });

  test("a spammed victim reads of the spam, and is as clean as before", async () => {
    expect(await caller.read(`/wash/${VICTIM}`, "POST")).toMatchObject({
      issues_by_severity: { critical: 0, warning: 0 },
      received: { spam_tokens: 1, dust_tokens: 1, transfers: 4 },
    });
  });

  test("a careless wallet reads of an open approval and of money that it moves in a circle", async () => {
    expect(await caller.read(`/wash/${CARELESS}`, "POST")).toMatchObject({
      open_approvals: [
        { spender: THIEF, kind: "erc20_allowance", risks: expect.arrayContaining(["unknown"]) },
      ],
      self_dealing: { circles: [{ counterparty: FRIEND, times: 1, amount: String(ETHER) }] },
      issues: expect.arrayContaining([
        expect.objectContaining({ category: "approvals", severity: "critical" }),
      ]),
    });
  });

  test("a wallet outside the index is not washed, and diagnosed from the node's own history", async () => {
    expect((await caller.ask(`/wash/${OUTSIDER}`, "POST")).status).toBe(404);
    const before = await readBalance(kit.db, caller.id);
    const health = await until({ what: "its history is read" }, async () => {
      const answer = await caller.ask(`/health/${OUTSIDER}`);
      if (answer.status === 200) return answer.json();
      expect(answer.status).toBe(503);
      await sleep(300);
      return null;
    });
    expect(health).toMatchObject({ totals: { calls: 5, failures: 0 }, coverage: { complete: true } });
    expect(await readBalance(kit.db, caller.id)).toBe(before - 500);
  });
}
