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
  const kept = new Map<string, { readonly fingerprint: string; readonly answer: BoughtAnswer | null }>();
  const idOf = ({ scope, keyHash }: RepeatSlot) => `${scope} ${keyHash}`;
  return {
    async begin(slot) {
      const known = kept.get(idOf(slot));
      if (known === undefined) {
        kept.set(idOf(slot), { fingerprint: slot.fingerprint, answer: null });
        return { kind: "begun" };
      }
      if (known.fingerprint !== slot.fingerprint) return { kind: "other-request" };
      return known.answer === null ? { kind: "running" } : { kind: "answered", answer: known.answer };
    },
    async keep(slot, answer) {
      if (kept.get(idOf(slot))?.answer === null)
        kept.set(idOf(slot), { fingerprint: slot.fingerprint, answer });
    },
    async forget(slot) {
      if (kept.get(idOf(slot))?.answer === null) kept.delete(idOf(slot));
    },
  };
}

/** Limiter and repeats of one process, as tests of other things take them. */
export function memoryGate(answers: IdempotentAnswers = memoryAnswers()): {
  readonly limiter: CallLimiter;
  readonly repeats: RepeatStore;
} {
  return {
    limiter: createCallLimiter(memoryBuckets()),
    repeats: createRepeatStore(answers, pino({ level: "silent" })),
  };
}
