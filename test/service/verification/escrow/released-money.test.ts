import { expect, it } from "vitest";
import type { EscrowClient } from "../../../../service/verification/escrow/escrow-node.ts";
import { readReleasedMoney } from "../../../../service/verification/escrow/released-money.ts";
import type { EscrowGeneration } from "../../../../service/verification/escrow/types.ts";
import { useDatabase } from "../../../support/test-database.ts";

const CHAIN_ID = 31_337;
const accountOf = (byte: string) => `0x${byte.repeat(20)}` as const;
const [ESCROW, USDC, WETH, OTHER, FEED] = [
  accountOf("e5"),
  accountOf("c0"),
  accountOf("c1"),
  accountOf("c2"),
  accountOf("fe"),
];
const TODAY = 20_777;
const db = useDatabase();

/** Money that a job pays whose escrow answers with this token. */
function released(
  jobId: bigint,
  token: `0x${string}`,
  { generation = "G1", day = TODAY }: { readonly generation?: EscrowGeneration; readonly day?: number } = {},
) {
  const readContract = async ({ functionName }: { functionName: string }) =>
    functionName === "getJob" ? { paymentToken: token } : token;
  const escrow = {
    address: ESCROW,
    generation,
    startBlock: 0,
    codeHash: `0x${"00".repeat(32)}` as const,
    implementation: null,
  };
  const deps = {
    db,
    // The reader calls nothing else.
    client: { readContract } as unknown as EscrowClient,
    deployment: {
      ...{ chainId: CHAIN_ID, escrows: [escrow], usdc: USDC },
      market: {
        native: { symbol: "ETH", decimals: 18, feed: FEED },
        wrappedNative: WETH,
        tokens: [{ address: WETH, symbol: "WETH", decimals: 18, feed: FEED }],
      },
    },
    now: () => new Date(day * 86_400_000),
  } as unknown as Parameters<typeof readReleasedMoney>[0];
  return readReleasedMoney(deps, { chainId: CHAIN_ID, escrow: ESCROW, jobId });
}

it("is what the job was funded with, by the price of its token, and unknown without one", async () => {
  expect(await released(1n, USDC)).toBe("unknown");
  await db.$client.query(`
    create schema "chain_${CHAIN_ID}";
    create table "chain_${CHAIN_ID}".block (number numeric(78) primary key, "timestamp" numeric(78) not null);
    create table "chain_${CHAIN_ID}".verdict_event ();
    create table "chain_${CHAIN_ID}".job (id text primary key, funded numeric(78));
    insert into "chain_${CHAIN_ID}".block values (1, 1);
    insert into "chain_${CHAIN_ID}".job values ('${ESCROW}:1', 40500000), ('${ESCROW}:2', 10000000000000001),
      ('${ESCROW}:3', null);
    insert into ahs.feed_price (chain_id, feed, day, block, answer, decimals)
    values (${CHAIN_ID}, '${FEED}', ${TODAY - 1}, 1, 300000000000, 8), (${CHAIN_ID}, '${FEED}', ${TODAY - 2}, 1, 1, 8)`);
  expect(await released(1n, USDC)).toBe(40_500_000n);
  expect(await released(1n, USDC, { generation: "G3" })).toBe(40_500_000n);
  // A hundredth of 3,000 dollars, and a little more.
  expect(await released(2n, WETH, { generation: "V3" })).toBe(30_000_001n);
  expect(await released(2n, WETH, { day: TODAY + 6 })).toBe("unknown");
  expect(await released(2n, OTHER)).toBe("unknown");
  expect(await released(3n, USDC)).toBe("unknown");
  expect(await released(9n, USDC)).toBe("unknown");
});

it("is none without a job, and unknown of an escrow that is not ours", async () => {
  const deps = { db, deployment: { chainId: CHAIN_ID, escrows: [] } } as unknown as Parameters<
    typeof readReleasedMoney
  >[0];
  expect(await readReleasedMoney(deps, null)).toBeNull();
  expect(await readReleasedMoney(deps, { chainId: CHAIN_ID, escrow: ESCROW, jobId: 1n })).toBe("unknown");
});
