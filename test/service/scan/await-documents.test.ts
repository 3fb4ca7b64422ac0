import { expect, test } from "vitest";
import { awaitDocuments } from "../../../service/scan/await-documents.ts";

const patience = { maxMs: 100, stallMs: 30, pollMs: 0 };
const forever = new AbortController().signal;

/** Documents due at each look, the last for ever, and a clock that moves ten milliseconds a look. */
function waitFor(due: readonly number[]) {
  let looks = 0;
  const countDue = async () => due[Math.min(looks++, due.length - 1)] ?? 0;
  return awaitDocuments({ countDue, patience, monotonicMs: () => looks * 10 }, forever);
}

test.each([
  { title: "nothing is due", due: [0], left: 0 },
  { title: "all are read", due: [3, 2, 1, 0], left: 0 },
  { title: "nobody reads any", due: [7], left: 7 },
  {
    title: "reading them goes on, but for too long",
    due: Array.from({ length: 50 }, (_, i) => 90 - i),
    left: 81,
  },
])("the scan goes on when $title", async ({ due, left }) => {
  expect(await waitFor(due)).toBe(left);
});

test("the end of the process ends the wait", async () => {
  const stopped = AbortSignal.abort(new Error("stopped"));
  const wait = { countDue: async () => 1, patience, monotonicMs: () => 0 };
  await expect(awaitDocuments(wait, stopped)).rejects.toThrow();
});
