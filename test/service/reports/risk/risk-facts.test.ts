import type { Address } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { currentScore, score } from "../../../../service/db/tables/score.ts";
import { riskFactsLoader } from "../../../../service/reports/risk/risk-facts.ts";
import { useDatabase } from "../../../support/test-database.ts";
import { createIndexTables } from "../../db/index-tables.ts";

const CHAIN = 31337;
const OTHER_CHAIN = 1;
const MIXER = "0xABCDEF0000000000000000000000000000000001";
const PATTERN = { name: "retry_storm", severity: "warning", effect: -2, evidence: "2 times" } as const;
const NOBODY = { counterparties: 0, sentMicroUsd: 0, unpricedCalls: 0 };

const db = useDatabase();
let load: ReturnType<typeof riskFactsLoader>;

beforeAll(async () => {
  await createIndexTables(db, CHAIN);
  await db.$client.query("insert into ahs.enrich_cursor values ($1, 970, '0x')", [CHAIN]);
  load = riskFactsLoader(db, { chainId: CHAIN, mixers: [MIXER] });
});

function account(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

async function follow(wallet: Address): Promise<void> {
  await db.$client.query("insert into ahs.enrich_wallet (chain_id, wallet, from_block) values ($1, $2, 1)", [
    CHAIN,
    wallet,
  ]);
}

type Dealing = { readonly by: Address; readonly with: Address; readonly calls: number; readonly usd: number };

async function deal(of: Dealing, chainId = CHAIN): Promise<void> {
  await db.$client.query(
    `insert into ahs.contact (chain_id, account, counterparty, calls, sent_micro_usd, first_block, first_time, last_block, last_time)
     values ($1, $2, $3, $4, $5, 10, 1790000000, 20, 1790000100)`,
    [chainId, of.by, of.with, of.calls, of.usd * 1e6],
  );
}

async function grade(wallet: Address, letter: "B" | "F"): Promise<number> {
  const shared = {
    chainId: CHAIN,
    wallet,
    asOfBlock: 970,
    asOfTime: new Date("2026-11-20T09:00:00Z"),
    ahsScore: letter === "F" ? 5 : 80,
    grade: letter,
    confidenceMicros: 800_000,
    confidenceLevel: "HIGH" as const,
    sanctioned: false,
  };
  const [row] = await db
    .insert(score)
    .values({
      ...shared,
      asOfHash: "0x",
      modelVersion: "AHS-2026.2",
      d1Score: 5,
      d2Score: 5,
      sanctionsFlags: [],
      patterns: [PATTERN],
      features: [],
      coverage: { fromBlock: 1, fromTimestamp: 1, toBlock: 970, complete: true, sources: ["index"] },
      inputsHash: `0x${wallet}`,
    })
    .returning();
  if (row === undefined) throw new Error("nothing was inserted");
  await db.insert(currentScore).values({ ...shared, scoreId: row.id });
  return row.id;
}

async function list(address: Address, listed: boolean, block: number): Promise<void> {
  await db.$client.query(
    `insert into "chain_31337".sanctions_change values ($1, $2, $3, $4, 0, 1794000000, '0x')`,
    [`${address}-${block}`, address, listed, block],
  );
}

describe("the exposure of a wallet", () => {
  it("is read of many wallets at once, each its own", async () => {
    const [scored, followed, stranger] = [account(1), account(2), account(3)];
    const scoreId = await grade(scored, "B");
    for (const wallet of [scored, followed]) await follow(wallet);
    await deal({ by: scored, with: account(4), calls: 3, usd: 30 });
    const facts = await Promise.all([
      load({ address: scored, scoreId }),
      load({ address: followed, scoreId: null }),
      load({ address: stranger, scoreId: null }),
      load({ address: scored, scoreId: null }),
    ]);
    const exposure = {
      asOfBlock: 970,
      since: 1_790_000_000,
      counterparties: 1,
      calls: 3,
      sentMicroUsd: 30e6,
      truncated: false,
      listed: [],
      failing: NOBODY,
    };
    expect(facts).toEqual([
      { explanation: { patterns: [PATTERN], features: [] }, exposure },
      { explanation: null, exposure: "no_contacts" },
      { explanation: null, exposure: "not_followed" },
      { explanation: null, exposure },
    ]);
  });

  it("distinguishes listed, mixing and failing counterparties, one that is both as listed", async () => {
    const wallet = account(10);
    await follow(wallet);
    const [listed, asked, imported, failing, both, sound] = [11, 12, 13, 14, 15, 16].map(account) as [
      Address,
      Address,
      Address,
      Address,
      Address,
      Address,
    ];
    await list(listed, true, 5);
    await list(both, true, 5);
    await db.$client.query("insert into ahs.sanctions_reading values ($1, $2, true, 7, now())", [
      CHAIN,
      asked,
    ]);
    await db.$client.query("insert into ahs.sanctions_entry values ('ofac-sdn', $1, '9', now())", [imported]);
    for (const peer of [failing, both]) await grade(peer, "F");
    await grade(sound, "B");
    const mixer = MIXER.toLowerCase() as Address;
    for (const peer of [listed, asked, imported, failing, both, sound, mixer]) {
      await deal({ by: wallet, with: peer, calls: 2, usd: peer === mixer ? 0 : 10 });
    }
    const { exposure } = await load({ address: wallet, scoreId: null });
    expect(exposure).toMatchObject({
      counterparties: 7,
      calls: 14,
      sentMicroUsd: 60e6,
      listed: [listed, asked, imported, both, mixer].toSorted(),
      failing: { counterparties: 1, sentMicroUsd: 10e6, unpricedCalls: 0 },
    });
  });

  it("forgets a listing that the contract took back, whatever it was asked before", async () => {
    const [wallet, cleared] = [account(20), account(21)];
    await follow(wallet);
    await db.$client.query("insert into ahs.sanctions_reading values ($1, $2, true, 7, now())", [
      CHAIN,
      cleared,
    ]);
    await list(cleared, true, 8);
    await list(cleared, false, 9);
    await deal({ by: wallet, with: cleared, calls: 1, usd: 1 });
    expect((await load({ address: wallet, scoreId: null })).exposure).toMatchObject({ listed: [] });
  });

  it("counts what the wallet sent, not what others sent it, itself, or on another chain", async () => {
    const [wallet, listed] = [account(30), account(31)];
    await follow(wallet);
    await list(listed, true, 5);
    await deal({ by: listed, with: wallet, calls: 9, usd: 1000 });
    await deal({ by: wallet, with: wallet, calls: 9, usd: 1000 });
    await deal({ by: wallet, with: listed, calls: 9, usd: 1000 }, OTHER_CHAIN);
    expect((await load({ address: wallet, scoreId: null })).exposure).toBe("no_contacts");
  });

  it("takes nothing for a contact where nothing was called or sent: a stranger can log one in the wallet's name", async () => {
    const [victim, payer, listed] = [account(40), account(41), account(42)];
    for (const wallet of [victim, payer]) await follow(wallet);
    await list(listed, true, 5);
    await deal({ by: victim, with: listed, calls: 0, usd: 0 });
    await deal({ by: payer, with: listed, calls: 0, usd: 0.000001 });
    expect((await load({ address: victim, scoreId: null })).exposure).toBe("no_contacts");
    expect((await load({ address: payer, scoreId: null })).exposure).toMatchObject({ listed: [listed] });
  });

  it("looks at a bounded number of contacts, and says so", async () => {
    const few = riskFactsLoader(db, { chainId: CHAIN, mixers: [MIXER], mostContacts: 2 });
    const wallet = account(50);
    await follow(wallet);
    for (const peer of [51, 52, 53]) await deal({ by: wallet, with: account(peer), calls: 1, usd: 1 });
    const facts = await Promise.all([few, load].map((read) => read({ address: wallet, scoreId: null })));
    expect(facts.map(({ exposure }) => exposure)).toMatchObject([
      { counterparties: 2, truncated: true },
      { counterparties: 3, truncated: false },
    ]);
  });
});
