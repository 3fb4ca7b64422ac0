import type { Feature } from "../score/measured-wallet.ts";
import { isEstablished } from "./credit.ts";
import { type Facts, measured, unknown } from "./facts.ts";
import type { CounterpartyFact } from "./types.ts";

/** D1 risk flags: points lost for open approvals and delegations to code that nobody vouches for, and for listed counterparties. */
export function riskFlags(facts: Facts): Feature {
  const { rows, history, exposedShare, policy } = facts;
  const { approvals, delegation } = rows;
  const last = history.calls.at(-1);
  if (approvals === null) return unknown("risk_flags", "the wallet's approvals were not read");
  if (delegation === null || last === undefined) {
    return unknown("risk_flags", "whether the wallet runs delegated code was not read");
  }
  const known = new Map(rows.counterparties.map((fact) => [fact.address, fact]));
  const open = approvals.filter(
    ({ spender, approvedAt }) => !isTrusted(known.get(spender), approvedAt, facts),
  ).length;
  const delegates = delegation.to !== null && !isTrusted(known.get(delegation.to), last.timestamp, facts);
  const rule = policy.riskFlags;
  const lost = open * rule.perApproval + (delegates ? rule.delegation : 0) + rule.exposure * exposedShare;
  return measured("risk_flags", {
    value: Math.min(100, lost),
    score: 100 - lost,
    samples: history.calls.length,
    reason: reasonOf({ open, delegates, exposedShare }),
  });
}

/** Whether an account is the owner's own, or shown to have existed a month before and recognised or used by others. */
export function isTrusted(
  fact: CounterpartyFact | undefined,
  before: number,
  { market, policy }: Pick<Facts, "market" | "policy">,
): boolean {
  if (fact === undefined) return false;
  if (fact.ownerLink !== null) return true;
  const isUsed = fact.outsideUsers >= policy.recognisedUsers || market.isListed(fact.address);
  return isUsed && isEstablished(fact, before, policy);
}

function reasonOf({
  open,
  delegates,
  exposedShare,
}: {
  readonly open: number;
  readonly delegates: boolean;
  readonly exposedShare: number;
}): string | null {
  const found = [
    open > 0 ? `unlimited approvals to young or unknown spenders: ${open}` : null,
    delegates ? "runs the code of a young or unknown account" : null,
    exposedShare > 0
      ? `${Math.round(1000 * exposedShare) / 10} % of its outgoing volume to listed accounts`
      : null,
  ].filter((part) => part !== null);
  return found.length === 0 ? null : found.join("; ");
}
