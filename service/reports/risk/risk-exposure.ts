import type { Address } from "viem";
import { exposedShare } from "../../model/features/exposure.ts";
import { createMarket } from "../../model/features/market.ts";
import type { WalletRows } from "../../model/features/types.ts";
import { weighCalls } from "../../model/features/weigh-calls.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { Exposure } from "./risk-facts.ts";

type ShareOf<Share> = {
  readonly counterparties: number;
  /** 0 to 1. */
  readonly share: Share;
};

/** Whom of note a wallet sent to, and how much of what it sent. */
export type CounterpartyShares = {
  /** Sanctioned accounts and mixers; the share is null where own calls cannot be read now. */
  readonly listed: ShareOf<number | null>;
  /** Wallets of grade F that are not listed. */
  readonly failing: ShareOf<number>;
  /** Both shares, 1 at most; null where one of them is. */
  readonly together: number | null;
};

/**
 * The share to listed accounts as the model has it. That to failing ones is of the value that went to all counterparties;
 * where nothing with a known price was sent to one of them, at least the share of the calls to it.
 */
export function counterpartyShares(exposure: Exposure, listedShare: number | null): CounterpartyShares {
  const { listed, failing } = exposure;
  const failingShare = Math.max(
    ratio(failing.sentMicroUsd, exposure.sentMicroUsd),
    ratio(failing.unpricedCalls, exposure.calls),
  );
  const sum = listedShare === null ? null : Math.min(1, listedShare + failingShare);
  return {
    listed: { counterparties: listed.length, share: listedShare },
    failing: { counterparties: failing.counterparties, share: failingShare },
    together: sum === null ? null : roundMicro(sum),
  };
}

/** The model's share of what own calls tried to send that was for listed accounts, by the lists of today as well as those of the rows. */
export function listedShare(rows: WalletRows, listed: readonly Address[], policy: Policy): number {
  const now = new Set(listed);
  const market = createMarket(rows.tokens);
  const counterparties = rows.counterparties.map((fact) =>
    fact.flag === null && now.has(fact.address) ? { ...fact, flag: "sanctioned" as const } : fact,
  );
  return exposedShare(weighCalls(rows, market, policy), { counterparties }, market);
}

/** A part of nothing is nothing. */
function ratio(part: number, whole: number): number {
  return whole > 0 ? roundMicro(part / whole) : 0;
}
