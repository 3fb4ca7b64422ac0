import type { PublishReason } from "../db/tables/publish.ts";
import type { IntentRow } from "./publish-intents.ts";
import type { PublishPolicy } from "./publish-policy.ts";

/** Reasons from the most urgent on; it is also the order in which a spent budget stops them, from the end. */
const URGENCY: Readonly<Record<PublishReason, number>> = {
  flag: 0,
  grade: 1,
  backing: 2,
  first: 3,
  move: 4,
  heartbeat: 5,
};

export type Batch = { readonly intents: readonly IntentRow[]; readonly urgent: boolean };

/** The most urgent first, then the oldest. */
export function byUrgency(a: IntentRow, b: IntentRow): number {
  return URGENCY[a.reason] - URGENCY[b.reason] || a.id - b.id;
}

/**
 * Groups intents by as-of block into transactions, the most urgent first. A batch that is not full and holds no flag waits
 * until its oldest intent is `gatherMs` old.
 */
export function toBatches(intents: readonly IntentRow[], now: Date, policy: PublishPolicy): Batch[] {
  const groups = Map.groupBy(intents.toSorted(byUrgency), (intent) => intent.score.asOfBlock);
  return [...groups.values()]
    .flatMap((group) => slices(group, policy.batchSize))
    .map((group) => ({ intents: group, urgent: group.some((intent) => intent.reason === "flag") }))
    .filter(
      (batch) => batch.urgent || batch.intents.length === policy.batchSize || isRipe(batch, now, policy),
    )
    .toSorted((a, b) => firstOf(a, b));
}

function slices<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

function isRipe(batch: Batch, now: Date, policy: PublishPolicy): boolean {
  return batch.intents.some((intent) => now.getTime() - intent.createdAt.getTime() >= policy.gatherMs);
}

/** A group is sorted, so that its first intent is its most urgent one. */
function firstOf(a: Batch, b: Batch): number {
  const [first] = a.intents;
  const [second] = b.intents;
  return first === undefined || second === undefined ? 0 : byUrgency(first, second);
}
