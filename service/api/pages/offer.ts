import { hash } from "node:crypto";
import type { Address } from "viem";

const DAY_MS = 86_400_000;
/** An answer is kept for 24 hours; what a form this much younger bought is still known of. */
const VALID_MS = 23 * 3_600_000;
/** How far the clocks of two servers may be apart. */
const SKEW_MS = 60_000;
const FORM = /^page-([0-9]{1,15})$/;

/** What a form carries that sells something: the moment at which it was shown. */
export function newOffer(now: Date): string {
  return `page-${now.getTime()}`;
}

/** The moment at which a form was shown; null for what is none of ours, and for one so old that its repeat would not be known for one. */
export function openOffer(offer: string, now: Date): Date | null {
  const shown = FORM.exec(offer)?.[1];
  if (shown === undefined) return null;
  const age = now.getTime() - Number(shown);
  return age >= -SKEW_MS && age < VALID_MS ? new Date(Number(shown)) : null;
}

/**
 * The Idempotency-Key of all forms that sell a wallet's report on a UTC day. Whoever knows it can do nothing with it: such keys
 * are told apart by the API key that they come with.
 */
export function purchaseKey(wallet: Address, at: Date): string {
  return `page-report-${wallet.toLowerCase()}-${at.toISOString().slice(0, 10)}`;
}

/**
 * Hashes of the keys under which a report may have been bought that is still kept: a form of one day buys until the end of the
 * next, its answer is kept for another, and a server whose clock is ahead may have begun one more.
 */
export function purchaseHashes(wallet: Address, now: Date): readonly string[] {
  const moments = [SKEW_MS, 0, -DAY_MS, -2 * DAY_MS].map((shift) => new Date(now.getTime() + shift));
  const keys = new Set(moments.map((at) => purchaseKey(wallet, at)));
  return [...keys].map((key) => hash("sha256", key, "hex"));
}
