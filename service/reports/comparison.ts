import type { Address } from "viem";
import type { Policy } from "../model/score/policy-shape.ts";
import { defaultDecision, type RoutingDecision } from "../model/score/route.ts";
import type { RegisteredAgent } from "../registries/documents/registered-agent.ts";
import type { AvailableBacking } from "../scores/backing/available-backing.ts";
import type { WalletSnapshot } from "../scores/stored-score.ts";
import type { createDetailReader, WalletDetails } from "../scores/wallet-details.ts";
import { gradeReason, lossesOf, NOTABLE_POINTS, sentenceOf, titleOf } from "./explain-score.ts";

/** One wallet of a comparison, by stored data. */
export type ComparedWallet = Pick<WalletDetails, "score" | "trend" | "lastCallAt"> & {
  /** Lower-case. */
  readonly address: Address;
  /** The first agents that it acts for. */
  readonly agents: readonly RegisteredAgent[];
  readonly snapshot: WalletSnapshot;
  /** Null while it is unknown. */
  readonly backing: AvailableBacking | null;
  /** By the default policy, without an amount. */
  readonly decision: RoutingDecision;
  /** One sentence: why it has its grade, or no grade. */
  readonly reason: string;
  /** Own calls, at most `MOST_CALLS`; null for a wallet that is not followed and of which none is known. */
  readonly calls: number | null;
};

/** A feature or a pattern by which the scores of wallets differ. */
export type Difference = {
  /** AHS for a pattern. */
  readonly dimension: "D1" | "D2" | "AHS";
  readonly name: string;
  readonly title: string;
  /** Points of the score between the wallets that lose most and least by it, to a tenth. */
  readonly points: number;
  /** In the order of the comparison. */
  readonly wallets: readonly {
    readonly address: Address;
    /** Points of the score that it costs the wallet, to a tenth; null where it does not count. */
    readonly lost: number | null;
    /** The measurement in one sentence; null where nothing was measured. */
    readonly says: string | null;
  }[];
};

export type Comparison = {
  readonly wallets: readonly ComparedWallet[];
  /** The largest first, `MOST_DIFFERENCES` at most. */
  readonly differences: readonly Difference[];
};

/** Wallets that are compared at once. */
export const MOST_COMPARED = 10;
export const MOST_DIFFERENCES = 5;

/** Compares wallets (lower-case and distinct, `MOST_COMPARED` at most) by stored data: it scores nothing. */
export function createComparison({
  snapshot: readSnapshot,
  backing,
  details,
  agentNames,
  policy,
}: {
  readonly snapshot: (wallet: Address) => Promise<WalletSnapshot>;
  readonly backing: (wallet: Address) => Promise<AvailableBacking | null>;
  readonly details: ReturnType<typeof createDetailReader>;
  readonly agentNames: (
    wallets: readonly Address[],
  ) => Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>>;
  readonly policy: Policy;
}): (wallets: readonly Address[]) => Promise<Comparison> {
  return async (wallets) => {
    const names = await agentNames(wallets);
    const compared = await Promise.all(
      wallets.map(async (address) => {
        const [snapshot, backed] = await Promise.all([readSnapshot(address), backing(address)]);
        const { sanctions, score, followed } = snapshot;
        const own = await details({ address, scoreId: score?.scoreId ?? null });
        return {
          address,
          snapshot,
          backing: backed,
          ...own,
          agents: names.get(address) ?? [],
          decision: defaultDecision({ sanctioned: sanctions.length > 0, score }),
          reason: reasonOf({ snapshot, score: own.score }, policy),
          calls: own.calls === 0 && !followed ? null : own.calls,
        };
      }),
    );
    return { wallets: compared, differences: differencesOf(compared, policy) };
  };
}

function reasonOf(
  { snapshot: { sanctions, score, followed }, score: made }: Pick<ComparedWallet, "snapshot" | "score">,
  policy: Policy,
): string {
  const sanctioned = sanctions.length > 0;
  if (score === null && !sanctioned)
    return followed
      ? "Not scored: the index follows the wallet, and its first score is not computed yet; this is no sign of risk."
      : "Not scored: the index does not follow the wallet; this is no sign of risk.";
  const { features, patterns } = made ?? { features: [], patterns: [] };
  const { ahsScore, grade } = score ?? { ahsScore: null, grade: null };
  return gradeReason({ ahsScore, grade, sanctioned, features, patterns }, policy);
}

/**
 * The features and patterns in whose costs the wallets differ most. A wallet without a grade, or on a sanctions list, has sentences
 * alone: its features do not make its score.
 */
function differencesOf(wallets: readonly ComparedWallet[], policy: Policy): readonly Difference[] {
  const explained = wallets.map((wallet) => {
    const { snapshot, score } = wallet;
    const counts = snapshot.sanctions.length === 0 && snapshot.score?.ahsScore != null;
    return { address: wallet.address, score, lost: counts && score !== null ? costsOf(score, policy) : null };
  });
  const names = new Map(explained.flatMap(({ lost }) => [...(lost ?? [])]));
  return [...names]
    .map(([name, { dimension }]) => {
      const isPattern = dimension === "AHS";
      const entries = explained.map(({ address, score, lost }) => {
        const cost = lost?.get(name)?.points ?? (isPattern && lost !== null ? 0 : null);
        return { address, lost: cost === null ? null : tenth(cost), says: saidOf(name, score, isPattern) };
      });
      const points = entries.flatMap((entry) => (entry.lost === null ? [] : [entry.lost]));
      const spread = points.length < 2 ? 0 : tenth(Math.max(...points) - Math.min(...points));
      return { dimension, name, title: titleOf(name), points: spread, wallets: entries };
    })
    .filter(({ points }) => points >= NOTABLE_POINTS)
    .toSorted((a, b) => b.points - a.points)
    .slice(0, MOST_DIFFERENCES);
}

type Explained = NonNullable<ComparedWallet["score"]>;

/** Points that each measured feature and each pattern costs, by name. */
function costsOf(
  { features, patterns }: Explained,
  policy: Policy,
): ReadonlyMap<string, Pick<Difference, "dimension" | "points">> {
  return new Map<string, Pick<Difference, "dimension" | "points">>([
    ...lossesOf(features, policy).map(
      ({ line, dimension, points }) => [line.name, { dimension, points }] as const,
    ),
    ...patterns.map(({ name, effect }) => [name, { dimension: "AHS", points: -effect }] as const),
  ]);
}

function saidOf(name: string, score: Explained | null, isPattern: boolean): string | null {
  if (score === null) return null;
  if (isPattern) return score.patterns.find((pattern) => pattern.name === name)?.evidence ?? "Not found";
  const line = score.features.find((feature) => feature.name === name);
  return line === undefined ? null : sentenceOf(line);
}

function tenth(points: number): number {
  return Math.round(10 * points) / 10;
}
