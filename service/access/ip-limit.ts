import { type CallSource, clientAddress, type TrustedProxies } from "./client-address.ts";
import type { LimitState } from "./rate-limit-answer.ts";
import { type TokenBucket, takeToken, WINDOW_SECONDS } from "./token-bucket.ts";

/** Counts a call against its address; null when it is let through, else what it found. */
export type IpLimit = (source: CallSource) => LimitState | null;

export type IpLimitOptions = {
  readonly perMinute: number;
  readonly trustedProxies: TrustedProxies;
  readonly monotonicMs: () => number;
  /** Addresses remembered at most; beyond them those that were quiet longest are forgotten before their buckets are full. */
  readonly maxAddresses: number;
};

const WINDOW_MS = WINDOW_SECONDS * 1_000;

/**
 * Token buckets by address in this process. Two generations of them are kept, turned once a window: a bucket of the older one
 * that nobody took from meanwhile is full again, so that forgetting it changes nothing. Calls without a socket are not counted.
 */
export function createIpLimit({
  perMinute,
  trustedProxies,
  monotonicMs,
  maxAddresses,
}: IpLimitOptions): IpLimit {
  let young = new Map<string, TokenBucket>();
  let old = new Map<string, TokenBucket>();
  let turnedAt = monotonicMs();

  function turnIfDue(now: number): void {
    const isDue = now - turnedAt >= WINDOW_MS;
    if (!isDue && young.size < maxAddresses / 2) return;
    old = isDue && now - turnedAt >= 2 * WINDOW_MS ? new Map() : young;
    young = new Map();
    turnedAt = now;
  }

  return (source) => {
    const address = clientAddress(source, trustedProxies);
    if (address === null) return null;
    const now = monotonicMs();
    turnIfDue(now);
    const known = young.get(address) ?? old.get(address) ?? null;
    const { granted, bucket } = takeToken(known, perMinute, now);
    young.set(address, bucket);
    return granted ? null : { policy: "ip", perMinute, tokens: bucket.tokens };
  };
}
