import { type Address, checksumAddress, zeroAddress } from "viem";
import { isSelfDealing, ownShare } from "../../model/features/patterns.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { SEVERITIES, type Severity } from "../../model/score/record.ts";
import { type ApprovalFinding, findApprovals, vouchedTokenTest } from "../diagnosis/approvals.ts";
import { describePortfolio, type Portfolio, type Position } from "../diagnosis/health.ts";
import { adviceOnApproval, adviceOnDelegation } from "../diagnosis/health-advice.ts";
import type { ReportFacts } from "../diagnosis/report-facts.ts";
import { countText } from "../phrases.ts";
import type { Exchanges, Received, ReceivedToken } from "../profit-and-loss/wallet-transfers.ts";
import { type Circle, findCircles } from "./wash-circles.ts";
import {
  type DeductionName,
  LEAST_ACTIVITY,
  type NoScoreReason,
  scoreCleanliness,
  type WalletRating,
} from "./wash-score.ts";

export type Wash = ReturnType<typeof washWallet>;

/** Finds untidy and dangerous things about a wallet. Tokens that others sent are listed and do not lower its score. */
export function washWallet(
  facts: ReportFacts,
  transfers: {
    exchanges: Exchanges;
    received: Received;
    drawnTokens: ReadonlySet<Address> | null;
    rating: WalletRating;
  },
) {
  const { history, policy, rows } = facts;
  const circles = findCircles(transfers.exchanges, rows);
  const approvals = findApprovals({ ...facts, drawnTokens: transfers.drawnTokens });
  const received = describeReceived(transfers.received, facts);
  const portfolio = describePortfolio(facts);
  const cleanliness = scoreCleanliness(facts, { approvals, circles, rating: transfers.rating });
  return {
    cleanliness,
    issues: findWashIssues({ facts, cleanliness, portfolio, received, approvals, circles }),
    portfolio,
    received,
    approvals,
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
  /** Null where it is about no single token, account, amount or count. */
  readonly token: Address | null;
  /** The spender, the delegate or the counterparty. */
  readonly account: Address | null;
  readonly microUsd: number | null;
  readonly found: number | null;
};

const ABOUT_NOTHING = { token: null, account: null, microUsd: null, found: null } as const;

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
function findWashIssues(findings: Findings): readonly WashIssue[] {
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
    if (finding.risks.length === 0) return [];
    const { action, reason, severity, token, spender } = adviceOnApproval(finding);
    const about = { ...ABOUT_NOTHING, token, account: spender };
    return [{ ...about, category: "approvals", severity, description: reason, action }];
  });
}

function deductionIssues({ facts, cleanliness }: Findings): readonly WashIssue[] {
  return cleanliness.deductions.flatMap(({ name, points, reason }): readonly WashIssue[] => {
    if (points === null || points === 0) return [];
    if (name === "delegation") {
      return adviceOnDelegation(facts).map(({ severity, action, reason: why, spender }) => ({
        ...ABOUT_NOTHING,
        account: spender,
        category: name,
        severity,
        description: why,
        action,
      }));
    }
    const issue = { ...ABOUT_NOTHING, category: name, severity: "warning", description: reason } as const;
    if (name === "self_dealing") return [{ ...issue, action: "Deal with independent counterparties." }];
    if (name === "portfolio_quality" && points >= POOR_QUALITY_POINTS)
      return [{ ...issue, action: "Hold tokens that are listed or widely used instead." }];
    return [];
  });
}

function holdingIssues({ facts, portfolio }: Findings): readonly WashIssue[] {
  if (portfolio.kind !== "held") return [];
  const { dustBelowMicroUsd } = facts.policy.holdings;
  return portfolio.positions.flatMap((position): readonly WashIssue[] => {
    const { recognised, microUsd, token } = position;
    const about = { ...ABOUT_NOTHING, token, microUsd };
    if (!recognised) {
      const description = `The wallet acquired ${nameOf(position)}, which is neither listed nor used by others.`;
      const action = `Check what ${nameOf(position)} is before using it, then sell it or leave it.`;
      return [{ ...about, category: "unrecognised_tokens", severity: "warning", description, action }];
    }
    if (microUsd === null || microUsd >= dustBelowMicroUsd) return [];
    const description = `The wallet holds less than 0.01 USD of ${nameOf(position)}.`;
    const action = `Leave ${nameOf(position)}: a transfer costs more than it is worth.`;
    return [{ ...about, category: "dust", severity: "info", description, action }];
  });
}

function circleIssues(circles: readonly Circle[]): readonly WashIssue[] {
  return circles.map(({ peer, own, times, token }) => {
    const about = {
      ...ABOUT_NOTHING,
      category: "circular_transfers",
      token,
      account: peer,
      found: times,
    } as const;
    const transfers = `${countText(times, "transfer")} to ${checksumAddress(peer)}`;
    return own
      ? {
          ...about,
          severity: "warning",
          description: `${transfers}, an account of the same owner, came back within 7 days.`,
          action: "Stop moving the same funds in a circle: such volume does not count for the score.",
        }
      : {
          ...about,
          severity: "info",
          description: `${transfers} came back within a day in nearly equal amounts. This takes no points, since any payee can send money back.`,
          action: "Do nothing, if these are refunds.",
        };
  });
}

function receivedIssues({ spamTokens, dustTokens }: Findings["received"]): readonly WashIssue[] {
  const issue = (found: number, description: string, action: string): readonly WashIssue[] =>
    found === 0
      ? []
      : [{ ...ABOUT_NOTHING, found, category: "received", severity: "info", description, action }];
  return [
    ...issue(
      spamTokens,
      `Others sent ${countText(spamTokens, "unrecognised token")} to the wallet. This takes no points.`,
      "Do not approve, swap or claim these tokens: spam is sent to make wallets do so.",
    ),
    ...issue(
      dustTokens,
      `Others sent less than 0.01 USD of ${countText(dustTokens, "recognised token")}. This takes no points.`,
      "Do not copy addresses from the list of transfers: dust often comes from lookalike addresses.",
    ),
  ];
}

const CLEAN_WORDS: Readonly<Record<NoScoreReason, string>> = {
  sanctioned: "This wallet is on a sanctions list, so the scan gives no score.",
  failing:
    "Others reject this wallet for its grade, so the scan gives no score: tidy tokens do not make up for it.",
  not_scored: "This wallet has too little history for a score; the findings below are all that is known.",
  little_activity: `The wallet moved tokens or gave approvals fewer than ${LEAST_ACTIVITY} times: too little for a score.`,
  not_read: "Some facts were not read yet, so the score is a range.",
};

/** The scan in two sentences. */
export function summarizeWash({ cleanliness, issues }: Pick<Wash, "cleanliness" | "issues">): string {
  const { score, reason } = cleanliness;
  const count = (severity: Severity) => issues.filter((issue) => issue.severity === severity).length;
  const counted = [
    ["critical", "critical finding"],
    ["warning", "warning"],
    ["info", "note"],
  ] as const;
  const found = counted.flatMap(([severity, name]) =>
    count(severity) === 0 ? [] : [countText(count(severity), name)],
  );
  const first = reason === null ? `Cleanliness ${score} of 100.` : CLEAN_WORDS[reason];
  const [gravest] = issues;
  const worst = gravest === undefined || gravest.severity === "info" ? "" : ` Most urgent: ${gravest.action}`;
  return `${first} ${found.length === 0 ? "No findings" : found.join(", ")}.${worst}`;
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
