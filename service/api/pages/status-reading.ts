import type { Logger } from "pino";
import type { ServiceRecords } from "../../registries/nightly/service-records.ts";
import type { Readiness } from "../routes/get-readyz.ts";
import type { HealthReport } from "../verification/check-health.ts";

/** Input of the status page; null if it could not be read. */
export type StatusReading = {
  readonly at: Date;
  readonly readiness: Readiness | null;
  readonly records: ServiceRecords | null;
  /** Also null if this server does not verify outputs. */
  readonly verification: HealthReport | null;
};

const CACHED_MS = 5_000;
/** The status page must not wait for a failing part. */
const PATIENCE_MS = 3_000;

/** Reads all parts at most every five seconds, with three seconds for each. Never throws. */
export function createStatusReader(deps: {
  readonly sources: {
    readiness(): Promise<Readiness>;
    records(): Promise<ServiceRecords>;
    readonly verification: (() => Promise<HealthReport>) | null;
  };
  readonly clock: { now(): Date; monotonicMs(): number };
  readonly logger: Logger;
}): () => Promise<StatusReading> {
  let known: { readonly reading: Promise<StatusReading>; readonly until: number } | null = null;
  return () => {
    const now = deps.clock.monotonicMs();
    if (known === null || known.until <= now) known = { reading: readAll(deps), until: now + CACHED_MS };
    return known.reading;
  };
}

async function readAll({
  sources,
  clock,
  logger,
}: Parameters<typeof createStatusReader>[0]): Promise<StatusReading> {
  const [readiness, records, verification] = await Promise.all([
    readOne("readiness", () => sources.readiness(), logger),
    readOne("records", () => sources.records(), logger),
    sources.verification === null ? null : readOne("verification", sources.verification, logger),
  ]);
  return { at: clock.now(), readiness, records, verification };
}

async function readOne<Answer>(
  part: string,
  read: () => Promise<Answer>,
  logger: Logger,
): Promise<Answer | null> {
  const over = Promise.withResolvers<null>();
  const timer = setTimeout(() => over.resolve(null), PATIENCE_MS);
  try {
    return await Promise.race([read(), over.promise]);
  } catch (error) {
    logger.warn({ err: error, part }, "a part of the status page could not be read");
    return null;
  } finally {
    clearTimeout(timer);
  }
}
