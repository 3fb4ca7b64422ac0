import type { Address } from "viem";
import { isEstablished } from "../../model/features/credit.ts";
import { isTrusted } from "../../model/features/hygiene.ts";
import type { Market } from "../../model/features/market.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, CounterpartyFact, OpenApproval, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { compareTexts } from "./compare.ts";

/**
 * Why an approval without limit is a risk. flagged: the spender is sanctioned or a mixer. no_code: it is no contract, whoever
 * holds its key can take everything. young: not shown to have existed 30 days before. unknown: fewer than three
 * independent users are known, and no list names it. unused: nothing shows a use in 90 days.
 */
export type ApprovalRisk = "flagged" | "no_code" | "young" | "unknown" | "unused";

/** An approval without limit that stands, and what is known of its spender. */
export type ApprovalFinding = {
  readonly approval: OpenApproval;
  /** Null where nothing is known of the spender. */
  readonly spender: CounterpartyFact | null;
  /** In the order of their weight; empty for one that is no risk. */
  readonly risks: readonly ApprovalRisk[];
  /**
   * Unix seconds of the last own call that went to the spender, or in whose logs it stands; or that any other contract took
   * the token by, which may have been through this spender. Null where none is known.
   */
  readonly lastUsedAt: number | null;
  /** Whether a use in the last 90 days would be known: own calls are covered that long, their receipts were read, and so was what others drew. */
  readonly useKnown: boolean;
};

export type ApprovalQuestion = {
  readonly rows: WalletRows;
  readonly asOf: AsOf;
  readonly market: Market;
  readonly policy: Policy;
  /**
   * Tokens that somebody else's transaction took out of the wallet in the last 90 days: some spender still uses its approval.
   * Null where that is not known.
   */
  readonly drawnTokens: ReadonlySet<Address> | null;
};

/** Days without any use after which an approval is better taken back. */
export const UNUSED_DAYS = 90;

/**
 * Approvals without limit that stand with their risks, the riskiest first, then by token and spender; null where the
 * wallet's approvals were not read. An approval to an account of the wallet's own owner is a risk only by its disuse. One that
 * only a token nobody vouches for logged is none: it is not the wallet's doing, and taking it back would call that token.
 */
export function findApprovals(question: ApprovalQuestion): readonly ApprovalFinding[] | null {
  const { rows } = question;
  if (rows.approvals === null) return null;
  const facts = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  const useKnown = isUseKnown(question);
  const uses = lastUses(rows);
  const isOwn = ownApprovalTest(question);
  const findings = rows.approvals.filter(isOwn).map((approval): ApprovalFinding => {
    const spender = facts.get(approval.spender) ?? null;
    const lastUsedAt = latest(uses.bySpender.get(approval.spender), uses.byToken.get(approval.token));
    const risks = risksOf({ approval, spender, lastUsedAt, useKnown }, question);
    return { approval, spender, risks, lastUsedAt, useKnown };
  });
  return findings.toSorted(byRisk);
}

function byRisk(a: ApprovalFinding, b: ApprovalFinding): number {
  return (
    rankOf(a) - rankOf(b) ||
    compareTexts(keyOf(a.approval), keyOf(b.approval)) ||
    a.approval.approvedAt - b.approval.approvedAt
  );
}

const RISKS: readonly ApprovalRisk[] = ["flagged", "no_code", "young", "unknown", "unused"];

function rankOf({ risks: [gravest] }: ApprovalFinding): number {
  return gravest === undefined ? RISKS.length : RISKS.indexOf(gravest);
}

function keyOf({ token, spender, kind }: OpenApproval): string {
  return `${token} ${spender} ${kind}`;
}

function risksOf(
  { approval, spender, lastUsedAt, useKnown }: Omit<ApprovalFinding, "risks">,
  { asOf, market, policy, drawnTokens }: ApprovalQuestion,
): readonly ApprovalRisk[] {
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
  return RISKS.filter((risk) => found[risk]);
}

/** Nothing of the last 90 days may be hidden: calls before the coverage, logs of receipts that were not read, what others drew. */
function isUseKnown({ rows, asOf, drawnTokens }: ApprovalQuestion): boolean {
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  if (drawnTokens === null) return false;
  if (!rows.coverage.complete && rows.coverage.fromTimestamp > since) return false;
  return rows.calls.every(({ timestamp, receipt }) => timestamp < since || receipt !== null);
}

type Uses = {
  readonly bySpender: ReadonlyMap<Address, number>;
  /** Calls to other contracts in whose logs the token stands. */
  readonly byToken: ReadonlyMap<Address, number>;
};

function lastUses({ calls }: WalletRows): Uses {
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

type Evidence = {
  readonly rows: Pick<WalletRows, "wallet" | "calls" | "counterparties">;
  readonly market: Market;
  readonly policy: Policy;
};

/** A test of whether a token is vouched for: it is listed, or as many independent users are known of it as the policy asks for. */
export function vouchedTokenTest({
  rows: { counterparties },
  market,
  policy,
}: Evidence): (token: Address) => boolean {
  const used = new Set(
    counterparties.flatMap(({ address, outsideUsers }) =>
      outsideUsers >= policy.recognisedUsers ? [address] : [],
    ),
  );
  return (token) => market.isListed(token) || used.has(token);
}

/**
 * A test of whether an approval is the wallet's own doing. Any token can log one during any call: that of a token nobody
 * vouches for counts only where, in the block of the approval, an own call went to that token, or the wallet's own code made
 * calls that are not told apart. Older ones than the calls known here count, since nothing speaks against them.
 */
export function ownApprovalTest(evidence: Evidence): (approval: OpenApproval) => boolean {
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
