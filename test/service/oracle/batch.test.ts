import { expect, test } from "vitest";
import type { PublishReason } from "../../../service/db/tables/publish.ts";
import { toBatches } from "../../../service/oracle/batch.ts";
import type { IntentRow } from "../../../service/oracle/publish-intents.ts";
import { defaultPublishPolicy as policy } from "../../../service/oracle/publish-policy.ts";

const now = new Date("2026-11-20T12:00:00Z");
const old = new Date(now.getTime() - policy.gatherMs);

function intent(id: number, fields: { asOf: number; reason?: PublishReason; createdAt?: Date }): IntentRow {
  const { asOf, reason = "move", createdAt = old } = fields;
  const score = {
    id,
    wallet: `0x${id}` as const,
    asOfBlock: asOf,
    asOfTime: now,
    modelVersion: "AHS-2026.0",
    ahsScore: 1,
    d1Score: 1,
    d2Score: 1,
    confidenceMicros: 1,
    sanctioned: false,
  };
  const planned = { attempts: 0, notBefore: null, createdAt, transaction: null };
  return { id, reason, state: "pending", safeMicroUsd: 0n, ...planned, score };
}

const idsOf = (intents: readonly IntentRow[]) =>
  toBatches(intents, now, policy).map((batch) => batch.intents.map(({ id }) => id));

test("scores of different blocks never share a batch", () => {
  expect(idsOf([intent(1, { asOf: 5 }), intent(2, { asOf: 6 }), intent(3, { asOf: 5 })])).toEqual([
    [1, 3],
    [2],
  ]);
});

test("a batch holds at most a hundred", () => {
  const intents = Array.from({ length: 250 }, (_, id) => intent(id, { asOf: 5 }));
  expect(idsOf(intents).map((ids) => ids.length)).toEqual([100, 100, 50]);
});

test("the most urgent go first, in the first batch of their block", () => {
  const intents = [
    intent(1, { asOf: 5, reason: "heartbeat" }),
    intent(2, { asOf: 6, reason: "first" }),
    intent(3, { asOf: 6, reason: "flag" }),
    intent(4, { asOf: 7, reason: "grade" }),
  ];
  expect(idsOf(intents)).toEqual([[3, 2], [4], [1]]);
});

test("a batch that is not full waits for more, unless it holds a flag or one that waited long enough", () => {
  const young = { createdAt: new Date(now.getTime() - policy.gatherMs + 1) };
  expect(idsOf([intent(1, { asOf: 5, ...young })])).toEqual([]);
  expect(idsOf([intent(1, { asOf: 5, reason: "flag", ...young })])).toEqual([[1]]);
  expect(idsOf([intent(1, { asOf: 5, ...young }), intent(2, { asOf: 5 })])).toEqual([[1, 2]]);
  expect(idsOf(Array.from({ length: 100 }, (_, id) => intent(id, { asOf: 5, ...young })))).toHaveLength(1);
});
