import { formatUnits } from "viem";
import type { Money } from "./diagnosis/report-facts.ts";

/** Numbers in the sentences of reports; the exact values are in the fields beside them. */
const USD = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const WHOLE = new Intl.NumberFormat("en-US");
const COIN = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const MICRO_PER_CENT = 10_000;

/** Millionths of a US dollar as "1,234.50 USD": two decimals, since prices alone have a third. */
export function usdText(microUsd: number): string {
  if (microUsd !== 0 && Math.abs(microUsd) < MICRO_PER_CENT) return "less than 0.01 USD";
  return `${USD.format(microUsd / 1_000_000)} USD`;
}

/** In US dollars, or in the native coin if it has no price. */
export function moneyText({ wei, microUsd }: Money, { symbol, decimals }: NativeCoin): string {
  return microUsd === null
    ? `${COIN.format(Number(formatUnits(wei, decimals)))} ${symbol}`
    : usdText(microUsd);
}

type NativeCoin = { readonly symbol: string; readonly decimals: number };

/** "1 call", "2,000 calls". */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${WHOLE.format(count)} ${count === 1 ? singular : plural}`;
}

/** "1 of 2 calls is", "2 of 2 calls are". */
export function ofText(found: number, all: number, singular: string): string {
  return `${WHOLE.format(found)} of ${countText(all, singular)} ${found === 1 ? "is" : "are"}`;
}

export function wholeText(amount: bigint): string {
  return WHOLE.format(amount);
}

/** A share of 0 to 1 as "12.5%". */
export function percentText(share: number): string {
  if (share > 0 && share < 0.0005) return "less than 0.1%";
  const percent = Math.round(share * 1000) / 10;
  return share < 1 && percent === 100 ? "more than 99.9%" : `${percent}%`;
}

/** Unix seconds as a UTC day. */
export function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, "2026-01-05".length);
}
