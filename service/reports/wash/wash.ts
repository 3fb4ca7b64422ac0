import type { Address } from "viem";
import { isSelfDealing, ownShare } from "../../model/features/self-dealing.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import { type ApprovalFinding, findApprovals } from "../diagnosis/approvals.ts";
import type { ReportFacts } from "../diagnosis/health-facts.ts";
import { describePortfolio, type Portfolio } from "../diagnosis/health-portfolio.ts";
import type { Exchanges, Received } from "../profit-and-loss/wallet-transfers.ts";
import { type Circle, findCircles } from "./wash-circles.ts";
import { findWashIssues, type WashIssue } from "./wash-issues.ts";
import { describeReceived, type ReceivedReport } from "./wash-received.ts";
import { type Cleanliness, scoreCleanliness } from "./wash-score.ts";

/** What is read of a wallet's transfers for a wash. */
export type WashTransfers = {
  readonly exchanges: Exchanges;
  readonly received: Received;
  readonly drawnTokens: ReadonlySet<Address> | null;
};

export type Wash = {
  readonly cleanliness: Cleanliness;
  /** The gravest first. */
  readonly issues: readonly WashIssue[];
  /** What own calls left the wallet with. */
  readonly portfolio: Portfolio;
  readonly received: ReceivedReport;
  /** Of all approvals without limit; null where approvals were not read. */
  readonly approvals: readonly ApprovalFinding[] | null;
  readonly selfDealing: {
    /** Share of the weight of own calls that stays within the owner's accounts, rounded to 1e-6; null without calls. */
    readonly share: number | null;
    readonly isPattern: boolean;
    readonly circles: readonly Circle[];
    /** Whether older transfers were left out for their number. */
    readonly truncated: boolean;
  };
};

/** What is untidy or dangerous about a wallet; what others sent it is listed and takes nothing from its score. */
export function washWallet(facts: ReportFacts, transfers: WashTransfers): Wash {
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
      share: history.calls.length === 0 ? null : roundMicro(ownShare(history)),
      isPattern: isSelfDealing(history, policy),
      circles,
      truncated: transfers.exchanges.truncated,
    },
  };
}
