import type { ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { ReceivedFinding, Wash, WashIssue } from "../../reports/wash/wash.ts";
import type { Circle } from "../../reports/wash/wash-circles.ts";
import { toEip55 } from "../address-schema.ts";
import { isoOf, reportScope } from "../wallet-report.ts";
import { renderApprovals, renderPortfolio, renderPrices, toUsd } from "./get-health-parts.ts";
import type { WashAnswer } from "./post-wash-schema.ts";

const MOST_ROWS = 100;
const MOST_ISSUES = 200;
const RECEIVED_NOTE =
  "What transactions of others brought since the index follows the wallet. Any contract can claim to have sent anything; none of it takes anything from the score.";
const CIRCLE_METHOD =
  "A transfer of native coin or an ERC-20 token that the wallet itself sent, and the next one of the same token from the same counterparty: of any amount within 7 days where it belongs to the same owner, within 1 % of the amount and 24 hours of any other account without code. Each transfer counts once. Longer circles are not seen.";

/** The answer of POST /wash/{address}. */
export function renderWash(facts: ReportFacts, wash: Wash): WashAnswer {
  const { cleanliness, issues } = wash;
  const { score, lowest, highest, grade, deductions } = cleanliness;
  return {
    address: toEip55(facts.rows.wallet),
    ...reportScope(facts, facts.policy.window.days),
    cleanliness_score: score,
    cleanliness_range: { lowest, highest },
    cleanliness_grade: grade,
    deductions: [...deductions],
    issues: issues.slice(0, MOST_ISSUES),
    issues_by_severity: {
      high: countOf(issues, "high"),
      medium: countOf(issues, "medium"),
      low: countOf(issues, "low"),
      info: countOf(issues, "info"),
    },
    portfolio: renderPortfolio(wash.portfolio),
    received: renderReceived(wash.received),
    ...renderApprovals(wash.approvals),
    self_dealing: {
      own_share: wash.selfDealing.share,
      is_pattern: wash.selfDealing.isPattern,
      circles: wash.selfDealing.circles.slice(0, MOST_ROWS).map(renderCircle),
      truncated: wash.selfDealing.truncated,
      method: CIRCLE_METHOD,
    },
    prices: renderPrices(facts),
  };
}

function countOf(issues: readonly WashIssue[], severity: WashIssue["severity"]): number {
  return issues.filter((issue) => issue.severity === severity).length;
}

function renderReceived(received: Wash["received"]): WashAnswer["received"] {
  const { tokens, spamTokens, dustTokens, transfers, truncated } = received;
  return {
    spam_tokens: spamTokens,
    dust_tokens: dustTokens,
    ...{ transfers, truncated },
    note: RECEIVED_NOTE,
    tokens: tokens.slice(0, MOST_ROWS).map(renderReceivedToken),
    left_out: Math.max(0, tokens.length - MOST_ROWS),
  };
}

function renderReceivedToken(found: ReceivedFinding): WashAnswer["received"]["tokens"][number] {
  const { token, symbol, standard, kind, transfers, senders, amount, microUsd, lastAt } = found;
  return {
    token: toEip55(token),
    ...{ symbol, standard, kind, transfers, senders },
    amount: amount === null ? null : String(amount),
    worth_usd: toUsd(microUsd),
    last_at: isoOf(lastAt),
  };
}

function renderCircle({
  peer,
  own,
  token,
  times,
  amount,
  last,
}: Circle): WashAnswer["self_dealing"]["circles"][number] {
  return {
    counterparty: toEip55(peer),
    own,
    token: toEip55(token),
    times,
    amount: String(amount),
    last_out_tx: last.out.hash,
    last_back_tx: last.back.hash,
    last_at: isoOf(last.back.timestamp),
  };
}
