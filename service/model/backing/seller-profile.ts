import type { Address } from "viem";
import { logTwo, MICRO, powerOfTwo, roundMicro } from "../score/fixed-point.ts";

/** Sum that one account paid a seller in one UTC week, in millionths of a US dollar. */
export type Receipt = { readonly payer: Address; readonly week: number; readonly microUsd: bigint };

/** Ended ERC-8183 jobs of a provider that are alike. */
export type EndedJobs = {
  /** Null where it is not known. */
  readonly client: Address | null;
  /** Whether the client put money into them. */
  readonly isFunded: boolean;
  readonly outcome: "completed" | "rejected" | "expired";
  /** Who completed or rejected them; null for expired ones. */
  readonly endedBy: Address | null;
  /** Our verdict that settled them; null without one. */
  readonly verdict: "allow" | "reject" | null;
  readonly count: number;
};

/** An entry of a reputation registry by a client that paid the wallet before it. */
export type PaidFeedback = {
  readonly client: Address;
  readonly block: number;
  /** Place among the client's entries for the agent. */
  readonly feedbackIndex: bigint;
  /** The value times 10 to the power of 18. */
  readonly value: bigint;
  readonly tag: string;
};

/** Everything that a seller profile follows from, over one window of time. */
export type SellerHistory = {
  readonly wallet: Address;
  /** In any order, those of its own owner included. */
  readonly receipts: Iterable<Receipt>;
  /** Sums that the wallet itself paid each account, in millionths of a US dollar. */
  readonly paidTo: ReadonlyMap<Address, bigint>;
  readonly jobs: Iterable<EndedJobs>;
  /** In any order; null where no reputation registry is read. */
  readonly feedback: readonly PaidFeedback[] | null;
  /** A name for the owner cluster of an account, see `Spending`. */
  readonly clusterOf: (account: Address) => string;
  /** In millionths of a US dollar; 0 where none is known. */
  readonly costBasisOf: (account: Address) => bigint;
};

/** How a wallet earns; accounts of one owner cluster are one payer or client, and shares are parts of one. */
export type SellerProfile = {
  /** Payers outside its own cluster. */
  readonly payers: number;
  /** The same, each counted by its cost basis: as one from 1 US dollar on, below as that part of a dollar. */
  readonly weightedPayers: number;
  /** Payers in two different UTC weeks or more. */
  readonly returningPayers: number;
  /** UTC weeks with revenue. */
  readonly weeks: number;
  /** Effective number of those weeks: 2 to the entropy of the square roots of their revenue. */
  readonly activeWeeks: number;
  /** Payments by those payers, in millionths of a US dollar. */
  readonly revenueMicroUsd: bigint;
  /** Share of the revenue that it paid back to who paid it; of one payer at most what that paid. */
  readonly refundedShare: number;
  /** Share of all payments to it that its own cluster made. */
  readonly ownClusterShare: number;
  /** Jobs that it submitted for, of clients outside its cluster who funded them. */
  readonly jobs: { readonly completed: number; readonly rejected: number; readonly expired: number };
  /** Our verdicts on those jobs. */
  readonly verdicts: { readonly allow: number; readonly reject: number };
  /** ERC-8004 feedback by those payers; null where no reputation registry is read. */
  readonly feedback: FeedbackSummary | null;
};

type FeedbackSummary = {
  /** Payers who left any. */
  readonly payers: number;
  /** The tags with most payers, at most five; a payer counts with its newest entry of a tag. */
  readonly tags: readonly { readonly tag: string; readonly payers: number; readonly median: number }[];
};

/**
 * Describes a wallet by what it was paid; null where it received nothing and no job of others ended.
 *
 * Others add to it only by paying: payers without a cost basis have no weight, and jobs of its own cluster or without money do
 * not count. They take nothing away: no payment to the wallet lowers a number, only shares and `activeWeeks`, which is one of
 * shares. A rejection counts if neither the client's cluster nor the wallet's own made it, so that no client makes one for free.
 */
export function sellerProfile(history: SellerHistory): SellerProfile | null {
  const { own, payers } = sumReceipts(history);
  const { jobs, verdicts } = countJobs(history);
  const total = [...payers.values()].reduce((sum, payer) => sum + payer.paid, 0n);
  const ended = jobs.completed + jobs.rejected + jobs.expired;
  if (total + own === 0n && ended === 0) return null;
  const all = [...payers.values()];
  const byWeek = sumWeeks(all);
  return {
    payers: all.length,
    weightedPayers: roundMicro(all.reduce((sum, payer) => sum + weightOf(payer, history), 0)),
    returningPayers: all.filter(({ weeks }) => weeks.size > 1).length,
    weeks: byWeek.length,
    activeWeeks: roundMicro(effectiveNumber(byWeek)),
    revenueMicroUsd: total,
    refundedShare: partOf(refundsOf(payers, history), total),
    ownClusterShare: partOf(own, own + total),
    jobs,
    verdicts,
    feedback: summariseFeedback(payers, history),
  };
}

/** Least payers, and least weeks with revenue, that describe a seller: from two on each, a repeated sale differs from one event. */
const LEAST = 2;

/** Whether a profile says enough to describe a wallet without a score: revenue of two payers or more, in two weeks or more. */
export function describesSeller(profile: SellerProfile | null): boolean {
  return profile !== null && profile.payers >= LEAST && profile.weeks >= LEAST;
}

