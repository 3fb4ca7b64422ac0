import { expect, it } from "vitest";
import { readAppealUnits } from "../../../../service/verification/escrow/appeal-price.ts";
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

/** Dependencies of a job whose escrow answers with this token, and whose provider committed 9.50 USDC. */
function depsOf(
  token: `0x${string}`,
  { generation = "G1", day = TODAY }: { readonly generation?: EscrowGeneration; readonly day?: number } = {},
) {
  const readContract = async ({ functionName }: { functionName: string }) =>
    functionName === "commitmentOf"
      ? { amount: 9_500_000n, state: 1 }
      : functionName === "getJob"
        ? { paymentToken: token }
        : token;
  const escrow = {
    address: ESCROW,
    generation,
    startBlock: 0,
    codeHash: `0x${"00".repeat(32)}` as const,
    implementation: null,
  };
  return {
    db,
    // The reader calls nothing else.
    client: { readContract } as unknown as EscrowClient,
    deployment: {
      ...{
        chainId: CHAIN_ID,
        escrows: [escrow],
        usdc: USDC,
        assuranceAccounts: { address: accountOf("ac") },
      },
      market: {
        native: { symbol: "ETH", decimals: 18, feed: FEED },
        wrappedNative: WETH,
        tokens: [{ address: WETH, symbol: "WETH", decimals: 18, feed: FEED }],
      },
    },
    now: () => new Date(day * 86_400_000),
  } as unknown as Parameters<typeof readReleasedMoney>[0];
}

/** Money that such a job pays. */
function released(jobId: bigint, ...of: Parameters<typeof depsOf>) {
  return readReleasedMoney(depsOf(...of), { chainId: CHAIN_ID, escrow: ESCROW, jobId });
}

/** Price of an appeal against a decision about it, where an ALLOW of more than 100 US dollars needs a second model. */
function priced(jobId: bigint, token: `0x${string}`, decision: "ALLOW" | "REJECT") {
  const deps = { ...depsOf(token), secondModelAboveMicroUsd: 100_000_000n };
  return readAppealUnits(deps as Parameters<typeof readAppealUnits>[0], {
    job: { chainId: CHAIN_ID, escrow: ESCROW, jobId },
    decision,
  });
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
      ('${ESCROW}:3', null), ('${ESCROW}:4', 100000001);
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

it("and the committed bond make the price of an appeal, which is sold only where it can change the decision", async () => {
  expect(await priced(1n, USDC, "ALLOW")).toBe(12_500);
  expect(await priced(1n, USDC, "REJECT")).toBe(12_500);
  expect(await priced(4n, USDC, "ALLOW")).toBe(27_376);
  expect(await priced(4n, USDC, "REJECT")).toBeNull();
  expect(await priced(2n, OTHER, "ALLOW")).toBeNull();
  expect(await priced(9n, USDC, "ALLOW")).toBeNull();
});

it("is null without a job, and unknown of an escrow that is not ours", async () => {
  const deps = { db, deployment: { chainId: CHAIN_ID, escrows: [] } } as unknown as Parameters<
    typeof readReleasedMoney
  >[0];
  expect(await readReleasedMoney(deps, null)).toBeNull();
  expect(await readReleasedMoney(deps, { chainId: CHAIN_ID, escrow: ESCROW, jobId: 1n })).toBe("unknown");
});
