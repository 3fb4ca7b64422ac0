/** Calls that are left, as of a moment; a bucket that was never taken from is full. */
export type TokenBucket = {
  readonly tokens: number;
  /** Milliseconds of whatever clock its owner uses. */
  readonly at: number;
};

/** Seconds in which an empty bucket fills; what a rate names is what fits into it. */
export const WINDOW_SECONDS = 60;

const WINDOW_MS = WINDOW_SECONDS * 1_000;

/** Tokens in a bucket at a moment: they come back evenly, never beyond `perMinute`; a clock that went back brings none. */
export function refilled(bucket: TokenBucket | null, perMinute: number, nowMs: number): number {
  if (bucket === null) return perMinute;
  const elapsedMs = Math.max(0, nowMs - bucket.at);
  return Math.min(perMinute, bucket.tokens + (elapsedMs * perMinute) / WINDOW_MS);
}

/** Takes one token where a whole one is there; the bucket as it is afterwards, with a clock that never goes back. */
export function takeToken(
  bucket: TokenBucket | null,
  perMinute: number,
  nowMs: number,
): { readonly granted: boolean; readonly bucket: TokenBucket } {
  const tokens = refilled(bucket, perMinute, nowMs);
  const at = Math.max(nowMs, bucket?.at ?? nowMs);
  return tokens >= 1
    ? { granted: true, bucket: { tokens: tokens - 1, at } }
    : { granted: false, bucket: { tokens, at } };
}

/** Whole seconds, at least 1, after which a bucket with less than one token has one again. */
export function secondsToNext(tokens: number, perMinute: number): number {
  return Math.max(1, Math.ceil(((1 - tokens) * WINDOW_SECONDS) / perMinute));
}

/** Whole seconds after which a bucket is full again, if nothing is taken from it. */
export function secondsToFull(tokens: number, perMinute: number): number {
  return Math.max(0, Math.ceil(((perMinute - tokens) * WINDOW_SECONDS) / perMinute));
}
