import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { deedOf, enrol } from "../../eval/agent.ts";
import { mine } from "../../eval/ledger.ts";
import { observe } from "../../eval/score-wallets.ts";
import { spendingOf } from "../../eval/spending.ts";
import { pay, swap, type Task } from "../../eval/tasks.ts";
import { createWorld, DAY } from "../../eval/world.ts";
import { AHS_2026_2 as policy } from "../../service/model/score/policy.ts";

const SOUND = { outOfGas: 0, overpay: () => 1, usedShare: [0.8, 0.9] as const };

/** Lets one wallet of a new world do a task once, and returns its spending in dollars. */
function spent(task: (world: ReturnType<typeof createWorld>) => Task, vetted: ReadonlySet<Address>) {
  const world = createWorld("spending", 90);
  const { wallet } = enrol(world, world.random, { ageDays: 5 });
  const time = world.start + DAY;
  const call = mine(world, wallet, deedOf(world.random, SOUND, { task: task(world), time, failure: 0 }));
  const observer = observe(world, { at: world.start + 2 * DAY, policy });
  const { ownMicroUsd, payments } = spendingOf(world, observer, vetted);
  const dollars = Number(ownMicroUsd.get(wallet) ?? 0n) / 1e6;
  return { dollars, fee: call.fee, payments: [...payments].filter(({ payer }) => payer === wallet) };
}

describe("the spending of a wallet", () => {
  const { places, market } = createWorld("spending", 90);
  const [payee, venue] = [places.merchant[0], places.venue.find(({ existedAt }) => existedAt < 1.7e9)];
  if (payee === undefined || venue === undefined) throw new Error("the world lacks places");

  test("is its fees, and a part of payments to vetted services", () => {
    const task = () => pay(market, payee.address, () => 100);
    const plain = spent(task, new Set());
    expect(plain.dollars).toBeLessThan(0.1);
    expect(plain.dollars).toBeGreaterThan(0);
    expect(plain.payments.map((one) => one.payee)).toEqual([payee.address]);
    const vetted = spent(task, new Set([payee.address]));
    expect(vetted.dollars - plain.dollars).toBeCloseTo(30, 0);
  });

  test("holds five of ten thousand of what it swaps at a venue, and no payment", () => {
    const { usdc, wrapped } = market;
    const swapped = spent(() => swap(market, { venue, sold: usdc, bought: wrapped, usd: 10_000 }), new Set());
    expect(swapped.dollars).toBeGreaterThan(4.9);
    expect(swapped.dollars).toBeLessThan(5.3);
    expect(swapped.payments).toEqual([]);
  });
});
