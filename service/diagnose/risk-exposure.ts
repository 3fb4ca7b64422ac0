import type { ContactSum, Exposure } from "../store/risk-facts.ts";

type ShareOf = {
  readonly counterparties: number;
  /** 0 to 1. */
  readonly share: number;
};

/** Shares of what a wallet sent. */
export type CounterpartyShares = {
  /** Sanctioned accounts and mixers. */
  readonly listed: ShareOf;
  /** Wallets of grade F that are not listed. */
  readonly failing: ShareOf;
  readonly together: ShareOf;
};

/**
 * Shares of the value that a wallet sent to its counterparties; where nothing with a known price was sent to one of them, at
 * least the share of the calls to it, as the model's exposure has it.
 */
export function counterpartyShares(exposure: Exposure): CounterpartyShares {
  const { listed, failing } = exposure;
  const together: ContactSum = {
    counterparties: listed.counterparties + failing.counterparties,
    sentMicroUsd: listed.sentMicroUsd + failing.sentMicroUsd,
    unpricedCalls: listed.unpricedCalls + failing.unpricedCalls,
  };
  const shareOf = (sum: ContactSum): ShareOf => ({
    counterparties: sum.counterparties,
    share: Math.max(ratio(sum.sentMicroUsd, exposure.sentMicroUsd), ratio(sum.unpricedCalls, exposure.calls)),
  });
  return { listed: shareOf(listed), failing: shareOf(failing), together: shareOf(together) };
}

/** A part of nothing is nothing. */
function ratio(part: number, whole: number): number {
  return whole > 0 ? Math.round((1e6 * part) / whole) / 1e6 : 0;
}
