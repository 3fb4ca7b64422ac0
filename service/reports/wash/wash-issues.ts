import { checksumAddress } from "viem";
import type { ApprovalFinding, ApprovalRisk } from "../diagnosis/approvals.ts";
import { adviceOnApproval } from "../diagnosis/health-advice.ts";
import type { ReportFacts } from "../diagnosis/health-facts.ts";
import type { Portfolio, Position } from "../diagnosis/health-portfolio.ts";
import type { Circle } from "./wash-circles.ts";
import type { ReceivedReport } from "./wash-received.ts";
import type { Cleanliness, DeductionName } from "./wash-score.ts";

/** info: nothing of it is the wallet's doing, or nothing is wrong with it. */
type Severity = "high" | "medium" | "low" | "info";

export type WashIssue = {
  readonly category: DeductionName | "received";
  readonly severity: Severity;
  readonly description: string;
  readonly action: string;
};

type Findings = {
  readonly facts: ReportFacts;
  readonly cleanliness: Cleanliness;
  readonly portfolio: Portfolio;
  readonly received: ReceivedReport;
  readonly approvals: readonly ApprovalFinding[] | null;
  readonly circles: readonly Circle[];
};

const SEVERITIES: readonly Severity[] = ["high", "medium", "low", "info"];
const APPROVAL_SEVERITY: Readonly<Record<ApprovalRisk, Severity>> = {
  flagged: "high",
  no_code: "high",
  young: "high",
  unknown: "medium",
  unused: "low",
};
/** Below it half of what own calls brought in is in tokens that nobody vouches for. */
const POOR_QUALITY_POINTS = 8;

/** What to do something about, the gravest first; of equal ones in the order of the deductions. */
export function findWashIssues(findings: Findings): readonly WashIssue[] {
  const issues = [
    ...approvalIssues(findings.approvals ?? []),
    ...deductionIssues(findings),
    ...holdingIssues(findings),
    ...circleIssues(findings.circles),
    ...receivedIssues(findings.received),
  ];
  return issues.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

function approvalIssues(approvals: readonly ApprovalFinding[]): readonly WashIssue[] {
  return approvals.flatMap((finding) => {
    const [gravest] = finding.risks;
    if (gravest === undefined) return [];
    const { action, reason } = adviceOnApproval(finding);
    return [
      { category: "approvals", severity: APPROVAL_SEVERITY[gravest], description: reason, action } as const,
    ];
  });
}

function deductionIssues({ facts, cleanliness }: Findings): readonly WashIssue[] {
  const to = facts.rows.delegation?.to ?? null;
  return cleanliness.deductions.flatMap(({ name, points, reason }): readonly WashIssue[] => {
    if (points === null || points === 0) return [];
    if (name === "delegation" && to !== null) {
      const action = `Take back the EIP-7702 delegation to ${checksumAddress(to)}.`;
      return [{ category: name, severity: "high", description: reason, action }];
    }
    if (name === "self_dealing") {
      const action = "Deal with independent parties: calls among one's own accounts prove nothing to others.";
      return [{ category: name, severity: "medium", description: reason, action }];
    }
    if (name === "portfolio_quality" && points >= POOR_QUALITY_POINTS) {
      const action = "Move what is held into tokens that are listed or widely used.";
      return [{ category: name, severity: "medium", description: reason, action }];
    }
    return [];
  });
}

function holdingIssues({ facts, portfolio }: Findings): readonly WashIssue[] {
  if (portfolio.kind !== "held") return [];
  const { dustBelowMicroUsd } = facts.policy.holdings;
  return portfolio.positions.flatMap((position): readonly WashIssue[] => {
    const { recognised, microUsd } = position;
    if (!recognised) {
      const description = `Own calls brought in ${nameOf(position)}, which is neither listed nor known to be used by others.`;
      const action = `Find out what ${nameOf(position)} is before touching it; sell it or leave it, and stop acquiring it.`;
      return [{ category: "unrecognised_tokens", severity: "medium", description, action }];
    }
    if (microUsd === null || microUsd >= dustBelowMicroUsd) return [];
    const description = `${nameOf(position)} that own calls brought in is worth less than a cent.`;
    const action = `Leave ${nameOf(position)}, or sweep it with the next trade of that token: moving it alone costs more than it is worth.`;
    return [{ category: "dust", severity: "low", description, action }];
  });
}

function circleIssues(circles: readonly Circle[]): readonly WashIssue[] {
  return circles.map(({ peer, own, times }) => {
    const who = checksumAddress(peer);
    return own
      ? {
          category: "circular_transfers",
          severity: "medium",
          description: `Transfers to ${who}, which belongs to the same owner, came back within 7 days: ${times}.`,
          action:
            "Stop moving the same funds in a circle: volume among one's own accounts counts for nothing.",
        }
      : {
          category: "circular_transfers",
          severity: "info",
          description: `Transfers to ${who} came back within a day in nearly equal amounts: ${times}. Whoever is paid can pay back at will, so this takes nothing from the score.`,
          action: "Nothing, if these are refunds.",
        };
  });
}

function receivedIssues({ spamTokens, dustTokens }: ReceivedReport): readonly WashIssue[] {
  const issue = (description: string, action: string) =>
    ({ category: "received", severity: "info", description, action }) as const;
  return [
    ...(spamTokens === 0
      ? []
      : [
          issue(
            `Unrecognised tokens that others sent: ${spamTokens}. This is not the wallet's doing and takes nothing from the score.`,
            "Do not approve, swap or claim them: touching them is what spam is for.",
          ),
        ]),
    ...(dustTokens === 0
      ? []
      : [
          issue(
            `Recognised tokens of which others sent dust: ${dustTokens}. This takes nothing from the score.`,
            "Do not copy addresses from the list of transfers: dust is sent to plant lookalikes.",
          ),
        ]),
  ];
}

function nameOf({ symbol, token }: Position): string {
  return symbol === null ? checksumAddress(token) : `${symbol} (${checksumAddress(token)})`;
}
