import type { Logger } from "pino";
import type { Database } from "./database.ts";
import { type BatchWork, inBatches, isolateFaults } from "./isolate-faults.ts";
import { type QuarantineScope, quarantineItems, readQuarantine, releaseItems } from "./quarantine.ts";

export type WorkContext = QuarantineScope & {
  readonly db: Database;
  readonly logger: Logger;
  readonly now: () => Date;
};

export type Work = Omit<BatchWork, "batches"> & {
  /** Each once, in the order in which they are to be attempted. */
  readonly items: readonly string[];
  readonly batchSize: number;
  /** Throws where the work fails whatever the items are. */
  readonly control: () => Promise<void>;
};

/** New failures without a single success from which on the fault is taken for one of the whole. */
const MOST_WITHOUT_SUCCESS = 16;
/** Quarantined items that one run tries again, each alone. */
const MOST_AGAIN = 32;

/**
 * Works through items in batches. An item at fault is quarantined with its error, and left out until its time has come; one
 * that succeeds then is released. Where the fault is one of the whole (database out of reach, `control` fails, nothing
 * succeeds), no item is quarantined and the error is thrown.
 */
export async function workThrough(context: WorkContext, work: Work): Promise<void> {
  const { db, kind, logger, now } = context;
  const startedAt = now();
  const held = await readQuarantine(db, context);
  const fresh = work.items.filter((item) => !held.has(item));
  const dueAt = (item: string) => held.get(item)?.getTime() ?? Number.POSITIVE_INFINITY;
  const again = work.items
    .filter((item) => dueAt(item) <= startedAt.getTime())
    .toSorted((a, b) => dueAt(a) - dueAt(b));
  const batches = [...inBatches(fresh, work.batchSize), ...inBatches(again.slice(0, MOST_AGAIN), 1)];
  if (batches.length === 0) return;
  const { done, faults, untried, firstError } = await isolateFaults({ ...work, batches });
  const news = faults.filter(({ subject }) => !held.has(subject));
  if (done.length === 0 && news.length + untried.length > MOST_WITHOUT_SUCCESS) throw firstError;
  if (faults.length > 0) await work.control();
  await releaseItems(
    db,
    context,
    done.filter((item) => held.has(item)),
  );
  if (faults.length === 0) return;
  const stored = await quarantineItems(db, context, { faults, now: now() });
  const [first] = faults;
  logger.error(
    {
      kind,
      ...{ quarantined: stored, notStored: faults.length - stored, left: untried.length },
      ...{ subject: first?.subject, err: first?.error },
    },
    "items failed alone and are quarantined",
  );
}
