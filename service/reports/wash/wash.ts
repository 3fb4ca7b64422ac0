import { type Address, checksumAddress, zeroAddress } from "viem";
import { isSelfDealing, ownShare } from "../../model/features/patterns.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { SEVERITIES, type Severity } from "../../model/score/record.ts";
import {
  APPROVAL_SEVERITY,
  type ApprovalFinding,
  findApprovals,
  vouchedTokenTest,
} from "../diagnosis/approvals.ts";
import { describePortfolio, type Portfolio, type Position } from "../diagnosis/health.ts";
import { adviceOnApproval } from "../diagnosis/health-advice.ts";
import type { ReportFacts } from "../diagnosis/report-facts.ts";
import type { Exchanges, Received, ReceivedToken } from "../profit-and-loss/wallet-transfers.ts";
import { type Circle, findCircles } from "./wash-circles.ts";
import { type DeductionName, scoreCleanliness } from "./wash-score.ts";

export type Wash = ReturnType<typeof washWallet>;

/** Finds untidy and dangerous things about a wallet. Tokens that others sent are listed and do not lower its score. */
export function washWallet(
  facts: ReportFacts,
  transfers: { exchanges: Exchanges; received: Received; drawnTokens: ReadonlySet<Address> | null },
) {
  const { history, policy, rows } = facts;
  const circles = findCircles(transfers.exchanges, rows);
  const approvals = findApprovals({ ...facts, drawnTokens: transfers.drawnTokens });
  const received = describeReceived(transfers.received, facts);
  const portfolio = describePortfolio(facts);
  const cleanliness = scoreCleanliness(facts, { approvals, circles });
  return {
    cleanliness,
    issues: findWashIssues({ facts, cleanliness, portfolio, received, approvals, circles }),
    ...{ portfolio, received, approvals },
    selfDealing: {
      /** Share of the own calls' weight inside the owner's accounts, rounded to 1e-6; null without calls. */
      share: history.calls.length === 0 ? null : roundMicro(ownShare(history)),
      isPattern: isSelfDealing(history, policy),
      circles,
      /** Whether older transfers were left out for their number. */
      truncated: transfers.exchanges.truncated,
    },
  };
}

export type WashIssue = {
  readonly category: DeductionName | "received";
  /** info: nothing of it is the wallet's doing, or nothing is wrong with it. */
  readonly severity: Severity;
  readonly description: string;
  readonly action: string;
};

type Findings = {
  readonly facts: ReportFacts;
  readonly cleanliness: ReturnType<typeof scoreCleanliness>;
  readonly portfolio: Portfolio;
  readonly received: ReturnType<typeof describeReceived>;
  readonly approvals: readonly ApprovalFinding[] | null;
  readonly circles: readonly Circle[];
};

/** Deduction that means that half of the received value is in unvouched tokens. */
const POOR_QUALITY_POINTS = 8;

/** Issues with recommended actions, most severe first, then in the order of the deductions. */
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
    return [{ category: "approvals", severity: APPROVAL_SEVERITY[gravest], description: reason, action }];
  });
}

function deductionIssues({ facts, cleanliness }: Findings): readonly WashIssue[] {
  const to = facts.rows.delegation?.to ?? null;
  return cleanliness.deductions.flatMap(({ name, points, reason }): readonly WashIssue[] => {
    if (points === null || points === 0) return [];
    if (name === "delegation" && to !== null) {
      const action = `Take back the EIP-7702 delegation to ${checksumAddress(to)}.`;
      return [{ category: name, severity: "critical", description: reason, action }];
    }
    if (name === "self_dealing") {
      const action = "Deal with independent parties: calls among one's own accounts prove nothing to others.";
      return [{ category: name, severity: "warning", description: reason, action }];
    }
    if (name === "portfolio_quality" && points >= POOR_QUALITY_POINTS) {
      const action = "Move what is held into tokens that are listed or widely used.";
      return [{ category: name, severity: "warning", description: reason, action }];
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
      return [{ category: "unrecognised_tokens", severity: "warning", description, action }];
    }
    if (microUsd === null || microUsd >= dustBelowMicroUsd) return [];
    const description = `${nameOf(position)} that own calls brought in is worth less than a cent.`;
    const action = `Leave ${nameOf(position)}, or sweep it with the next trade of that token: moving it alone costs more than it is worth.`;
    return [{ category: "dust", severity: "info", description, action }];
  });
}

function circleIssues(circles: readonly Circle[]): readonly WashIssue[] {
  return circles.map(({ peer, own, times }) => {
    const who = checksumAddress(peer);
    return own
      ? {
          category: "circular_transfers",
          severity: "warning",
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

function receivedIssues({ spamTokens, dustTokens }: Findings["received"]): readonly WashIssue[] {
  const issue = (count: number, description: string, action: string): readonly WashIssue[] =>
    count === 0 ? [] : [{ category: "received", severity: "info", description, action }];
  return [
    ...issue(
      spamTokens,
      `Unrecognised tokens that others sent: ${spamTokens}. This is not the wallet's doing and takes nothing from the score.`,
      "Do not approve, swap or claim them: touching them is what spam is for.",
    ),
    ...issue(
      dustTokens,
      `Recognised tokens of which others sent dust: ${dustTokens}. This takes nothing from the score.`,
      "Do not copy addresses from the list of transfers: dust is sent to plant lookalikes.",
    ),
  ];
}

function nameOf({ symbol, token }: Position): string {
  return symbol === null ? checksumAddress(token) : `${symbol} (${checksumAddress(token)})`;
}

export type ReceivedFinding = ReturnType<typeof describeReceived>["tokens"][number];

/** Describes tokens that others sent, most transfers first. */
function describeReceived(received: Received, facts: ReportFacts) {
  const isVouched = vouchedTokenTest(facts);
  const tokens = received.tokens.map((token) => describeToken(token, isVouched(token.token), facts));
  return {
    tokens,
    spamTokens: tokens.filter(({ kind }) => kind === "spam").length,
    dustTokens: tokens.filter(({ kind }) => kind === "dust").length,
    transfers: tokens.reduce((sum, { transfers }) => sum + transfers, 0),
    /** Whether older transfers were left out for their number. */
    truncated: received.truncated,
  };
}

/**
 * Describes a token that others sent. spam: neither native coin, nor listed, nor known to have users. dust: recognised, and
 * worth less than a cent in total. gift: any other. `microUsd` is its worth at the report's block in whole millionths of a
 * US dollar; null where no feed prices it.
 */
function describeToken(
  received: ReceivedToken,
  isVouched: boolean,
  { rows, asOf, market, policy }: ReportFacts,
) {
  const { token, amount } = received;
  const isNative = token === zeroAddress;
  const listed = isNative ? rows.tokens.native : rows.tokens.tokens.find(({ address }) => address === token);
  const worth =
    amount === null
      ? null
      : isNative
        ? market.nativeWorth(amount, asOf.timestamp)
        : market.tokenWorth(token, amount, asOf.timestamp);
  const isDust = worth !== null && worth < policy.holdings.dustBelowMicroUsd;
  const kind: "spam" | "dust" | "gift" = !isNative && !isVouched ? "spam" : isDust ? "dust" : "gift";
  return {
    ...received,
    kind,
    symbol: listed?.symbol ?? null,
    decimals: listed?.decimals ?? null,
    microUsd: worth === null ? null : Math.round(worth),
  };
}
