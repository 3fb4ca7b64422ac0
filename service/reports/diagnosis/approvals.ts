import type { Address } from "viem";
import { isEstablished } from "../../model/features/credit.ts";
import { isTrusted } from "../../model/features/hygiene.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { CounterpartyFact, OpenApproval, WalletRows } from "../../model/features/types.ts";
import type { Severity } from "../../model/score/record.ts";
import { compare, type ReportFacts } from "./report-facts.ts";

/**
 * Risk of an unlimited approval. flagged: the spender is sanctioned or a mixer. no_code: it is no contract, so that the
 * holder of its key can take everything. young: no evidence that it existed 30 days before. unknown: not listed, and
 * fewer than three independent users are known. unused: no known use in 90 days.
 */
export type ApprovalRisk = "flagged" | "no_code" | "young" | "unknown" | "unused";

export type ApprovalFinding = ReturnType<typeof findingOf>;

export type ApprovalQuestion = Pick<ReportFacts, "rows" | "asOf" | "market" | "policy"> & {
  /**
   * Tokens that other transactions took out of the wallet in the last 90 days, so that some spender uses its approval.
   * Null if unknown.
   */
  readonly drawnTokens: ReadonlySet<Address> | null;
};

/** Days without any use after which an approval is better taken back. */
export const UNUSED_DAYS = 90;

/**
 * Returns open unlimited approvals with their risks, riskiest first, then by token and spender; null if approvals were
 * not read. For an account of the same owner the only risk is disuse. Approvals logged only by an unvouched token are
 * left out: the wallet did not make them, and revoking would call that token.
 */
export function findApprovals(question: ApprovalQuestion): readonly ApprovalFinding[] | null {
  const { rows } = question;
  if (rows.approvals === null) return null;
  const facts = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  const useKnown = isUseKnown(question);
  const uses = lastUses(rows);
  const findings = rows.approvals.filter(ownApprovalTest(question)).map((approval) => {
    const spender = facts.get(approval.spender) ?? null;
    const lastUsedAt = latest(uses.bySpender.get(approval.spender), uses.byToken.get(approval.token));
    return findingOf({ approval, spender, lastUsedAt, useKnown }, question);
  });
  const keyOf = ({ approval: { token, spender, kind } }: ApprovalFinding) => `${token} ${spender} ${kind}`;
  return findings.toSorted(
    (a, b) =>
      rankOfRisks(a) - rankOfRisks(b) ||
      compare(keyOf(a), keyOf(b)) ||
      a.approval.approvedAt - b.approval.approvedAt,
  );
}

const RISKS: readonly ApprovalRisk[] = ["flagged", "no_code", "young", "unknown", "unused"];

/** Place of the gravest risk, 0 for the worst. */
export function rankOfRisks({ risks: [gravest] }: Pick<ApprovalFinding, "risks">): number {
  return gravest === undefined ? RISKS.length : RISKS.indexOf(gravest);
}

/** How much the gravest risk of an approval matters. */
export const APPROVAL_SEVERITY = {
  flagged: "critical",
  no_code: "critical",
  young: "critical",
  unknown: "warning",
  unused: "info",
} as const satisfies Readonly<Record<ApprovalRisk, Severity>>;

