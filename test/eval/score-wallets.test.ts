import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { deedOf, enrol } from "../../eval/agent.ts";
import { mine } from "../../eval/ledger.ts";
import { observe } from "../../eval/score-wallets.ts";
import { work } from "../../eval/tasks.ts";
import { createWorld, DAY } from "../../eval/world.ts";
import { AHS_2026_2 as policy } from "../../service/model/score/policy.ts";

const SOUND = { outOfGas: 0, overpay: () => 1, usedShare: [0.8, 0.9] as const };

/** One wallet that calls one place twice a day, with so many strangers around it. */
function simulate(strangers: number) {
  const world = createWorld("observer", 90);
  const { wallet } = enrol(world, world.random, { ageDays: 5 });
  const place = world.places.venue[0];
  if (place === undefined) throw new Error("the world has no venue");
  for (let i = 0; i < 180; i += 1) {
    const task = work(place, "0x12345678");
    mine(world, wallet, deedOf(world.random, SOUND, { task, time: world.start + (i / 2) * DAY, failure: 0 }));
  }
  for (let i = 0; i < strangers; i += 1) {
    const account: Address = `0x${(i + 1).toString(16).padStart(40, "0")}`;
    const seen = { account, time: world.start + i * 3_600, calls: 1, sentMicroUsd: 0n };
    world.ledger.dealings.push({ ...seen, counterparty: place.address });
    world.ledger.elsewhere.set(account, [seen.time]);
  }
  return { world, wallet };
}

describe("an observer", () => {
  test("knows nothing that comes after its moment", () => {
    const { world, wallet } = simulate(20);
    const early = observe(world, { at: world.start + 30 * DAY, policy }).score(wallet);
    const { world: short, wallet: same } = simulate(20);
    const calls = short.ledger.calls.get(same) ?? [];
    short.ledger.calls.set(
      same,
      calls.filter(({ timestamp }) => timestamp <= short.start + 30 * DAY),
    );
    expect(same).toBe(wallet);
    expect(observe(short, { at: short.start + 30 * DAY, policy }).score(same)).toEqual(early);
  });

  test("credits a place for the strangers that it sees there", () => {
    const confidence = [0, 3, 20].map((strangers) => {
      const { world, wallet } = simulate(strangers);
      return observe(world, { at: world.start + 90 * DAY, policy }).score(wallet).confidenceMicros;
    });
    expect(confidence).toEqual(confidence.toSorted((a, b) => a - b));
    expect(new Set(confidence).size).toBe(3);
  });
});
