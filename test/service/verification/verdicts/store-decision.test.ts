import { expect, test } from "vitest";
import { storable } from "../../../../service/verification/verdicts/store-decision.ts";

test("characters that PostgreSQL stores in no JSON are replaced, and nothing else", () => {
  const record = {
    "a\u0000": ["x\u0000y", "half \ud800 pair", "whole 😀 pair"],
    n: 1,
    none: null,
    yes: true,
  };
  expect(storable(record)).toEqual({
    "a\uFFFD": ["x\uFFFDy", "half \uFFFD pair", "whole 😀 pair"],
    n: 1,
    none: null,
    yes: true,
  });
});
