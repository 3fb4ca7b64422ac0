import { type Address, zeroAddress } from "viem";
import { beforeEach, describe, expect, it } from "vitest";
import { createTransferReader } from "../../../../service/reports/profit-and-loss/wallet-transfers.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { account } from "../../model/features/histories.ts";

const CHAIN = 31337;
const WALLET = account(1);
const PEER = account(2);
const TOKEN = account(0xc0);
const QUERY = { wallet: WALLET, throughBlock: 100, since: 1_000 };

const db = useDatabase();

beforeEach(() => db.$client.query("truncate ahs.enrich_transfer, ahs.own_call"));

type Row = {
  readonly block: number;
  readonly from?: Address;
  readonly to?: Address;
  readonly token?: Address;
  readonly standard?: string;
  readonly amount?: number | null;
  readonly sender?: Address | null;
  readonly logIndex?: number;
};

/**
 * By default, the peer sends the wallet 5 of a token by a transaction of its own.
 * The time is 1,000 seconds plus the block.
 */
async function transfer({
  block,
  from = PEER,
  to = WALLET,
  token = TOKEN,
  standard = "erc20",
  amount = 5,
  sender = null,
  logIndex = 0,
}: Row): Promise<void> {
  await db.$client.query(
    `insert into ahs.enrich_transfer (chain_id, block, log_index, item, transaction_hash, timestamp, token, standard, "from",
       "to", amount, token_id, sender) values ($1, $2, $3, 0, $4, $5, $6, $7, $8, $9, $10, null, $11)`,
    [CHAIN, block, logIndex, hashOf(block), 1_000 + block, token, standard, from, to, amount, sender],
  );
}

function hashOf(block: number): string {
  return `0x${block.toString(16).padStart(64, "0")}`;
}

async function ownCall(block: number, position = 0): Promise<void> {
  await db.$client.query(
    `insert into ahs.own_call (chain_id, wallet, block, transaction_index, position, hash, origin, source, timestamp, value, ok,
       gas_limit, gas_used, gas_price_wei, fee_wei) values ($1, $2, $3, 0, $4, $5, 'erc4337', 'enrich', $6, 0, true, 1, 1, 1, 1)`,
    [CHAIN, WALLET, block, position, hashOf(block), 1_000 + block],
  );
}

const reader = () => createTransferReader(db, CHAIN);

describe("the sum of transfers that others sent", () => {
  it("is made by token, most transfers first, without those of own calls", async () => {
    await transfer({ block: 1 });
    await transfer({ block: 2, from: account(3) });
    await transfer({ block: 3, token: zeroAddress, standard: "native", logIndex: -1 });
    await transfer({ block: 4, token: account(0xc1), standard: "erc721", amount: null });
    await transfer({ block: 5, sender: WALLET });
    await transfer({ block: 6 });
    await ownCall(6, 3);
    const one = { transfers: 1, senders: 1 };
    expect(await reader().received(QUERY)).toEqual({
      truncated: false,
      tokens: [
        { token: TOKEN, standard: "erc20", transfers: 2, senders: 2, amount: 10n, lastAt: 1_002 },
        { ...one, token: zeroAddress, standard: "native", amount: 5n, lastAt: 1_003 },
        { ...one, token: account(0xc1), standard: "erc721", amount: null, lastAt: 1_004 },
      ],
    });
  });

  it("counts a transfer in another followed wallet's own call as one of others", async () => {
    await transfer({ block: 1, sender: PEER });
    expect((await reader().received(QUERY)).tokens).toHaveLength(1);
  });

  it("is not looked at before or after the question, nor of other wallets", async () => {
    await transfer({ block: 101 });
    await transfer({ block: 1, to: account(9) });
    await transfer({ block: 2 });
    expect(await reader().received({ ...QUERY, since: 1_003 })).toEqual({ tokens: [], truncated: false });
  });
});

describe("exchanges", () => {
  it("are what own calls sent, and what came back from the same accounts, newest first", async () => {
    await transfer({ block: 1, from: WALLET, to: PEER, sender: WALLET });
    await transfer({ block: 2, from: WALLET, to: PEER });
    await ownCall(2, 1);
    await transfer({ block: 3, amount: 4 });
    await transfer({ block: 4, from: account(9) });
    const { sent, returned, truncated } = await reader().exchanges(QUERY);
    expect(sent.map(({ block, peer, amount }) => [block, peer, amount])).toEqual([
      [2, PEER, 5n],
      [1, PEER, 5n],
    ]);
    expect(returned).toEqual([
      { token: TOKEN, peer: PEER, amount: 4n, block: 3, timestamp: 1_003, hash: hashOf(3), logIndex: 0 },
    ]);
    expect(truncated).toBe(false);
  });

  it("leave out what others claim that the wallet sent, transfers to itself, burns and collectibles", async () => {
    await transfer({ block: 1, from: WALLET, to: PEER });
    await transfer({ block: 2, from: WALLET, to: WALLET, sender: WALLET });
    await transfer({ block: 3, from: WALLET, to: zeroAddress, sender: WALLET });
    await transfer({ block: 4, from: WALLET, to: PEER, sender: WALLET, standard: "erc721", amount: null });
    expect(await reader().exchanges(QUERY)).toEqual({ sent: [], returned: [], truncated: false });
  });
});

describe("tokens drawn by others", () => {
  it("are those that left the wallet in transactions of others", async () => {
    await transfer({ block: 1, from: WALLET, to: PEER });
    await transfer({ block: 2, from: WALLET, to: PEER, token: account(0xc1), sender: WALLET });
    expect(await reader().drawnTokens(QUERY)).toEqual(new Set([TOKEN]));
  });
});
