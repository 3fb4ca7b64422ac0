import { getAddress } from "viem";
import { describe, expect, test } from "vitest";
import { type ContractFacts, judgeContracts, judgeFeeds } from "../../../service/chain/contract-checks.ts";

const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");

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
  [{}, "ok", "1 price feeds answer"],
  [{ ageSeconds: null, isPositive: false }, "warn", `ETH feed ${A}: does not answer`],
  [{ ageSeconds: 2 * 86_400 + 1 }, "warn", `ETH feed ${A}: 48 h old`],
  [{ isPositive: false }, "warn", `ETH feed ${A}: no price`],
])("a feed %o is %s", (change, level, detail) => {
  const feed = { symbol: "ETH", address: A, ageSeconds: 60, isPositive: true };
  expect(judgeFeeds([{ ...feed, ...change }])).toMatchObject([{ level, detail }]);
});
