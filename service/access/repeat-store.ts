import type { Logger } from "pino";
import type { RepeatStore } from "./create-access.ts";
import type { IdempotentAnswers, RepeatSlot } from "./idempotent-answers.ts";
import { Problem } from "./problems.ts";
import { isIdentifierSlot } from "./repeat-slot.ts";

const RETRY_AFTER_SECONDS = 2;

/** Repeats by whatever keeps the answers. */
export function createRepeatStore(answers: IdempotentAnswers, logger: Logger): RepeatStore {
  return {
    async begin(slot) {
      const beginning = await answers.begin(slot);
      switch (beginning.kind) {
        case "begun":
          return null;
        case "answered":
          return beginning.answer;
        case "running":
          throw new Problem(
            "request-in-flight",
            `The first request with this ${nameOf(slot)} is not answered yet. Ask again for its answer.`,
            { headers: { "retry-after": String(RETRY_AFTER_SECONDS) } },
          );
        case "other-request":
          throw reused(slot);
      }
    },
    async keep(slot, answer) {
      await answers.keep(slot, answer).catch((error: unknown) => {
        logger.error({ err: error, scope: slot.scope }, "answer not kept for its Idempotency-Key");
      });
    },
    async forget(slot) {
      await answers.forget(slot).catch((error: unknown) => {
        logger.error({ err: error, scope: slot.scope }, "request not forgotten; it is at its deadline");
      });
    },
  };
}

function reused(slot: RepeatSlot): Problem {
  if (isIdentifierSlot(slot)) return identifierReused();
  return new Problem(
    "idempotency-key-reused",
    "This Idempotency-Key came with another request within the last 24 hours. Send each request with a key of its own.",
  );
}

/** The 409 that the extension asks for: one identifier of a payer names one request. */
export function identifierReused(): Problem {
  return new Problem(
    "payment-identifier-reused",
    "This payment identifier came with another request within the last 24 hours. Send each request with one of its own.",
  );
}

function nameOf(slot: RepeatSlot): string {
  return isIdentifierSlot(slot) ? "payment identifier" : "Idempotency-Key";
}