/** An open unlimited approval with the facts about its spender, and its risks by weight. */
function findingOf(
  known: {
    readonly approval: OpenApproval;
    readonly spender: CounterpartyFact | null;
    /**
     * Unix seconds of the last own call to the spender, or with a log of the spender. Also counts calls by which another
     * contract took the token, possibly through this spender. Null if none is known.
     */
    readonly lastUsedAt: number | null;
    /** Whether a use in the last 90 days would be known. */
    readonly useKnown: boolean;
  },
  { asOf, market, policy, drawnTokens }: ApprovalQuestion,
) {
  const { approval, spender, lastUsedAt, useKnown } = known;
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  const isUnused =
    useKnown &&
    approval.approvedAt < since &&
    (lastUsedAt === null || lastUsedAt < since) &&
    drawnTokens?.has(approval.token) === false;
  const isTrustedNow = isTrusted(spender ?? undefined, approval.approvedAt, { market, policy });
  const isUnknown =
    spender === null || (spender.outsideUsers < policy.recognisedUsers && !market.isListed(approval.spender));
  const found: Readonly<Record<ApprovalRisk, boolean>> = {
    flagged: spender?.flag != null,
    no_code: spender?.hasCode === false && spender.ownerLink === null,
    young: !isTrustedNow && (spender === null || !isEstablished(spender, approval.approvedAt, policy)),
    unknown: !isTrustedNow && isUnknown,
    unused: isUnused,
  };
  const risks: readonly ApprovalRisk[] = RISKS.filter((risk) => found[risk]);
  return { ...known, risks };
}

/** Requires complete facts of the last 90 days: covered calls, read receipts, and transfers by others. */
function isUseKnown({ rows, asOf, drawnTokens }: ApprovalQuestion): boolean {
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  if (drawnTokens === null) return false;
  if (!rows.coverage.complete && rows.coverage.fromTimestamp > since) return false;
  return rows.calls.every(({ timestamp, receipt }) => timestamp < since || receipt !== null);
}

/** Last uses by spender, and last calls of other contracts with a log of the token, by token. */
function lastUses({ calls }: WalletRows) {
  const bySpender = new Map<Address, number>();
  const byToken = new Map<Address, number>();
  for (const { to, ok, receipt, timestamp } of calls) {
    if (!ok) continue;
    if (to !== null) note(bySpender, to, timestamp);
    if (receipt === null) continue;
    for (const emitter of receipt.emitters) {
      note(bySpender, emitter, timestamp);
      if (emitter !== to) note(byToken, emitter, timestamp);
    }
  }
  return { bySpender, byToken };
}

function note(uses: Map<Address, number>, address: Address, at: number): void {
  const known = uses.get(address);
  if (known === undefined || known < at) uses.set(address, at);
}

function latest(one: number | undefined, other: number | undefined): number | null {
  if (one === undefined) return other ?? null;
  return other === undefined ? one : Math.max(one, other);
}

/** A test of whether a token is vouched for: it is listed, or as many independent users are known of it as the policy asks for. */
export function vouchedTokenTest({
  rows: { counterparties },
  market,
  policy,
}: Pick<ReportFacts, "market" | "policy"> & { rows: Pick<WalletRows, "counterparties"> }): (
  token: Address,
) => boolean {
  const used = new Set(
    counterparties.flatMap(({ address, outsideUsers }) =>
      outsideUsers >= policy.recognisedUsers ? [address] : [],
    ),
  );
  return (token) => market.isListed(token) || used.has(token);
}

/**
 * Returns a test of whether the wallet itself made an approval, since any token can log one during any call. The
 * approval of an unvouched token counts only if the same block has an own call to that token, or a call of the wallet's
 * own code with unknown target. Approvals older than all known calls count as well.
 */
export function ownApprovalTest(
  evidence: Pick<ReportFacts, "market" | "policy"> & {
    readonly rows: Pick<WalletRows, "wallet" | "calls" | "counterparties">;
  },
): (approval: OpenApproval) => boolean {
  const { wallet, calls } = evidence.rows;
  const isVouched = vouchedTokenTest(evidence);
  const given = new Set<string>();
  let oldest = Number.POSITIVE_INFINITY;
  for (const { to, ok, position, timestamp } of calls) {
    oldest = Math.min(oldest, timestamp);
    if (!ok) continue;
    if (to === wallet || (to === null && position > 0)) given.add(`${timestamp}`);
    else if (to !== null) given.add(`${timestamp} ${to}`);
  }
  return ({ token, approvedAt }) =>
    isVouched(token) ||
    approvedAt < oldest ||
    given.has(`${approvedAt}`) ||
    given.has(`${approvedAt} ${token}`);
}
