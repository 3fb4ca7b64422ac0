import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { walletInterest } from "../../../service/db/tables/score.ts";
import { readAgentCards } from "../../../service/registries/documents/agent-cards.ts";
import { readAgentNames } from "../../../service/registries/documents/agent-names.ts";
import { createActivityReader } from "../../../service/scores/wallet-activity.ts";
import { createInterestRecorder, createWalletLifeReader } from "../../../service/scores/wallet-reads.ts";
import { useDatabase } from "../../support/test-database.ts";
import { account } from "../model/features/histories.ts";

const WALLET = account(1);
const HOUR = 3_600_000;

const db = useDatabase();

async function lastAt(chainId: number): Promise<Date | undefined> {
  const [row] = await db.select().from(walletInterest).where(eq(walletInterest.chainId, chainId));
  return row?.lastAt;
}

describe("recording interest", () => {
  it("writes a wallet at most once an hour", async () => {
    let now = new Date("2026-11-20T10:00:00Z");
    const record = createInterestRecorder(db, 1, () => now);
    await record(WALLET);
    now = new Date(now.getTime() + HOUR - 1);
    await record(WALLET);
    expect(await lastAt(1)).toEqual(new Date("2026-11-20T10:00:00Z"));
    now = new Date(now.getTime() + 1);
    await record(WALLET);
    expect(await lastAt(1)).toEqual(new Date("2026-11-20T11:00:00Z"));
  });

  it("never moves backwards when another process was later", async () => {
    const later = createInterestRecorder(db, 2, () => new Date("2026-11-20T12:00:00Z"));
    const earlier = createInterestRecorder(db, 2, () => new Date("2026-11-20T11:00:00Z"));
    await later(WALLET);
    await earlier(WALLET);
    expect(await lastAt(2)).toEqual(new Date("2026-11-20T12:00:00Z"));
  });

  it("tries again after a failed write", async () => {
    const record = createInterestRecorder(db, 3, () => new Date("2026-11-20T10:00:00Z"));
    await db.$client.query("alter table ahs.wallet_interest rename to gone");
    await expect(record(WALLET)).rejects.toThrow();
    await db.$client.query("alter table ahs.gone rename to wallet_interest");
    await record(WALLET);
    expect(await lastAt(3)).toEqual(new Date("2026-11-20T10:00:00Z"));
  });
});

const CHAIN = 31337;

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
    const unknown = { first: null, last: null, hasCode: null };
    expect(await createWalletLifeReader(db, CHAIN)(account(9), 100)).toEqual(unknown);
  });
});

describe("the activity of a wallet", () => {
  it("has its first and last own call, their number, and the calls of each week", async () => {
    const now = new Date((1_200 + 8 * 86_400) * 1_000);
    expect(await createActivityReader(db, CHAIN)(WALLET, now)).toEqual({
      first: new Date(1_003_000),
      last: new Date(1_200_000),
      calls: 3,
      weeks: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0],
    });
    expect(await createActivityReader(db, 1)(WALLET, now)).toMatchObject({
      first: null,
      last: null,
      calls: 0,
    });
  });
});

describe("the agents of a wallet", () => {
  const bazaar = {
    ...({
      name: "Agent Bazaar",
      kind: "erc8004",
      address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    } as const),
    startBlock: 1,
  };
  const alone = { chainId: 7, registries: [] };
  const both = { chainId: 7, registries: [bazaar] };

  it("are the first three by number, with the words of their documents", async () => {
    await db.$client.query(`
      create schema chain_7;
      create table chain_7.agent (agent_id numeric(78) primary key, registered_at numeric, registered_block numeric);
      create table chain_7.agent_wallet (agent_id numeric(78), wallet text, to_block numeric);
      create table chain_7.block (number numeric primary key, timestamp numeric);
      insert into chain_7.block values (20, 1020);
      insert into chain_7.agent select n, 1000 + n, n from generate_series(1, 5) n;
      insert into chain_7.agent_wallet select n, '${WALLET}', case when n = 1 then 9 end from generate_series(1, 5) n;
      insert into ahs.agent_document (chain_id, agent_id, uri, state, name, description, services, attempts)
      values (7, 3, 'u', 'current', 'Atlas', 'Trades.', '[{"name":"MCP","endpoint":"https://a.example","version":null}]', 0);
      insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, name, registered_block, updated_block)
      select 7, registry, agent_id, wallet, name, block, block from (values
        ('${bazaar.address.toLowerCase()}', 3, '${WALLET}', 'Atlas at the bazaar', 20),
        ('${bazaar.address.toLowerCase()}', 4, '${WALLET}', null, 30),
        ('${bazaar.address.toLowerCase()}', 5, '${account(2)}', 'Courier', 20),
        ('${account(9)}', 1, '${WALLET}', 'Of a registry that is no longer read', 20)
      ) registered (registry, agent_id, wallet, name, block);`);
    const unread = { registry: null, name: null, description: null, state: null, services: [] };
    expect(await readAgentCards(db, alone, WALLET)).toEqual({
      agents: 4,
      cards: [
        { ...unread, agentId: 2n, registeredBlock: 2, registeredAt: new Date(1_002_000) },
        {
          ...{ agentId: 3n, registry: null, name: "Atlas", description: "Trades.", state: "current" },
          services: [{ name: "MCP", endpoint: "https://a.example", version: null }],
          ...{ registeredBlock: 3, registeredAt: new Date(1_003_000) },
        },
        { ...unread, agentId: 4n, registeredBlock: 4, registeredAt: new Date(1_004_000) },
      ],
    });
  });

  it("are those of every registry, the first of each before the second", async () => {
    const { agents, cards } = await readAgentCards(db, both, WALLET);
    expect(agents).toBe(6);
    expect(cards.map(({ agentId, registry, name }) => [agentId, registry?.name ?? null, name])).toEqual([
      [2n, null, null],
      [3n, "Agent Bazaar", "Atlas at the bazaar"],
      [3n, null, "Atlas"],
    ]);
    expect(cards[1]).toMatchObject({ registeredBlock: 20, registeredAt: new Date(1_020_000), state: null });
  });

  it("have their registry's name in lists, those of the followed registry first", async () => {
    const names = await readAgentNames(db, both, [WALLET, account(2)]);
    expect(names.get(account(2))).toEqual([{ agentId: 5n, name: "Courier", registry: bazaar }]);
    expect(names.get(WALLET)?.map(({ agentId, registry }) => [agentId, registry])).toEqual([
      [2n, null],
      [3n, null],
      [4n, null],
    ]);
    await db.$client.query("update chain_7.agent_wallet set to_block = 9 where agent_id > 3");
    expect((await readAgentNames(db, both, [WALLET])).get(WALLET)).toEqual([
      { agentId: 2n, name: null, registry: null },
      { agentId: 3n, name: "Atlas", registry: null },
      { agentId: 3n, name: "Atlas at the bazaar", registry: bazaar },
    ]);
    expect((await readAgentNames(db, alone, [account(2)])).size).toBe(0);
  });
});
