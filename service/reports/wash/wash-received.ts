import { type Address, zeroAddress } from "viem";
import type { ReportFacts } from "../diagnosis/health-facts.ts";
import type { Received, ReceivedToken } from "../profit-and-loss/wallet-transfers.ts";

/**
 * What a token that others sent is. spam: neither the native coin, nor on the token list, nor known to be used by others.
 * dust: recognised, all of it together worth less than a cent. gift: any other.
 */
type ReceivedKind = "spam" | "dust" | "gift";

export type ReceivedFinding = ReceivedToken & {
  readonly kind: ReceivedKind;
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** Whole millionths of a US dollar at the report's block; null where no feed prices it. */
  readonly microUsd: number | null;
};

export type ReceivedReport = {
  /** Most transfers first. */
  readonly tokens: readonly ReceivedFinding[];
  readonly spamTokens: number;
  readonly dustTokens: number;
  readonly transfers: number;
  /** Whether older transfers were left out for their number. */
  readonly truncated: boolean;
};

/** What others' transactions brought, by kind; none of it is the wallet's doing. */
export function describeReceived(received: Received, facts: ReportFacts): ReceivedReport {
  const { rows, policy } = facts;
  const used = new Set(
    rows.counterparties
      .filter((fact) => fact.outsideUsers >= policy.recognisedUsers)
      .map((fact) => fact.address),
  );
  const tokens = received.tokens.map((token) => describeToken(token, used, facts));
  return {
    tokens,
    spamTokens: tokens.filter(({ kind }) => kind === "spam").length,
    dustTokens: tokens.filter(({ kind }) => kind === "dust").length,
    transfers: tokens.reduce((sum, { transfers }) => sum + transfers, 0),
    truncated: received.truncated,
  };
}

function describeToken(
  received: ReceivedToken,
  used: ReadonlySet<Address>,
  { rows, asOf, market, policy }: ReportFacts,
): ReceivedFinding {
  const { token, amount } = received;
  const isNative = token === zeroAddress;
  const listed = isNative ? rows.tokens.native : rows.tokens.tokens.find(({ address }) => address === token);
  const worth =
    amount === null
      ? null
      : isNative
        ? market.nativeWorth(amount, asOf.timestamp)
        : market.tokenWorth(token, amount, asOf.timestamp);
  const isRecognised = listed !== undefined || used.has(token);
  const isDust = worth !== null && worth < policy.holdings.dustBelowMicroUsd;
  return {
    ...received,
    kind: isRecognised ? (isDust ? "dust" : "gift") : "spam",
    symbol: listed?.symbol ?? null,
    decimals: listed?.decimals ?? null,
    microUsd: worth === null ? null : Math.round(worth),
  };
}
