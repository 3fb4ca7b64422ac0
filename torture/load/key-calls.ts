import { randomUUID } from "node:crypto";
import type { Faults } from "../faults.ts";
import { pick, type Random } from "../random.ts";
import { AGENTS } from "../stand/chain.ts";
import type { StandKey } from "../stand/stand.ts";
import type { Ask } from "./ask.ts";
import { type Lane, type Operation, startLane } from "./lane.ts";

/** One paid call by key, under one Idempotency-Key however often it is asked. */
export type KeyCall = Operation & {
  readonly path: string;
  readonly units: number;
  readonly idempotencyKey: string;
  outcome: "open" | "answered" | "refused";
  body: string | null;
  /** Whether a repeat of it was answered otherwise. */
  isChanged: boolean;
};

/** Paths before an address, with their price in thousandths of a dollar as README states it. */
const PRICED = [
  ["/ahs/route/", 10],
  ["/risk/", 1],
  ["/ahs/", 1_000],
  ["/counterparties/", 100],
] as const;
/** A call of so many is asked again once it was answered: the same bytes, and no other charge. */
const REPEATED = 10;
const PACE = { everyMs: 60, atOnce: 8 };

/** Has clients make paid calls by key, some of them again after the answer. */
export function startKeyCalls({
  ask,
  key,
  random,
  faults,
}: {
  ask: Ask;
  key: StandKey;
  random: Random;
  faults: Faults;
}): Lane<KeyCall> {
  const askFor = ({ path, idempotencyKey }: KeyCall) =>
    ask({
      method: "GET",
      path,
      headers: { "x-api-key": key.secret, "idempotency-key": idempotencyKey },
      body: null,
    });
  return startLane<KeyCall>({
    name: "key calls",
    pace: PACE,
    begin: () => {
      const [path, units] = pick(random, PRICED);
      return {
        startedAt: performance.now(),
        doneAt: null,
        path: path + pick(random, AGENTS),
        units,
        idempotencyKey: randomUUID(),
        outcome: "open",
        body: null,
        isChanged: false,
      };
    },
    attempt: async (call) => {
      const asked = await askFor(call);
      switch (asked.kind) {
        case "again":
          return asked.waitMs;
        case "unpaid":
          faults.note("402 to a key with credits", `${call.path}: ${asked.body}`);
          call.outcome = "refused";
          return null;
        case "refused":
          call.outcome = "refused";
          call.doneAt = performance.now();
          noteRefusal(call.path, asked, faults);
          return null;
        case "answered":
          if (call.body !== null) {
            call.isChanged = call.body !== asked.body;
            return null;
          }
          call.outcome = "answered";
          call.doneAt = performance.now();
          call.body = asked.body;
          return random() < 1 / REPEATED ? 0 : null;
      }
    },
  });
}

/** 404: an index that is being rebuilt follows no wallet yet. Requests of these clients get no other refusal. */
export function noteRefusal(
  path: string,
  { status, body }: { readonly status: number; readonly body: string },
  faults: Faults,
): void {
  if (status !== 404) faults.note(`refused with ${status}`, `${path}: ${body}`);
}