/** The accounts of one owner cluster that paid the wallet. */
type Payer = { paid: bigint; readonly accounts: Set<Address>; readonly weeks: Map<number, bigint> };

function sumReceipts({ wallet, receipts, clusterOf }: SellerHistory) {
  const payers = new Map<string, Payer>();
  const home = clusterOf(wallet);
  let own = 0n;
  for (const { payer, week, microUsd } of receipts) {
    if (microUsd <= 0n) continue;
    const cluster = clusterOf(payer);
    if (cluster === home) {
      own += microUsd;
      continue;
    }
    const known = payers.get(cluster) ?? { paid: 0n, accounts: new Set(), weeks: new Map() };
    payers.set(cluster, known);
    known.paid += microUsd;
    known.accounts.add(payer);
    known.weeks.set(week, (known.weeks.get(week) ?? 0n) + microUsd);
  }
  return { own, payers };
}

function weightOf({ accounts }: Payer, { costBasisOf }: SellerHistory): number {
  let basis = 0n;
  for (const account of accounts) basis += costBasisOf(account);
  const whole = BigInt(MICRO);
  return Number(basis < whole ? basis : whole) / MICRO;
}

/** Payments by the wallet to clusters that paid it, of each at most the sum that it paid. */
function refundsOf(
  payers: ReadonlyMap<string, Payer>,
  { paidTo, clusterOf }: Pick<SellerHistory, "paidTo" | "clusterOf">,
): bigint {
  const returned = new Map<string, bigint>();
  for (const [payee, microUsd] of paidTo) {
    const cluster = clusterOf(payee);
    if (payers.has(cluster)) returned.set(cluster, (returned.get(cluster) ?? 0n) + microUsd);
  }
  let refunds = 0n;
  for (const [cluster, microUsd] of returned) {
    const paid = payers.get(cluster)?.paid ?? 0n;
    refunds += microUsd < paid ? microUsd : paid;
  }
  return refunds;
}

function sumWeeks(payers: readonly Payer[]): readonly bigint[] {
  const sums = new Map<number, bigint>();
  for (const { weeks } of payers) {
    for (const [week, microUsd] of weeks) sums.set(week, (sums.get(week) ?? 0n) + microUsd);
  }
  return [...sums.values()];
}

function effectiveNumber(amounts: readonly bigint[]): number {
  const roots = amounts.map((amount) => Math.max(1, Math.round(Math.sqrt(Number(amount)))));
  const total = roots.reduce((sum, root) => sum + root, 0);
  if (total === 0) return 0;
  const surprise = roots.reduce((sum, root) => sum + root * logTwo(root), 0);
  return powerOfTwo(Math.max(0, logTwo(total) - surprise / total));
}

function countJobs({ wallet, jobs, clusterOf }: SellerHistory): Pick<SellerProfile, "jobs" | "verdicts"> {
  const ends = { completed: 0, rejected: 0, expired: 0 };
  const verdicts = { allow: 0, reject: 0 };
  const home = clusterOf(wallet);
  for (const { client, isFunded, outcome, endedBy, verdict, count } of jobs) {
    if (client === null || !isFunded || clusterOf(client) === home) continue;
    if (outcome === "rejected" && !isOutsider(endedBy, [home, clusterOf(client)], clusterOf)) continue;
    ends[outcome] += count;
    if (verdict !== null) verdicts[verdict] += count;
  }
  return { jobs: ends, verdicts };
}

function isOutsider(
  account: Address | null,
  parties: readonly string[],
  clusterOf: SellerHistory["clusterOf"],
): boolean {
  return account !== null && !parties.includes(clusterOf(account));
}

/** Tags that a profile names. */
const MOST_TAGS = 5;
const VALUE_UNIT = 1e18;

/** Accounts of one owner are one payer, and those of the wallet's own owner none. */
function summariseFeedback(
  payers: ReadonlyMap<string, Payer>,
  { feedback, clusterOf }: Pick<SellerHistory, "feedback" | "clusterOf">,
): FeedbackSummary | null {
  if (feedback === null) return null;
  const counted = feedback.filter(({ client }) => payers.has(clusterOf(client)));
  const tags = [...Map.groupBy(counted, ({ tag }) => tag)].map(([tag, entries]) => {
    const newest = new Map<string, PaidFeedback>();
    for (const entry of entries.toSorted(byAge)) newest.set(clusterOf(entry.client), entry);
    const values = [...newest.values()].map(({ value }) => value);
    return { tag, payers: values.length, median: roundMicro(Number(medianOf(values)) / VALUE_UNIT) };
  });
  return {
    payers: new Set(counted.map(({ client }) => clusterOf(client))).size,
    tags: tags.toSorted((a, b) => b.payers - a.payers || (a.tag < b.tag ? -1 : 1)).slice(0, MOST_TAGS),
  };
}

function byAge(a: PaidFeedback, b: PaidFeedback): number {
  return a.block - b.block || (a.feedbackIndex < b.feedbackIndex ? -1 : 1);
}

/** Of an even number the mean of the middle two. */
function medianOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0n) / BigInt(middle.length);
}

/** A part of one, to a millionth; 0 of nothing. */
function partOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * BigInt(MICRO)) / whole) / MICRO;
}
