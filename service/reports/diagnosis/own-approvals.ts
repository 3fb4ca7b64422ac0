import type { Address } from "viem";
import type { Market } from "../../model/features/market.ts";
import type { OpenApproval, WalletRows } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";

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
