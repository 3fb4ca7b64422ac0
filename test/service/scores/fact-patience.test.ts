import { expect, test } from "vitest";
import { createFactPatience } from "../../../service/scores/run-scoring.ts";

const MINUTE = 60_000;

/** Patience at a clock that each call sets, in minutes. */
function patienceAt() {
  let now = 0;
  const patience = createFactPatience(() => now);
  return (minutes: number, waiting: readonly string[], factsKnown: number) => {
    now = minutes * MINUTE;
    return patience(waiting, factsKnown);
  };
}

test("nobody waits longer than three minutes in which no fact came", () => {
  const late = patienceAt();
  expect(late(0, ["a"], 5)).toEqual([]);
  expect(late(2, ["a"], 6)).toEqual([]);
  expect(late(4, ["a"], 6)).toEqual([]);
  expect(late(5, ["a"], 6)).toEqual(["a"]);
});

test("whoever begins to wait when nothing has come for long is given the same three minutes", () => {
  const late = patienceAt();
  late(0, ["a"], 5);
  expect(late(10, ["a", "b"], 5)).toEqual(["a"]);
  expect(late(13, ["a", "b"], 5)).toEqual(["a", "b"]);
});

test("nobody waits longer than an hour, even if facts keep coming", () => {
  const late = patienceAt();
  for (let minute = 0; minute < 60; minute += 1) expect(late(minute, ["a"], minute)).toEqual([]);
  expect(late(60, ["a", "b"], 60)).toEqual(["a"]);
});

test("whoever no longer waits begins anew the next time", () => {
  const late = patienceAt();
  late(0, ["a"], 5);
  expect(late(4, [], 0)).toEqual([]);
  expect(late(5, ["a"], 5)).toEqual([]);
  expect(late(8, ["a"], 5)).toEqual(["a"]);
});
