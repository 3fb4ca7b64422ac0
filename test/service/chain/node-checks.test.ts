import { describe, expect, test } from "vitest";
import { judgeChainId, judgeHead, judgeMethods } from "../../../service/chain/node-checks.ts";

const HEAD = { ageSeconds: 2, finalizedDepth: 500, finalityBlocks: 600, isLocal: false };

test.each([
  [8453, 8453, "ok"],
  [1, 8453, "fail"],
])("chain %i for a deployment of %i: %s", (actual, expected, level) => {
  expect(judgeChainId(actual, expected)).toMatchObject({ level });
});

test.each([
  [{}, "ok", "newest block 2 s old, finality 500 blocks behind"],
  [{ ageSeconds: 61 }, "warn", "newest block 61 s old"],
  [{ ageSeconds: 601 }, "fail", "newest block 601 s old"],
  [{ ageSeconds: -16 }, "fail", "newest block 16 s in the future"],
  [{ finalizedDepth: null }, "warn", "newest block 2 s old, no finalized block named"],
  [{ finalizedDepth: 1_201 }, "warn", "newest block 2 s old, finality 1201 blocks behind"],
  [{ ageSeconds: 9_999, finalizedDepth: null, isLocal: true }, "ok", "newest block 9999 s old"],
])("a head %o is %s", (change, level, detail) => {
  expect(judgeHead({ ...HEAD, ...change })).toMatchObject({ level, detail });
});

describe("methods", () => {
  const all = {
    blockReceipts: "answered",
    archive: "answered",
    otterscan: "answered",
    simulate: "answered",
    traces: "answered",
  } as const;
  const levels = (facts: Parameters<typeof judgeMethods>[0]) => judgeMethods(facts).map(({ level }) => level);

  test.each([
    [{ ...all, needsOtterscan: true }, ["ok", "ok", "ok", "ok", "ok"]],
    [{ ...all, blockReceipts: "missing", needsOtterscan: false }, ["warn", "ok", "ok", "ok", "ok"]],
    [{ ...all, archive: "failed", needsOtterscan: false }, ["ok", "warn", "ok", "ok", "ok"]],
    [{ ...all, otterscan: "missing", needsOtterscan: false }, ["ok", "ok", "warn", "ok", "ok"]],
    [{ ...all, otterscan: "missing", needsOtterscan: true }, ["ok", "ok", "fail", "ok", "ok"]],
    [{ ...all, simulate: "missing", needsOtterscan: false }, ["ok", "ok", "ok", "warn", "ok"]],
    [{ ...all, traces: "missing", needsOtterscan: false }, ["ok", "ok", "ok", "ok", "warn"]],
  ] as const)("%o", (facts, expected) => {
    expect(levels(facts)).toEqual(expected);
  });
});
