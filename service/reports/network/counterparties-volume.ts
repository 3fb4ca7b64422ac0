import type { Address } from "viem";
import type { Market } from "../../model/features/market.ts";
import { compareTexts } from "../diagnosis/compare.ts";

/** What moved of one token; worth in millionths of a US dollar at the prices of the days, null where no feed prices it. */
type TokenVolume = {
  readonly token: Address;
  readonly amount: bigint;
  readonly microUsd: number | null;
};

/** What moved one way between a wallet and a counterparty. */
export type Volume = {
  readonly nativeWei: bigint;
  /** Listed and priced ones first by worth, then the others by rising address. */
  readonly tokens: readonly TokenVolume[];
  /** Worth of all that has a price, in millionths of a US dollar; null where something moved and nothing of it has one. */
  readonly microUsd: number | null;
  /** Whether all that moved has a price. */
  readonly isPriced: boolean;
};

/** What moved where nothing did. */
export const NO_VOLUME: Volume = { nativeWei: 0n, tokens: [], microUsd: 0, isPriced: true };

/** Adds up what moves one way; amounts that are not above zero are left out. */
export type VolumeTally = {
  addNative(wei: bigint, timestamp: number): void;
  addToken(token: Address, amount: bigint, timestamp: number): void;
  volume(): Volume;
};

/** A tally that prices every movement at its own day. */
export function createVolumeTally(market: Market): VolumeTally {
  let nativeWei = 0n;
  let native = 0;
  let isNativePriced = true;
  const tokens = new Map<Address, { amount: bigint; microUsd: number | null }>();
  return {
    addNative(wei, timestamp) {
      if (wei <= 0n) return;
      nativeWei += wei;
      const worth = market.nativeWorth(wei, timestamp);
      if (worth === null) isNativePriced = false;
      else native += worth;
    },
    addToken(token, amount, timestamp) {
      if (amount <= 0n) return;
      const known = tokens.get(token);
      const worth = market.tokenWorth(token, amount, timestamp);
      const before = known === undefined ? 0 : known.microUsd;
      tokens.set(token, {
        amount: (known === undefined ? 0n : known.amount) + amount,
        microUsd: before === null || worth === null ? null : before + worth,
      });
    },
    volume() {
      const moved = [...tokens].map(([token, sum]): TokenVolume => ({ token, ...sum })).sort(byWorth);
      const priced = moved.flatMap(({ microUsd }) => microUsd ?? []);
      const isPriced = isNativePriced && priced.length === moved.length;
      const hasWorth = (nativeWei > 0n && isNativePriced) || priced.length > 0;
      const isEmpty = nativeWei === 0n && moved.length === 0;
      const worth = priced.reduce((sum, microUsd) => sum + microUsd, native);
      return { nativeWei, tokens: moved, microUsd: hasWorth || isEmpty ? worth : null, isPriced };
    },
  };
}

function byWorth(one: TokenVolume, other: TokenVolume): number {
  const worths = (other.microUsd ?? -1) - (one.microUsd ?? -1);
  return worths !== 0 ? worths : compareTexts(one.token, other.token);
}
