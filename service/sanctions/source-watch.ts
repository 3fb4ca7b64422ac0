import type { SourceStatus } from "./sources.ts";

/** What is known of the sources without asking for it at every call. */
export type SourceWatch = () => Promise<readonly SourceStatus[]>;

/** What a hash of a whole list costs is paid once in this time, however often somebody asks. */
const KEEP_MS = 10_000;

/**
 * Reads the sources anew after ten seconds; while they cannot be read, what was known last stays, and grows old by its own
 * dates. Throws the failure only as long as nothing was ever known.
 */
export function createSourceWatch(options: {
  readonly read: () => Promise<readonly SourceStatus[]>;
  readonly monotonicMs: () => number;
}): SourceWatch {
  let known: readonly SourceStatus[] | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let running: Promise<readonly SourceStatus[]> | null = null;
  const renew = async (): Promise<readonly SourceStatus[]> => {
    readAt = options.monotonicMs();
    try {
      known = await options.read();
      return known;
    } catch (error) {
      if (known === null) throw error;
      return known;
    } finally {
      running = null;
    }
  };
  return () => {
    if (known !== null && options.monotonicMs() - readAt < KEEP_MS) return Promise.resolve(known);
    running ??= renew();
    return running;
  };
}

/** Seconds since the source was known to say what it says; null where it never was. */
export function ageSeconds({ checkedAt }: SourceStatus, now: Date): number | null {
  return checkedAt === null ? null : Math.max(0, Math.floor((now.getTime() - checkedAt.getTime()) / 1000));
}
