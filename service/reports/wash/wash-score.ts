import { portfolioQuality } from "../../model/features/hygiene.ts";
import { isSelfDealing, ownShare } from "../../model/features/patterns.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { Grade } from "../../model/score/record.ts";
import type { ApprovalFinding, ApprovalRisk } from "../diagnosis/approvals.ts";
import { HOLDINGS_WORDS } from "../diagnosis/health.ts";
import { untrustedDelegate } from "../diagnosis/health-advice.ts";
import type { ReportFacts } from "../diagnosis/report-facts.ts";
import { countText, ofText, percentText } from "../phrases.ts";
import type { Circle } from "./wash-circles.ts";

/** Points deducted from 100 for one category, up to `maxPoints`; null where they are not known. */
type Deduction = {
  readonly name: DeductionName;
  readonly points: number | null;
  readonly maxPoints: number;
  /** Findings, or the share of 0 to 1 for portfolio_quality and self_dealing; null where they are not known. */
  readonly found: number | null;
  readonly reason: string;
};

/** Largest deduction per category: 100 together, so that no sum must be cut. */
const MOST = {
  // Leftovers of trading are untidy, not dangerous.
  dust: 10,
  unrecognised_tokens: 15,
  portfolio_quality: 15,
  // An open door can cost everything.
  approvals: 30,
  delegation: 10,
  self_dealing: 10,
  circular_transfers: 10,
};
export type DeductionName = keyof typeof MOST;
const PER_DUST_TOKEN = 2;
const PER_UNRECOGNISED_TOKEN = 3;
const PER_CIRCLE = 2;
/** By its gravest risk. */
const PER_APPROVAL: Readonly<Record<ApprovalRisk, number>> = {
  flagged: 20,
  no_code: 15,
  young: 10,
  unknown: 10,
  unused: 3,
};

/** Fewer own token movements and approvals than this show nothing. */
export const LEAST_ACTIVITY = 5;

/** Why a wallet has no score: a clean portfolio is no praise for a wallet that others reject. */
export type NoScoreReason = "sanctioned" | "failing" | "not_scored" | "little_activity" | "not_read";

/** Scores the cleanliness of a wallet, with reasons. Transfers by others do not count. */
export function scoreCleanliness(
  facts: ReportFacts,
  {
    approvals,
    circles,
    rating,
  }: {
    /** Null where approvals were not read. */
    readonly approvals: readonly ApprovalFinding[] | null;
    readonly circles: readonly Circle[];
    readonly rating: WalletRating;
  },
) {
  const deductions = [
    ...deductHoldings(facts),
    deductApprovals(approvals),
    deductDelegation(facts),
    deductSelfDealing(facts),
    deductCircles(circles),
  ];
  const taken = deductions.reduce((sum, { points }) => (points === null ? sum : sum + points), 0);
  const open = deductions.reduce(
    (sum, { points, maxPoints }) => (points === null ? sum + maxPoints : sum),
    0,
  );
  const given = facts.rows.approvals;
  const activity = given === null ? null : tokenActivity(facts) + given.length;
  const barred = noScore(rating, activity);
  const reason = barred ?? (open > 0 ? ("not_read" as const) : null);
  return {
    /** 100 minus all deductions; null with a reason. */
    score: reason === null ? 100 - taken : null,
    reason,
    /** Bounds of the score with unknown deductions; null for a wallet that gets no score whatever they are. */
    range: barred === null ? { lowest: 100 - taken - open, highest: 100 - taken } : null,
    /** Own calls that moved a token or gave an approval, and open approvals; null if the approvals were not read. */
    activity,
    deductions,
  };
}

/** Facts that bar a score. */
export type WalletRating = {
  readonly sanctioned: boolean;
  /** Grade of the current score; null for a wallet without one. */
  readonly grade: Grade | null;
};

/** Grades that the default routing rejects. */
const REJECTED: ReadonlySet<Grade> = new Set(["D", "E", "F"]);

function noScore({ sanctioned, grade }: WalletRating, activity: number | null): NoScoreReason | null {
  if (sanctioned) return "sanctioned";
  if (grade === null) return "not_scored";
  if (REJECTED.has(grade)) return "failing";
  return activity !== null && activity < LEAST_ACTIVITY ? "little_activity" : null;
}

