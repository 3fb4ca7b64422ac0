import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contractAddresses } from "../../../devnet/contract-list.ts";
import { type Population, planPopulation } from "../../../devnet/population/plan.ts";
import type { PlannedCall } from "../../../devnet/population/plan-types.ts";
import { resolveBlocks } from "../../../devnet/population/resolve.ts";
import { DAY } from "../../../devnet/population/rhythm.ts";
import type { Member } from "../../../devnet/population/roster.ts";

const END = 1_795_000_000;

describe("the plan of a population", () => {
  test("is the same transactions for the same seed and time, and others for another seed", async () => {
    const size = fc.record({
      seed: fc.string(),
      wallets: fc.integer({ min: 14, max: 18 }),
      days: fc.integer({ min: 2, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(size, async (options) => {
        const first = await transactionsOf(options);
        expect(await transactionsOf(options)).toEqual(first);
        expect(await transactionsOf({ ...options, seed: `${options.seed}'` })).not.toEqual(first);
      }),
      { numRuns: 4 },
    );
  });

  test("keeps its blocks within the history, rising in time and under the limit, whatever the seed", () => {
    const size = fc.record({ seed: fc.string(), maxBlocks: fc.integer({ min: 150, max: 900 }) });
    fc.assert(
      fc.property(size, ({ seed, maxBlocks }) => {
        const { blocks } = plan({ seed, wallets: 14, days: 5, maxBlocks });
        const times = blocks.map((block) => block.time);
        expect(blocks.length).toBeLessThanOrEqual(maxBlocks);
        expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
        expect(blocks.every((block) => block.calls.every((call) => call.at <= block.time))).toBe(true);
        expect(times.at(0)).toBeGreaterThanOrEqual(END - 5 * DAY);
        expect(times.at(-1)).toBeLessThanOrEqual(END + 60);
      }),
      { numRuns: 6 },
    );
  });

  const standard = plan({ seed: "1", wallets: 200, days: 90 });
  const calls = standard.blocks.flatMap((block) => block.calls);

  test("has 200 agents of 14 archetypes, at least as many background users and 25,000 to 45,000 transactions", () => {
    expect(new Set(standard.roster.map((member) => member.archetype.name)).size).toBe(14);
    expect(standard.roster).toHaveLength(200);
    expect(standard.world.users.length).toBeGreaterThanOrEqual(200);
    expect(calls.length).toBeGreaterThan(25_000);
    expect(calls.length).toBeLessThan(45_000);
  });

  test("spreads blocks unevenly: gaps of seconds and gaps of hours", () => {
    const gaps = standard.blocks.slice(1).map((block, i) => block.time - (standard.blocks[i]?.time ?? 0));
    expect(Math.min(...gaps)).toBeLessThan(30);
    expect(Math.max(...gaps)).toBeGreaterThan(3 * 3_600);
  });

  test("registers every agent before its wallet makes any other call, but for the leader who funds its ring", () => {
    const registry = standard.world.contracts.identityRegistry;
    const unregistered = standard.roster.filter(({ owner, context }) => {
      const registration = calls.findIndex((call) => call.from === owner.address && call.to === registry);
      const first = calls.findIndex((call) => {
        return call.from === context.wallet.address && !context.peers.includes(call.to);
      });
      return registration === -1 || first < registration;
    });
    expect(unregistered.map((member) => member.context.label)).toEqual([]);
  });

  test("has agents that act through a wallet other than their owner's, two of them through the same", () => {
    const acting = standard.roster.filter((member) => member.owner !== member.context.wallet);
    expect(acting.length).toBeGreaterThanOrEqual(4);
    expect(acting.filter((member) => member.secondOwner !== null).length).toBeGreaterThanOrEqual(1);
  });

  test("lets background users call the very contracts that agents call", () => {
    const agents = new Set<string>(standard.roster.map((member) => member.context.wallet.address));
    const users = new Set<string>(standard.world.users.map((user) => user.address));
    const merchants = new Set<string>(standard.world.merchants);
    const calledBy = (who: ReadonlySet<string>): Set<string> =>
      new Set(calls.filter((call) => who.has(call.from) && !merchants.has(call.to)).map((call) => call.to));
    const registry = standard.world.contracts.identityRegistry;
    const { repairableTarget } = standard.world.contracts;
    const ring =
      standard.roster.find((member) => member.archetype.name === "self-dealing-ring")?.context.peers ?? [];
    const agentsAlone = [...calledBy(agents)].filter((to) => !calledBy(users).has(to));
    expect(
      agentsAlone.filter((to) => ![registry, repairableTarget, ...ring].some((known) => known === to)),
    ).toEqual([]);
  });

  test.each([
    [
      "newcomer",
      (own: readonly PlannedCall[]) => own.length < 10 && own.every((call) => call.at > END - 6 * DAY),
    ],
    ["dormant", (own: readonly PlannedCall[]) => own.every((call) => call.at < END - 70 * DAY)],
    [
      "always-failing",
      (own: readonly PlannedCall[]) => own.slice(1).every((call) => call.outcome !== "success"),
    ],
    ["retry-storm", (own: readonly PlannedCall[]) => longestFailingRun(own) >= 10],
    ["keeper", (own: readonly PlannedCall[]) => failureShare(own) < 0.04],
    ["recovering", (own: readonly PlannedCall[]) => failureShare(own) > 0.02],
  ] as const)("gives every %s its behaviour", (name, behaves) => {
    const others = membersOf(standard, name).filter((member) => !behaves(callsOf(member, calls)));
    expect(others.map((member) => member.context.label)).toEqual([]);
  });

  test("puts every sanctioned wallet on the list, and nobody else", () => {
    const list = standard.world.contracts.sanctionsList;
    const listings = calls.filter((call) => call.to === list);
    expect(listings).toHaveLength(membersOf(standard, "sanctioned").length);
  });

  test("fails on purpose in both ways", () => {
    const outcomes = calls.map((call) => call.outcome);
    expect(outcomes.filter((outcome) => outcome === "revert").length).toBeGreaterThan(500);
    expect(outcomes.filter((outcome) => outcome === "out-of-gas").length).toBeGreaterThan(200);
  });
});

type Size = { seed: string; wallets: number; days: number; maxBlocks?: number };

function plan({ seed, wallets, days, maxBlocks = 7_900 }: Size): Population {
  const history = { start: END - days * DAY, end: END };
  return planPopulation({ contracts: contractAddresses(), seed, wallets, history, maxBlocks });
}

function transactionsOf(size: Size) {
  return resolveBlocks(plan(size).blocks, { seed: size.seed, nonces: new Map() });
}

function membersOf(population: Population, name: string): readonly Member[] {
  return population.roster.filter((member) => member.archetype.name === name);
}

function callsOf(member: Member, calls: readonly PlannedCall[]): PlannedCall[] {
  return calls.filter((call) => call.from === member.context.wallet.address);
}

function failureShare(calls: readonly PlannedCall[]): number {
  return calls.filter((call) => call.outcome !== "success").length / calls.length;
}

function longestFailingRun(calls: readonly PlannedCall[]): number {
  let [run, longest] = [0, 0];
  for (const call of calls) {
    run = call.outcome === "success" ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}
