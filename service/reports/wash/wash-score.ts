import { NO_HOLDINGS } from "../../model/features/holdings.ts";
import { isTrusted, portfolioQuality } from "../../model/features/hygiene.ts";
import { isSelfDealing, ownShare } from "../../model/features/patterns.ts";
import type { ApprovalFinding, ApprovalRisk } from "../diagnosis/approvals.ts";
import type { ReportFacts } from "../diagnosis/report-facts.ts";
import type { Circle } from "./wash-circles.ts";

/** Points deducted from 100 for one category, up to `most`; null where they are not known. */
type Deduction = {
  readonly name: DeductionName;
  readonly points: number | null;
  readonly most: number;
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
const GRADES = [
  [90, "Spotless"],
  [70, "Clean"],
  [50, "Needs Attention"],
  [30, "Dirty"],
  [0, "Critical"],
] as const;

/** Scores the cleanliness of a wallet, with reasons. Transfers by others do not count. */
export function scoreCleanliness(
  facts: ReportFacts,
  findings: {
    /** Null where approvals were not read. */
    readonly approvals: readonly ApprovalFinding[] | null;
    readonly circles: readonly Circle[];
  },
) {
  const deductions = [
    ...deductHoldings(facts),
    deductApprovals(findings.approvals),
    deductDelegation(facts),
    deductSelfDealing(facts),
    deductCircles(findings.circles),
  ];
  const taken = deductions.reduce((sum, { points }) => (points === null ? sum : sum + points), 0);
  const open = deductions.reduce((sum, { points, most }) => (points === null ? sum + most : sum), 0);
  const isSilent = facts.history.calls.length === 0;
  const score = open > 0 || isSilent ? null : 100 - taken;
  return {
    /** 100 minus all deductions; null if one is unknown, and for a wallet without own calls. */
    score,
    /** Bounds of the score with unknown deductions. */
    lowest: isSilent ? 0 : 100 - taken - open,
    highest: 100 - taken,
    grade: score === null ? null : gradeOf(score),
    deductions,
  };
}

function gradeOf(score: number) {
  const found = GRADES.find(([from]) => score >= from);
  if (found === undefined) throw new RangeError(`expected a score of 0 or more, got ${score}`);
  return found[1];
}

function deductHoldings(facts: ReportFacts): readonly Deduction[] {
  const { holdings, policy } = facts;
  const names = ["dust", "unrecognised_tokens", "portfolio_quality"] as const;
  switch (holdings.kind) {
    case "unread":
      return names.map((name) => open(name, NO_HOLDINGS.unread));
    case "none":
      return names.map((name) => take(name, 0, NO_HOLDINGS.none));
    case "held": {
      const { dustBelowMicroUsd } = policy.holdings;
      const unrecognised = holdings.tokens.filter(({ recognised }) => !recognised).length;
      const dust = holdings.tokens.filter(
        ({ recognised, worth }) => recognised && worth !== null && worth < dustBelowMicroUsd,
      ).length;
      const each = (name: "dust" | "unrecognised_tokens", points: number, what: string, count: number) =>
        take(name, points * count, `${what}: ${count}; ${points} points each`);
      return [
        each(
          "dust",
          PER_DUST_TOKEN,
          "recognised tokens that own calls brought in and that are worth less than a cent",
          dust,
        ),
        each(
          "unrecognised_tokens",
          PER_UNRECOGNISED_TOKEN,
          "tokens that own calls brought in and that are neither listed nor known to be used by others",
          unrecognised,
        ),
        deductQuality(facts),
      ];
    }
  }
}

function deductQuality(facts: ReportFacts): Deduction {
  const { value, reason } = portfolioQuality(facts);
  if (value === null) return open("portfolio_quality", reason ?? "it was not measured");
  const points = Math.round(MOST.portfolio_quality * (1 - value));
  return take(
    "portfolio_quality",
    points,
    `${Math.round(value * 1e4) / 100} % of the worth that own calls brought in is in recognised tokens; ${MOST.portfolio_quality} points for none`,
  );
}

function deductApprovals(approvals: readonly ApprovalFinding[] | null): Deduction {
  if (approvals === null) return open("approvals", "the wallet's approvals were not read");
  const gravest = approvals.flatMap(({ risks: [risk] }) => (risk === undefined ? [] : [risk]));
  const points = gravest.reduce((sum, risk) => sum + PER_APPROVAL[risk], 0);
  const rule = Object.entries(PER_APPROVAL).map(([risk, each]) => `${risk} ${each}`);
  return take(
    "approvals",
    points,
    `unlimited approvals at risk: ${gravest.length}; points by the gravest risk of each: ${rule.join(", ")}`,
  );
}

function deductDelegation({ rows, asOf, market, policy }: ReportFacts): Deduction {
  if (rows.delegation === null)
    return open("delegation", "whether the wallet runs delegated code was not read");
  const { to } = rows.delegation;
  if (to === null) return take("delegation", 0, "the wallet runs nobody's code");
  const fact = rows.counterparties.find(({ address }) => address === to);
  return isTrusted(fact, asOf.timestamp, { market, policy })
    ? take("delegation", 0, "the wallet runs code that has existed for a month and that others use")
    : take("delegation", MOST.delegation, "the wallet runs the code of a young or unknown account");
}

function deductSelfDealing({ history, policy }: ReportFacts): Deduction {
  const share = `${Math.round(ownShare(history) * 1e4) / 100} % of the weight of own calls stays within the owner's accounts`;
  return take("self_dealing", isSelfDealing(history, policy) ? MOST.self_dealing : 0, share);
}

function deductCircles(circles: readonly Circle[]): Deduction {
  const own = circles.filter((circle) => circle.own).reduce((sum, { times }) => sum + times, 0);
  return take(
    "circular_transfers",
    PER_CIRCLE * own,
    `transfers to accounts of the same owner that came back within 7 days: ${own}; ${PER_CIRCLE} points each`,
  );
}

function take(name: DeductionName, points: number, reason: string): Deduction {
  return { name, points: Math.min(points, MOST[name]), most: MOST[name], reason };
}

function open(name: DeductionName, reason: string): Deduction {
  return { name, points: null, most: MOST[name], reason };
}