function tokenActivity({ history }: ReportFacts): number {
  return history.calls.filter(
    ({ ok, receipt }) =>
      ok && receipt !== null && (receipt.moves.length > 0 || receipt.effect === "approval"),
  ).length;
}

function deductHoldings(facts: ReportFacts): readonly Deduction[] {
  const { holdings, policy } = facts;
  const names = ["dust", "unrecognised_tokens", "portfolio_quality"] as const;
  switch (holdings.kind) {
    case "unread":
      return names.map((name) => open(name, HOLDINGS_WORDS.unread));
    case "none":
      return names.map((name) => take(name, { points: 0, found: 0 }, HOLDINGS_WORDS.none));
    case "held": {
      const { dustBelowMicroUsd } = policy.holdings;
      const unrecognised = holdings.tokens.filter(({ recognised }) => !recognised).length;
      const dust = holdings.tokens.filter(
        ({ recognised, worth }) => recognised && worth !== null && worth < dustBelowMicroUsd,
      ).length;
      return [
        take(
          "dust",
          { points: PER_DUST_TOKEN * dust, found: dust },
          `${countText(dust, "acquired token is", "acquired tokens are")} worth less than 0.01 USD; ${PER_DUST_TOKEN} points each.`,
        ),
        take(
          "unrecognised_tokens",
          { points: PER_UNRECOGNISED_TOKEN * unrecognised, found: unrecognised },
          `${countText(unrecognised, "acquired token is", "acquired tokens are")} neither listed nor used by others; ${PER_UNRECOGNISED_TOKEN} points each.`,
        ),
        deductQuality(facts),
      ];
    }
  }
}

function deductQuality(facts: ReportFacts): Deduction {
  const { value } = portfolioQuality(facts);
  if (value === null) return open("portfolio_quality", "No acquired token has a known price.");
  const points = Math.round(MOST.portfolio_quality * (1 - value));
  return take(
    "portfolio_quality",
    { points, found: roundMicro(value) },
    `${percentText(value)} of the value of acquired tokens is in recognised tokens.`,
  );
}

function deductApprovals(approvals: readonly ApprovalFinding[] | null): Deduction {
  if (approvals === null) return open("approvals", "The approvals of the wallet were not read yet.");
  const gravest = approvals.flatMap(({ risks: [risk] }) => (risk === undefined ? [] : [risk]));
  const points = gravest.reduce((sum, risk) => sum + PER_APPROVAL[risk], 0);
  const found = gravest.length;
  return take(
    "approvals",
    { points, found },
    `${ofText(found, approvals.length, "open unlimited approval")} at risk.`,
  );
}

function deductDelegation(facts: ReportFacts): Deduction {
  const { delegation } = facts.rows;
  if (delegation === null)
    return open("delegation", "Whether the wallet has an EIP-7702 delegation was not read yet.");
  if (delegation.to === null) return take("delegation", { points: 0, found: 0 }, "No EIP-7702 delegation.");
  return untrustedDelegate(facts) === null
    ? take("delegation", { points: 0, found: 0 }, "The EIP-7702 delegation is to established code.")
    : take(
        "delegation",
        { points: MOST.delegation, found: 1 },
        "The EIP-7702 delegation is to code that is less than 30 days old or that few others use.",
      );
}

function deductSelfDealing({ history, policy }: ReportFacts): Deduction {
  const share = ownShare(history);
  const points = isSelfDealing(history, policy) ? MOST.self_dealing : 0;
  return take(
    "self_dealing",
    { points, found: roundMicro(share) },
    `${percentText(share)} of the value of outgoing transactions stays with accounts of the same owner.`,
  );
}

function deductCircles(circles: readonly Circle[]): Deduction {
  const own = circles.filter((circle) => circle.own).reduce((sum, { times }) => sum + times, 0);
  return take(
    "circular_transfers",
    { points: PER_CIRCLE * own, found: own },
    `${countText(own, "transfer")} to accounts of the same owner came back within 7 days; ${PER_CIRCLE} points each.`,
  );
}

function take(
  name: DeductionName,
  { points, found }: { readonly points: number; readonly found: number },
  reason: string,
): Deduction {
  return { name, points: Math.min(points, MOST[name]), maxPoints: MOST[name], found, reason };
}

function open(name: DeductionName, reason: string): Deduction {
  return { name, points: null, maxPoints: MOST[name], found: null, reason };
}
