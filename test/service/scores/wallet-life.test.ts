import { describe, expect, it } from "vitest";
import { createWalletLifeReader } from "../../../service/scores/wallet-life.ts";
import { useDatabase } from "../../support/test-database.ts";
import { account } from "../model/features/histories.ts";

const CHAIN = 31337;
const WALLET = account(1);

const db = useDatabase();

function hashOf(block: number): string {
  return `0x${block.toString(16).padStart(64, "0")}`;
}

async function ownCall(block: number): Promise<void> {
  await db.$client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value, ok,
       gas_limit, gas_used, gas_price_wei, fee_wei) values ($1, $2, $3, 0, 0, $4, 'transaction', 'enrich', $5, 0, true, 1, 1, 1, 1)`,
    [CHAIN, WALLET, block, hashOf(block), 1_000 + block],
  );
}

describe("the life of a wallet", () => {
  it("runs from its first to its last own call up to the block", async () => {
    for (const block of [7, 3, 200]) await ownCall(block);
    await db.$client.query(
      `insert into ahs.account_fact (chain_id, address, has_code, source, read_block) values ($1, $2, false, 'index', 1)`,
      [CHAIN, WALLET],
    );
    expect(await createWalletLifeReader(db, CHAIN)(WALLET, 100)).toEqual({
      first: { block: 3, timestamp: 1_003, hash: hashOf(3) },
      last: { block: 7, timestamp: 1_007, hash: hashOf(7) },
      hasCode: false,
    });
  });

  it("of one that nothing is known of is unknown", async () => {
    expect(await createWalletLifeReader(db, CHAIN)(account(9), 100)).toEqual({
      first: null,
      last: null,
      hasCode: null,
    });
  });
});
