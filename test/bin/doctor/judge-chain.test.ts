import { getAddress } from "viem";
import { describe, expect, test } from "vitest";
import {
  type ContractFacts,
  judgeBalance,
  judgeBonds,
  judgeChainId,
  judgeContracts,
  judgeFeedback,
  judgeFeeds,
  judgeHead,
  judgeMethods,
  judgeRequestFee,
  judgeRole,
  judgeSchemes,
} from "../../../bin/doctor/judge-chain.ts";

const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");
const B = getAddress("0xde709f2102306220921060314715629080e2fb77");
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

test.each([
  [0n, "warn", "a request to follow a wallet costs 0 ETH"],
  [1n, "ok", "a request to follow a wallet costs 0.000000000000000001 ETH"],
  [7n, "ok", "a request to follow a wallet costs 0.000000000000000007 ETH"],
  [8n, "warn", "a request to follow a wallet costs 0.000000000000000008 ETH"],
])("a request fee of %i wei is %s", (feeWei, level, detail) => {
  expect(judgeRequestFee({ feeWei, maxFeeWei: 7n })).toMatchObject({ level, detail });
});

test.each([
  [null, "skip"],
  [{ found: [A, B], expected: [A, B] }, "ok"],
  [{ found: [A, B], expected: [B, B] }, "fail"],
  [{ found: [A, B], expected: [A, A] }, "fail"],
  [{ found: [A, B], expected: [null, B] }, "fail"],
])("bonds of evaluator and USDC %o are %s", (bonds, level) => {
  expect(judgeBonds(bonds)).toMatchObject({ level });
});

test.each([
  [null, true, "skip"],
  [{ agentsOf: A, expected: A }, true, "ok"],
  [{ agentsOf: A, expected: A }, false, "warn"],
  [{ agentsOf: A, expected: B }, true, "fail"],
])("feedback about the agents of %o, with a public address %s: %s", (registry, hasPublicUrl, level) => {
  expect(judgeFeedback(registry, hasPublicUrl)).toMatchObject({ level });
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

describe("contracts", () => {
  const contract = (change: Partial<ContractFacts>): ContractFacts => ({
    ...{ what: "oracle", address: A, isEssential: true, hasCode: true, isKnownCode: true },
    ...change,
  });

  test.each<[Partial<ContractFacts>, string, string]>([
    [{}, "ok", "code at all 1 addresses"],
    [{ hasCode: false }, "fail", `oracle ${A}: no code`],
    [{ hasCode: false, isEssential: false }, "warn", `oracle ${A}: no code`],
    [{ isKnownCode: false }, "fail", `oracle ${A}: other code than in the deployment`],
  ])("%o is %s", (change, level, detail) => {
    expect(judgeContracts([contract(change)])).toMatchObject([{ level, detail }]);
  });

  test("each bad one is named, and no good one", () => {
    const found = judgeContracts([
      contract({}),
      contract({ what: "a", hasCode: false }),
      contract({ what: "b", hasCode: false }),
    ]);
    expect(found.map(({ detail }) => detail)).toEqual([`a ${A}: no code`, `b ${A}: no code`]);
  });
});

test.each([
  [[], "ok"],
  [[{ scheme: "upto", hasCode: true }], "ok"],
  [[{ scheme: "upto", hasCode: false }], "fail"],
])("schemes %j are %s", (schemes, level) => {
  expect(judgeSchemes(schemes)).toMatchObject([{ level }]);
});

test.each([
  [null, [A], "skip"],
  [A, [B, A], "ok"],
  [A, [B], "fail"],
  [A, [], "fail"],
])("a key of %s under %o is %s", (configured, onChain, level) => {
  expect(judgeRole({ role: "signer", configured, onChain })).toMatchObject({ level });
});

test.each([
  [99n, "fail"],
  [100n, "warn"],
  [999n, "warn"],
  [1_000n, "ok"],
])("a balance of %i wei is %s", (wei, level) => {
  const purse = { role: "publisher", address: A, gasPrice: 10n, gasOnce: 10n, gasDaily: 100n };
  expect(judgeBalance({ ...purse, wei })).toMatchObject({ level });
});

test.each([
  [{}, "ok", "1 price feeds answer"],
  [{ ageSeconds: null, isPositive: false }, "warn", `ETH feed ${A}: does not answer`],
  [{ ageSeconds: 2 * 86_400 + 1 }, "warn", `ETH feed ${A}: 48 h old`],
  [{ isPositive: false }, "warn", `ETH feed ${A}: no price`],
])("a feed %o is %s", (change, level, detail) => {
  const feed = { symbol: "ETH", address: A, ageSeconds: 60, isPositive: true };
  expect(judgeFeeds([{ ...feed, ...change }])).toMatchObject([{ level, detail }]);
});
