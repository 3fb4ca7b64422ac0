import type { WalletRows } from "../../model/features/types.ts";
import { MICRO } from "../../model/score/fixed-point.ts";
import { chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import type { Counterparty, Volume } from "../../reports/network/counterparties.ts";
import { directionOf } from "../../reports/network/counterparties-totals.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import { toEip55 } from "../address-schema.ts";
import { isoOf } from "../wallet-report.ts";
import type { CounterpartiesAnswer } from "./get-counterparties-schema.ts";
import type { FoundDealings } from "./kept-dealings.ts";

type Rendered = CounterpartiesAnswer["counterparties"][number];

type PricedRows = Pick<WalletRows, "tokens">;

/** Tokens told of one volume: a router may have moved thousands. */
const MAX_TOKENS = 20;

/** Of an account that was not looked up. */
const UNKNOWN: Omit<AccountDetail, "address"> = { agents: [], hasCode: null, score: null, sanctions: [] };

/** A counterparty as the answer shows it; nothing is known of one without detail. */
export function renderCounterparty(
  counterparty: Counterparty,
  detail: AccountDetail | undefined,
  { rows, known }: { readonly rows: PricedRows; readonly known: KnownAccounts },
): Rendered {
  const { address, interactions, calls, failedCalls, transfersIn, volumeOut, volumeIn } = counterparty;
  const { score, sanctions, ...facts } = detail ?? UNKNOWN;
  const labels = [...chainLabels(address, known, facts)];
  return {
    address: toEip55(address),
    label: labels[0] ?? null,
    labels,
    direction: directionOf(counterparty),
    interactions,
    calls,
    failed_calls: failedCalls,
    transfers_in: transfersIn,
    volume_usd: bothWays(volumeOut, volumeIn),
    volume_out: renderVolume(volumeOut, rows),
    volume_in: renderVolume(volumeIn, rows),
    first_seen: isoOf(counterparty.firstAt),
    last_seen: isoOf(counterparty.lastAt),
    ahs_score: score === null ? null : score.ahsScore,
    grade: score === null ? null : score.grade,
    scored: score !== null,
    sanctions_flags: [...sanctions],
    mixer: labels.some(({ category }) => category === "mixer"),
    owner_link: counterparty.ownerLink,
    owner_group: counterparty.ownerGroup === null ? null : toEip55(counterparty.ownerGroup),
    credit: counterparty.credit,
  };
}

/** Totals and concentration of the whole list. */
export function renderTotals({
  found: { counterparties: list, callsToItself, callsToNobody, dust },
  totals,
  incomingTruncated,
}: Pick<FoundDealings, "found" | "totals" | "incomingTruncated">): Pick<
  CounterpartiesAnswer,
  "totals" | "concentration"
> {
  return {
    totals: {
      counterparties: totals.counterparties,
      ...totals.byDirection,
      interactions: totals.interactions,
      calls: totals.calls,
      failed_calls: totals.failedCalls,
      transfers_in: totals.transfersIn,
      dust_senders: dust.senders,
      dust_transfers: dust.transfers,
      calls_to_itself: callsToItself,
      calls_to_nobody: callsToNobody,
      volume_out_usd: usdOf(totals.outMicroUsd),
      volume_in_usd: usdOf(totals.inMicroUsd),
      unpriced_counterparties: totals.unpriced,
      owned: list.filter(({ ownerLink }) => ownerLink !== null).length,
      incoming_complete: !incomingTruncated,
    },
    concentration: {
      hhi_calls: totals.callsHhi,
      hhi_volume_out: totals.outHhi,
      hhi_volume_in: totals.inHhi,
    },
  };
}

/** US dollars of millionths of them, whole ones; null where nothing prices them. */
export function usdOf(microUsd: number | null): number | null {
  return microUsd === null ? null : Math.round(microUsd) / MICRO;
}

function renderVolume(volume: Volume, rows: PricedRows): Rendered["volume_out"] {
  const symbols = new Map(rows.tokens.tokens.map(({ address, symbol }) => [address, symbol]));
  const shown = volume.tokens.slice(0, MAX_TOKENS);
  return {
    volume_usd: usdOf(volume.microUsd),
    fully_priced: volume.isPriced,
    native_wei: volume.nativeWei.toString(),
    tokens: shown.map(({ token, amount, microUsd }) => ({
      token: toEip55(token),
      symbol: symbols.get(token) ?? null,
      amount: amount.toString(),
      amount_usd: usdOf(microUsd),
    })),
    tokens_left_out: volume.tokens.length - shown.length,
  };
}

function bothWays(out: Volume, back: Volume): number | null {
  if (out.microUsd === null && back.microUsd === null) return null;
  // Nothing one way and something without a price the other: no sum of zero.
  const priced = [out, back].flatMap(({ microUsd, isPriced }) =>
    microUsd === null ? [] : { microUsd, isPriced },
  );
  const sum = priced.reduce((total, { microUsd }) => total + microUsd, 0);
  return sum === 0 && priced.length < 2 ? null : usdOf(sum);
}
