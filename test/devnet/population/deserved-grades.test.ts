import { describe, expect, test } from "vitest";
import { contractAddresses } from "../../../devnet/contract-list.ts";
import { planPopulation } from "../../../devnet/population/plan.ts";
import type { PlannedCall } from "../../../devnet/population/plan-types.ts";
import { DAY } from "../../../devnet/population/rhythm.ts";
import { scoreWallet } from "../../../service/features/score-wallet.ts";
import type { OwnCall, SanctionsFlag, WalletRows } from "../../../service/features/types.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import type { ScoreRecord } from "../../../service/score/record.ts";

const END = 1_795_000_000;
const AS_OF = { blockNumber: 8_000, blockHash: `0x${"0".repeat(64)}`, timestamp: END } as const;
const GAS_PRICE = 500_000_000n;

/** Grades that every wallet of an archetype must be in after 90 days; null stands for INSUFFICIENT. */
const EXPECTED: Readonly<Record<string, readonly (string | null)[]>> = {
  keeper: ["A", "B"],
  "diverse-trader": ["A", "B"],
  "payment-agent": ["A", "B"],
  "escrow-worker": ["A", "B"],
  "oracle-feeder": ["A", "B"],
  "weekly-payroll": ["A", "B"],
  "spammed-victim": ["A", "B"],
  newcomer: [null],
  dormant: [null],
  "always-failing": ["E", "F"],
  "retry-storm": ["C", "D", "E", "F"],
  sanctioned: ["F"],
};

describe.each(["1", "agent-health"])("the population of seed %s", (seed) => {
  const history = { start: END - 90 * DAY, end: END };
  const { roster, blocks } = planPopulation({
    contracts: contractAddresses(),
    seed,
    wallets: 200,
    history,
    maxBlocks: 7_900,
  });
  const grades = new Map<string, Set<string | null>>();
  for (const { archetype, context } of roster) {
    const calls = blocks.flatMap((block, i) =>
      block.calls.flatMap((call, j) =>
        call.from === context.wallet.address ? [toOwnCall(call, [i, block.time, j])] : [],
      ),
    );
    const rows = rowsOf(context.wallet.address, calls, archetype.name === "sanctioned");
    const record = scoreWallet({ rows, asOf: AS_OF, policy: AHS_2026_0 });
    grades.set(archetype.name, (grades.get(archetype.name) ?? new Set()).add(gradeOf(record)));
  }

  test.each(Object.entries(EXPECTED))("deserves as %s nothing but %j", (name, expected) => {
    const found = [...(grades.get(name) ?? [])];
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter((grade) => !expected.includes(grade))).toEqual([]);
  });
});

function gradeOf({ outcome }: ScoreRecord): string | null {
  return outcome.kind === "scored" ? outcome.grade : null;
}

/** What the chain would hold of it; a test on a real chain holds outcomes and gas to the plan. */
function toOwnCall(call: PlannedCall, [block, time, index]: readonly [number, number, number]): OwnCall {
  const limit = BigInt(call.gasLimit);
  const used = { success: (limit * 6n) / 10n, revert: (limit * 4n) / 10n, "out-of-gas": limit }[call.outcome];
  return {
    hash: `0x${(block * 1_000 + index).toString(16).padStart(64, "0")}`,
    blockNumber: block,
    transactionIndex: index,
    timestamp: time,
    to: call.to,
    selector: selectorOf(call),
    value: call.value,
    ok: call.outcome === "success",
    gasLimit: limit,
    gasUsed: used,
    fee: used * GAS_PRICE,
  };
}

/** Steps of a job differ by contract and gas alone here: their data is only known once the job has an id. */
function selectorOf(call: PlannedCall): OwnCall["selector"] {
  if (typeof call.data === "function") return `0x${(call.gasLimit % 2 ** 32).toString(16).padStart(8, "0")}`;
  return call.data === "0x" ? null : (call.data.slice(0, 10) as `0x${string}`);
}

function rowsOf(wallet: `0x${string}`, calls: readonly OwnCall[], sanctioned: boolean): WalletRows {
  const flag: SanctionsFlag = {
    source: "chainalysis-oracle",
    reference: `0x${"1".repeat(64)}`,
    detected_at: new Date(END * 1_000).toISOString(),
  };
  const coverage = {
    fromBlock: 0,
    fromTimestamp: END - 90 * DAY,
    toBlock: 8_000,
    complete: true,
    sources: ["plan"],
  };
  const chainStartTimestamp = END - 90 * DAY;
  return {
    chainId: 31_337,
    wallet,
    calls,
    sanctions: sanctioned ? [flag] : [],
    coverage,
    chainStartTimestamp,
  };
}
