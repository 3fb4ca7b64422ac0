import type { Address } from "viem";
import type { FeedbackLabel } from "../db/tables/publish.ts";

/** An agent whose feedback on chain is not what it ought to be. */
export type FeedbackCandidate = {
  readonly agentId: bigint;
  /** The label by the score of its wallet now; null without a wallet, a score, or enough history. */
  readonly wanted: { readonly wallet: Address; readonly label: FeedbackLabel } | null;
  /** Our entry in the registry; null without one, or if it is taken back. */
  readonly entry: { readonly index: number; readonly wallet: Address; readonly label: FeedbackLabel } | null;
  /** The label of the same wallet that was taken back to be replaced; null where nothing was. */
  readonly revoked: FeedbackLabel | null;
  /** Feedback left today, for the agent and for all agents of its wallet. */
  readonly givenToday: { readonly agent: number; readonly wallet: number };
  /** Feedback left for the agent in the last 30 days. */
  readonly givenLately: number;
};

export type FeedbackPolicy = {
  /** Wei that calls to the reputation registry may cost in a UTC day. */
  readonly dailyWei: bigint;
  /** Expected gas of a call, its margin included. */
  readonly expectedGas: { readonly give: bigint; readonly revoke: bigint };
  /** Feedback of a day for one agent, for all agents of one wallet, and first feedback for those of one owner: each costs little to have. */
  readonly mostPerDay: { readonly agent: number; readonly wallet: number; readonly owner: number };
  /** Calls that wait for a block at once. */
  readonly mostUnderWay: number;
};

export const FEEDBACK_LIMITS: Omit<FeedbackPolicy, "dailyWei"> = {
  // The registry of ERC-8004 2.0.0 behind its proxy takes 214,056 and 36,232; the sender's margin is a quarter.
  expectedGas: { give: 270_000n, revoke: 50_000n },
  mostPerDay: { agent: 3, wallet: 10, owner: 2 },
  // Publications of the same key wait no longer than these.
  mostUnderWay: 4,
};

export type Spent = {
  /** Cost of today's calls, those under way at their limit. */
  readonly spentWei: bigint;
  readonly weiPerGas: bigint;
  readonly underWay: number;
  /** Calls under way that take back what is replaced next. */
  readonly replacing: number;
};

/**
 * Parts of the day's money, in per cent, up to which feedback may fill it that corrects nothing: of agents without any in the last 30 days,
 * and of the others, which change wallets and grades for little. The rest is reserved for what is no longer true.
 */
export const FEEDBACK_PERCENT = { first: 90n, again: 10n } as const;

/**
 * Chooses the calls to send now, the gravest change first, then the agent with the least feedback lately, while they fit into the day's
 * money and the room for open calls. A replacement starts only if both of its calls fit. Its second call may take a quarter more, in case
 * fees rose in between. An agent that changed its wallet is given first feedback, when its turn comes: changing wallets costs it little.
 */
export function planFeedback<Candidate extends FeedbackCandidate>(
  candidates: readonly Candidate[],
  { spentWei, weiPerGas, underWay, replacing }: Spent,
  policy: FeedbackPolicy,
): {
  readonly acts: readonly { readonly kind: "give" | "revoke"; readonly candidate: Candidate }[];
  /** Calls that wait for money or room. */
  readonly held: number;
} {
  const giveWei = policy.expectedGas.give * weiPerGas;
  const revokeWei = policy.expectedGas.revoke * weiPerGas;
  const given = new Map<string, number>();
  const acts: { kind: "give" | "revoke"; candidate: Candidate }[] = [];
  let committed = spentWei + BigInt(replacing) * giveWei;
  let held = 0;
  for (const candidate of candidates.toSorted(byUrgency)) {
    const { wanted, entry } = candidate;
    const isMoved = wanted !== null && entry !== null && entry.wallet !== wanted.wallet;
    const givesNow =
      wanted !== null && !isMoved && isWithinDay(candidate, given.get(wanted.wallet) ?? 0, policy);
    if (entry === null && !givesNow) continue;
    const cost = (entry === null ? 0n : revokeWei) + (givesNow ? giveWei : 0n);
    const limit = limitOf(candidate, policy);
    if (underWay + acts.length >= policy.mostUnderWay || committed + cost > limit) {
      held += 1;
      continue;
    }
    committed += cost;
    if (givesNow) given.set(wanted.wallet, (given.get(wanted.wallet) ?? 0) + 1);
    acts.push({ kind: entry === null ? "give" : "revoke", candidate });
  }
  return { acts, held };
}

function isWithinDay(
  { givenToday }: FeedbackCandidate,
  givenNow: number,
  { mostPerDay }: FeedbackPolicy,
): boolean {
  return givenToday.agent < mostPerDay.agent && givenToday.wallet + givenNow < mostPerDay.wallet;
}

function limitOf(candidate: FeedbackCandidate, { dailyWei }: FeedbackPolicy): bigint {
  if (isSecondCall(candidate)) return (dailyWei * 5n) / 4n;
  if (urgencyOf(candidate) < FIRST_FEEDBACK) return dailyWei;
  return (dailyWei * FEEDBACK_PERCENT[candidate.givenLately === 0 ? "first" : "again"]) / 100n;
}

function isSecondCall({ entry, wanted, revoked }: FeedbackCandidate): boolean {
  return entry === null && wanted !== null && revoked !== null;
}

/** Labels from the best on. */
const SEVERITY: Readonly<Record<FeedbackLabel, number>> = {
  A: 0,
  B: 1,
  C: 2,
  D: 3,
  E: 4,
  F: 5,
  sanctioned: 6,
};

function byUrgency(a: FeedbackCandidate, b: FeedbackCandidate): number {
  return urgencyOf(a) - urgencyOf(b) || a.givenLately - b.givenLately || (a.agentId < b.agentId ? -1 : 1);
}

/** Urgency of first feedback that is grave; what is less urgent is first feedback or got better. */
const FIRST_FEEDBACK = 4;

/** The lower, the sooner: halves of replacements, sanctions, falls to D to F, what is no longer true, first feedback of D to F, other falls. */
function urgencyOf(candidate: FeedbackCandidate): number {
  const { wanted, entry } = candidate;
  if (isSecondCall(candidate)) return 0;
  if (wanted === null) return 3;
  if (wanted.label === "sanctioned") return 1;
  const isGrave = SEVERITY[wanted.label] >= SEVERITY.D;
  if (entry === null) return isGrave ? FIRST_FEEDBACK : 6;
  if (entry.wallet !== wanted.wallet) return 3;
  if (SEVERITY[wanted.label] < SEVERITY[entry.label]) return 6;
  return isGrave ? 2 : 5;
}
