import fc from "fast-check";
import { type Address, getAddress, getContractAddress } from "viem";
import { describe, expect, test } from "vitest";
import { contractAddresses } from "../../../devnet/contract-list.ts";
import { type Population, planPopulation } from "../../../devnet/population/plan.ts";
import type { PlannedCall } from "../../../devnet/population/plan-types.ts";
import { resolveBlocks } from "../../../devnet/population/resolve.ts";
import { DAY } from "../../../devnet/population/rhythm.ts";
import type { Member } from "../../../devnet/population/roster.ts";

const END = 1_795_000_000;
/** approve(address,uint256) */
const APPROVE = "0x095ea7b3";
/** transfer(address,uint256) */
const TRANSFER = "0xa9059cbb";
const HEALTHY: readonly string[] = [
  "keeper",
  "diverse-trader",
  "payment-agent",
  "escrow-worker",
  "oracle-feeder",
  "weekly-payroll",
  "spammed-victim",
];

describe("the plan of a population", () => {
  test("is the same transactions for the same seed and time, and others for another seed", async () => {
    const size = fc.record({
      seed: fc.string(),
      wallets: fc.integer({ min: 23, max: 27 }),
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
        const { blocks } = plan({ seed, wallets: 23, days: 5, maxBlocks });
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

  test("has 200 agents of 23 archetypes, at least as many background users and 25,000 to 45,000 transactions", () => {
    expect(new Set(standard.roster.map((member) => member.archetype.name)).size).toBe(23);
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
        return call.from === context.wallet.address && !context.peers.some((peer) => peer === payeeOf(call));
      });
      return registration === -1 || (first !== -1 && first < registration);
    });
    expect(unregistered.map((member) => member.context.label)).toEqual([]);
  });

  test("has agents that act through a wallet other than their owner's, two of them through the same", () => {
    const acting = standard.roster.filter((member) => member.owner !== member.context.wallet);
    expect(acting.length).toBeGreaterThanOrEqual(4);
    expect(acting.filter((member) => member.secondOwner !== null).length).toBeGreaterThanOrEqual(1);
  });

  test("lets background users call the very contracts that healthy agents call", () => {
    const users = new Set<string>(standard.world.users.map((user) => user.address));
    const calledByUsers = new Set(calls.filter((call) => users.has(call.from)).map((call) => call.to));
    const paid = new Set<string>([...standard.world.merchants, standard.world.contracts.identityRegistry]);
    const healthy = standard.roster.filter((member) => HEALTHY.includes(member.archetype.name));
    const called = healthy.flatMap((member) => callsOf(member, calls)).map((call) => call.to);
    expect(called.filter((to) => to === null || !(calledByUsers.has(to) || paid.has(to)))).toEqual([]);
  });

  test("has shops where users spend a third of their calls and no agent goes, opened by an exchange", () => {
    const shops = new Set<string>(standard.world.shops);
    const users = new Set<string>(standard.world.users.map((user) => user.address));
    const funders = new Set<string>(standard.world.exchanges.map((exchange) => exchange.address));
    const visits = calls.filter((call) => payeeOf(call) !== null && shops.has(String(payeeOf(call))));
    expect(new Set(visits.slice(0, shops.size).map((call) => call.from)).size).toBe(1);
    expect(visits.filter((call) => !users.has(call.from) && !funders.has(call.from))).toEqual([]);
    const spent = visits.filter((call) => users.has(call.from)).length;
    expect(spent / calls.filter((call) => users.has(call.from)).length).toBeGreaterThan(0.25);
  });

  test("funds every wallet of the ring but the first through the first", () => {
    const [leader, ...others] = membersOf(standard, "self-dealing-ring").map((m) => m.context.wallet.address);
    const firstFunders = others.map(
      (wallet) => calls.find((call) => call.to === wallet && call.value > 0n)?.from,
    );
    expect(firstFunders).toEqual(others.map(() => leader));
  });

  test("lets a fresh-contract ring create all contracts of its own before it calls them", () => {
    for (const member of membersOf(standard, "fresh-contract-ring")) {
      const own = callsOf(member, calls);
      const created = own.flatMap((call, nonce) =>
        call.to === null ? [getContractAddress({ from: call.from, nonce: BigInt(nonce) })] : [],
      );
      expect(created).toHaveLength(20);
      expect(own.findLastIndex((call) => call.to === null)).toBe(20);
      const inside = own.filter((call) => call.to !== null && created.includes(call.to));
      expect(inside.length / own.length).toBeGreaterThan(0.5);
    }
  });

  test("lets smart accounts, which their owners create first of all, act by operations of the bundler alone", () => {
    const { bundler, contracts } = standard.world;
    const members = membersOf(standard, "smart-account");
    for (const member of members) {
      const { context, owner } = member;
      expect(calls.find((call) => call.from === owner.address)?.to).toBe(null);
      expect(getContractAddress({ from: owner.address, nonce: 0n })).toBe(context.wallet.address);
      expect(callsOf(member, calls)).toEqual([]);
    }
    const bundles = calls.filter((call) => call.from === bundler.address);
    expect(bundles.length / members.length).toBeGreaterThan(120);
    expect(bundles.every((call) => call.to === contracts.entryPoint)).toBe(true);
  });

  test("lets x402 payers and sellers send nothing: a facilitator sends what payers sign", () => {
    const members = [...membersOf(standard, "x402-payer"), ...membersOf(standard, "x402-seller")];
    expect(members).toHaveLength(4);
    for (const member of members) {
      expect(callsOf(member, calls)).toEqual([]);
      expect(member.owner.address).not.toBe(member.context.wallet.address);
    }
    const { facilitator, usdc, x402Seller } = standard.world;
    expect(membersOf(standard, "x402-seller")[0]?.context.wallet.address).toBe(x402Seller);
    const sent = calls.filter((call) => call.from === facilitator.address);
    expect(sent.length).toBeGreaterThan(500);
    expect(sent.every((call) => call.to === usdc.address && call.outcome === "success")).toBe(true);
  });

  test("lets healthy agents approve limited amounts, and without limit only what is 40 days old", () => {
    const healthy = standard.roster.filter((member) => HEALTHY.includes(member.archetype.name));
    const own = healthy.flatMap((member) => callsOf(member, calls));
    const approvals = own.filter((call) => String(call.data).startsWith(APPROVE));
    const limitless = approvals.filter((call) => String(call.data).endsWith("f".repeat(64)));
    expect(approvals.length - limitless.length).toBeGreaterThan(50);
    expect(limitless.length).toBeGreaterThan(0);
    expect(limitless.every((call) => call.at > END - 50 * DAY)).toBe(true);
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
    ["flaky", (own: readonly PlannedCall[]) => failureShare(own) > 0.1 && failureShare(own) < 0.3],
    ["half-failing", (own: readonly PlannedCall[]) => failureShare(own) > 0.35 && failureShare(own) < 0.6],
    ["gas-war", (own: readonly PlannedCall[]) => median(own.map((call) => call.tipWei)) > 2_000_000_000n],
    ["stale-strategy", (own: readonly PlannedCall[]) => longestRepeatedFailure(own) > 30],
  ] as const)("gives every %s its behaviour", (name, behaves) => {
    const others = membersOf(standard, name).filter((member) => !behaves(callsOf(member, calls)));
    expect(others.map((member) => member.context.label)).toEqual([]);
  });

  test("lets dirty hygiene trust young contracts, buy what nothing prices and send coin to the mixer", () => {
    const { contracts, junkPools } = standard.world;
    for (const member of membersOf(standard, "dirty-hygiene")) {
      const own = callsOf(member, calls);
      const limitless = own.filter((call) => String(call.data).endsWith("f".repeat(64)));
      expect(limitless).toHaveLength(5);
      expect(own.some((call) => junkPools.some((pool) => pool.address === call.to))).toBe(true);
      expect(own.some((call) => call.to === contracts.mixer && call.value > 0n)).toBe(true);
    }
  });

  test("puts every sanctioned wallet on the list, and no other", () => {
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

/** Whom a call pays, in a token or in coin. */
function payeeOf({ data, to }: PlannedCall): Address | null {
  if (typeof data === "function" || !data.startsWith(TRANSFER)) return to;
  return getAddress(`0x${data.slice(34, 74)}`);
}

function median(values: readonly bigint[]): bigint {
  return values.toSorted((a, b) => Number(a - b))[Math.floor(values.length / 2)] ?? 0n;
}

/** Most failures in a row of the very same call. */
function longestRepeatedFailure(calls: readonly PlannedCall[]): number {
  const bySubject = Map.groupBy(calls, (call) => `${call.to} ${String(call.data).slice(0, 10)}`);
  return Math.max(...[...bySubject.values()].map(longestFailingRun));
}

function longestFailingRun(calls: readonly PlannedCall[]): number {
  let [run, longest] = [0, 0];
  for (const call of calls) {
    run = call.outcome === "success" ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  return longest;
}
