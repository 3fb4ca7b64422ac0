import type { Address } from "viem";
import { expect, test } from "vitest";
import { feedPrice } from "../../../../service/db/tables/enrich.ts";
import { readTokenList } from "../../../../service/scores/read/read-rows.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { account, DAY, START } from "../../model/features/histories.ts";

const ETH_FEED = account(0xfe1);
const NEW_FEED = account(0xfe2);
const TODAY = START / DAY;
const AS_OF = { blockNumber: 100, blockHash: `0x${"ab".repeat(32)}`, timestamp: START + 5_000 } as const;

const db = useDatabase();

test("holds the prices of days that are over, in millionths of a dollar, and the first where none is over", async () => {
  await db
    .insert(feedPrice)
    .values([
      answer(ETH_FEED, TODAY - 2, 2_000_50000000n, 8),
      answer(ETH_FEED, TODAY - 1, 2_100_00000050n, 8),
      answer(ETH_FEED, TODAY, 2_200_00000000n, 8),
      { ...answer(ETH_FEED, TODAY - 5, 1n, 8), block: 101 },
      answer(NEW_FEED, TODAY, 1_00n, 2),
    ]);
  const market = {
    native: { symbol: "ETH", decimals: 18, feed: ETH_FEED },
    wrappedNative: null,
    tokens: [
      { address: account(0xc2), symbol: "NEW", decimals: 6, feed: NEW_FEED },
      { address: account(0xc1), symbol: "NONE", decimals: 18, feed: null },
    ],
  };
  const client = await db.$client.connect();
  const list = await readTokenList(client, { chainId: 31_337, market, enriched: AS_OF });
  client.release();
  expect(list).toEqual({
    native: {
      symbol: "ETH",
      decimals: 18,
      prices: [
        [TODAY - 2, 2_000_500_000],
        [TODAY - 1, 2_100_000_001],
      ],
    },
    tokens: [
      { address: account(0xc1), symbol: "NONE", decimals: 18, prices: [] },
      { address: account(0xc2), symbol: "NEW", decimals: 6, prices: [[TODAY, 1_000_000]] },
    ],
  });
});

function answer(feed: Address, day: number, value: bigint, decimals: number) {
  return { chainId: 31_337, feed, day, block: 50, answer: value, decimals };
}
