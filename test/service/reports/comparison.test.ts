import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { FeatureLine, Pattern } from "../../../service/model/score/record.ts";
import { createComparison } from "../../../service/reports/comparison.ts";
import type { WalletSnapshot } from "../../../service/scores/stored-score.ts";
import type { WalletDetails } from "../../../service/scores/wallet-details.ts";
import { BACKING, LISTING, walletSnapshot } from "../api/fake-ports.ts";

function wallet(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function line(name: string, score: number | null, changes: Partial<FeatureLine> = {}): FeatureLine {
  return {
    ...{ dimension: "D2", name, value: 0.5, unit: "share", samples: 10, state: "measured", score },
    ...{ weight: 0.2, contribution: 0, reason: null },
    ...changes,
  };
}

const RING: Pattern = {
  name: "self_dealing_ring",
  severity: "warning",
  effect: -12.5,
  evidence: "A ring of 3",
};

type World = Readonly<
  Record<Address, { readonly snapshot?: Partial<WalletSnapshot>; readonly details?: Partial<WalletDetails> }>
>;

/** Compares all wallets of a world, in its order. */
async function compare(world: World) {
  const wallets = Object.keys(world) as Address[];
  const details: WalletDetails = {
    ...{ score: null, trend: { points: 0, change: null }, calls: 0, lastCallAt: null },
  };
  return createComparison({
    snapshot: async (address) => walletSnapshot(world[address]?.snapshot),
    backing: async (address) => (address === wallets[0] ? BACKING : null),
    details: async ({ address }) => ({ ...details, ...world[address]?.details }),
    agentNames: async () =>
      new Map([[wallets[0] ?? "0x", [{ agentId: 7n, registry: null, name: "keeper" }]]]),
    policy: AHS_2026_2,
  })(wallets);
}

function scored(features: readonly FeatureLine[], patterns: readonly Pattern[] = []) {
  return { details: { score: { d1Score: 88, d2Score: 82, features, patterns } } } as const;
}

describe("a comparison", () => {
  it("says of each wallet how to pay it and why it has its grade, or none", async () => {
    const { score } = walletSnapshot();
    const unscored = { ahsScore: null, grade: null, confidenceLevel: "INSUFFICIENT" } as const;
    const { wallets, differences } = await compare({
      [wallet(1)]: { ...scored([line("consistency", 95)]), snapshot: {} },
      [wallet(2)]: { snapshot: { score: score === null ? null : { ...score, ...unscored } } },
      [wallet(3)]: { snapshot: { score: null } },
      [wallet(4)]: { snapshot: { score: null, followed: false } },
      [wallet(5)]: {
        snapshot: { score: null, followed: false, sanctions: [LISTING] },
        details: { calls: 3 },
      },
    });
    expect(differences).toEqual([]);
    expect(
      wallets.map(({ decision, reason, calls, backing, agents }) => ({
        ...decision,
        says: reason,
        ...{ calls, safe: backing?.safeMicroUsd ?? null, agents: agents.length },
      })),
    ).toEqual([
      {
        ...{ action: "instant_settle", reason: "grade", calls: 0, safe: 42_500_000n, agents: 1 },
        says: "Grade B: largest loss: active in 1 week (consistency, −4 points).",
      },
      {
        ...{ action: "escrow", reason: "insufficient_history", calls: 0, safe: null, agents: 0 },
        says: "No grade: too little history, or none that is recent; this is no sign of risk.",
      },
      {
        ...{ action: "escrow", reason: "not_scored", calls: 0, safe: null, agents: 0 },
        says: "Not scored: the index follows the wallet, and its first score is not computed yet; this is no sign of risk.",
      },
      {
        ...{ action: "escrow", reason: "not_scored", calls: null, safe: null, agents: 0 },
        says: "Not scored: the index does not follow the wallet; this is no sign of risk.",
      },
      {
        ...{ action: "reject", reason: "sanctioned", calls: 3, safe: null, agents: 0 },
        says: "Grade F: the wallet is on a sanctions list, which alone makes the score 0.",
      },
    ]);
  });

  it("names the features and patterns in whose cost the wallets differ most, five at most", async () => {
    const names = ["timing_regularity", "adaptation", "failure_recovery", "consistency", "success_rate"];
    const rates = [90, 80, 70, 60, 99];
    const [first, second] = [wallet(1), wallet(2)];
    const { differences } = await compare({
      [first]: scored(names.map((name) => line(name, 100))),
      [second]: scored(
        names.map((name, place) => line(name, rates[place] ?? 0)),
        [RING],
      ),
    });
    expect(differences.map(({ name, points }) => [name, points])).toEqual([
      ["self_dealing_ring", 12.5],
      ["consistency", 5.6],
      ["failure_recovery", 4.2],
      ["adaptation", 2.8],
    ]);
    expect(differences[0]).toEqual({
      ...{ dimension: "AHS", name: "self_dealing_ring", title: "Self-dealing ring", points: 12.5 },
      wallets: [
        { address: first, lost: 0, says: "Not found" },
        { address: second, lost: 12.5, says: "A ring of 3" },
      ],
    });
    const lines = (score: number) =>
      AHS_2026_2.features.map(({ name, dimension }) => line(name, score, { dimension }));
    const all = await compare({ [first]: scored(lines(100), [RING]), [second]: scored(lines(0)) });
    expect(all.differences).toHaveLength(5);
  });

  it("counts no feature of a wallet that has no grade, is listed, or was not measured, and shows its sentence", async () => {
    const { score } = walletSnapshot();
    const unscored = { ahsScore: null, grade: null } as const;
    const lines = [line("consistency", 0, { value: 1 }), line("adaptation", 100)];
    const unknown = line("consistency", null, { state: "unknown", value: null, reason: "too new" });
    const { differences } = await compare({
      [wallet(1)]: scored([line("consistency", 100, { value: 20 }), line("adaptation", 100)]),
      [wallet(2)]: scored([line("consistency", 50, { value: 9 }), line("adaptation", 100)]),
      [wallet(3)]: {
        ...scored(lines),
        snapshot: { score: score === null ? null : { ...score, ...unscored } },
      },
      [wallet(4)]: { ...scored(lines), snapshot: { sanctions: [LISTING] } },
      [wallet(5)]: scored([unknown, line("adaptation", 100)]),
      [wallet(6)]: { snapshot: { score: null } },
    });
    expect(differences).toEqual([
      {
        ...{ dimension: "D2", name: "consistency", title: "Consistency", points: 17.5 },
        wallets: [
          { address: wallet(1), lost: 0, says: "Active in 20 weeks" },
          { address: wallet(2), lost: 17.5, says: "Active in 9 weeks" },
          { address: wallet(3), lost: null, says: "Active in 1 week" },
          { address: wallet(4), lost: null, says: "Active in 1 week" },
          { address: wallet(5), lost: null, says: "Not known: too new" },
          { address: wallet(6), lost: null, says: null },
        ],
      },
    ]);
  });
});
