import { pino } from "pino";
import type { BoughtAnswer, RepeatSlot } from "../../../service/access/access.ts";
import {
  createRepeatStore,
  type IdempotentAnswers,
  type RepeatStore,
} from "../../../service/access/idempotent-answers.ts";
import {
  type CallBuckets,
  type CallLimiter,
  createCallLimiter,
  type TokenBucket,
  takeToken,
} from "../../../service/access/rate-limits.ts";
import {
  createSpendingLimits,
  createSpendingSums,
  type SpendingLimits,
  type SpendingSums,
} from "../../../service/access/spending-limits.ts";
import type { Database } from "../../../service/db/database.ts";

/** Buckets of one process, by a clock of the test. */
export function memoryBuckets(nowMs: () => number = () => 0): CallBuckets {
  const buckets = new Map<string, TokenBucket>();
  return {
    async take({ identity, perMinute }) {
      const { granted, bucket } = takeToken(buckets.get(identity) ?? null, perMinute, nowMs());
      buckets.set(identity, bucket);
      return { granted, tokens: bucket.tokens };
    },
  };
}

/** Answers of one process, kept for ever. */
export function memoryAnswers(): IdempotentAnswers {
  const answers = new Map<string, { readonly fingerprint: string; readonly answer: BoughtAnswer | null }>();
  const idOf = ({ scope, keyHash }: RepeatSlot) => `${scope} ${keyHash}`;
  return {
    async begin(slot) {
      const known = answers.get(idOf(slot));
      if (known === undefined) {
        answers.set(idOf(slot), { fingerprint: slot.fingerprint, answer: null });
        return { kind: "begun" };
      }
      if (known.fingerprint !== slot.fingerprint) return { kind: "other-request" };
      return known.answer === null ? { kind: "running" } : { kind: "answered", answer: known.answer };
    },
    async keep(slot, answer) {
      if (answers.get(idOf(slot))?.answer === null)
        answers.set(idOf(slot), { fingerprint: slot.fingerprint, answer });
    },
    async forget(slot) {
      if (answers.get(idOf(slot))?.answer === null) answers.delete(idOf(slot));
    },
  };
}

/** Sums of spending of one process. */
function memorySums(): SpendingSums {
  const spent = new Map<string, number>();
  return {
    async take(sum, { units, limitUnits }) {
      const before = spent.get(sum) ?? 0;
      if (before + units > limitUnits) return before;
      spent.set(sum, before + units);
      return null;
    },
    async correct(sum, units) {
      spent.set(sum, (spent.get(sum) ?? 0) + units);
    },
  };
}

/** Limits of spending on a database. */
export function databaseSpending(db: Database, { now }: { readonly now: () => Date }): SpendingLimits {
  return createSpendingLimits({
    sums: createSpendingSums({ db, now }),
    now,
    logger: pino({ level: "silent" }),
  });
}

/** Limits and repeats of one process, as tests of other things take them. */
export function memoryGate(answers: IdempotentAnswers = memoryAnswers()): {
  readonly limiter: CallLimiter;
  readonly repeats: RepeatStore;
  readonly spending: SpendingLimits;
} {
  const logger = pino({ level: "silent" });
  return {
    limiter: createCallLimiter(memoryBuckets()),
    repeats: createRepeatStore(answers, logger),
    spending: createSpendingLimits({ sums: memorySums(), now: () => new Date(), logger }),
  };
}
