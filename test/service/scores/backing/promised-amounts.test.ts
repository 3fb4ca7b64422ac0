import type { Address } from "viem";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import { getAhsRoute } from "../../../../service/api/routes/get-ahs-route.ts";
import {
  createPromisedAmounts,
  dropOldPromises,
} from "../../../../service/scores/backing/promised-amounts.ts";
import { openMigrated, useDatabase } from "../../../support/test-database.ts";
import { bodyOf, fakeLedger, fakePorts, KEY, WALLET } from "../../api/fake-ports.ts";
import { createIndexTables } from "../../db/index-tables.ts";

const CHAIN = 31337;
const NOW = new Date("2026-11-20T10:00:00Z");
const DAY_MS = 86_400_000;
const AS_OF = { asOfBlock: 900, asOfTime: new Date("2026-11-20T09:50:00Z"), sellerProfile: null };
const OTHER: Address = "0x00000000000000000000000000000000000000b2";

const db = useDatabase();
let now = NOW;
const ledgerOf = (database = db, chainId = CHAIN) =>
  createPromisedAmounts({ db: database, chainId, now: () => now });

beforeAll(() => createIndexTables(db, CHAIN));

beforeEach(async () => {
  now = NOW;
  await db.$client.query(
    `delete from ahs.routing_promise; delete from ahs.wallet_backing; delete from "chain_31337".wallet`,
  );
});

/** Amounts in millionths of a US dollar. */
async function insertBacking(wallet: Address, safe: bigint, receivedDay = 0n): Promise<void> {
  await db.$client.query(
    `insert into ahs.wallet_backing (chain_id, wallet, own_micro_usd, cost_basis_micro_usd, safe_micro_usd,
       received_day_micro_usd, as_of_block, as_of_time)
     values ($1, $2, $3, $3, $4, $5, $6, $7)`,
    [CHAIN, wallet, String(2n * safe), String(safe), String(receivedDay), AS_OF.asOfBlock, AS_OF.asOfTime],
  );
}

async function follow(wallet: Address, block: number): Promise<void> {
  await db.$client.query(
    `insert into "chain_31337".wallet (address, source, followed_block, own_calls, own_failures, touched_block)
     values ($1, 'registered', $2, 0, 0, 1)`,
    [wallet, block],
  );
}

/** Promises an amount if that much is available. */
function promise(amountMicroUsd: bigint, { ledger = ledgerOf(), wallet = WALLET, caller = "key:1" } = {}) {
  return ledger.promise({
    wallet,
    caller,
    amountMicroUsd,
    settles: (availableMicroUsd) => amountMicroUsd <= availableMicroUsd,
  });
}

async function promisedRows(): Promise<readonly unknown[]> {
  const { rows } = await db.$client.query(
    "select chain_id as chain, wallet, caller, amount_micro_usd as amount, created_at as at from ahs.routing_promise order by id",
  );
  return rows;
}

describe("a wallet's backing", () => {
  it("is unknown while none was computed for the chain", async () => {
    await follow(WALLET, 1);
    expect(await ledgerOf().read(WALLET)).toBeNull();
    expect(await promise(1n)).toEqual({ backing: null, promiseId: null });
  });

  it("is unknown from a day after the block that it is of", async () => {
    await insertBacking(WALLET, 5n);
    now = new Date(AS_OF.asOfTime.getTime() + DAY_MS - 1);
    expect((await ledgerOf().read(WALLET))?.availableMicroUsd).toBe(5n);
    now = new Date(AS_OF.asOfTime.getTime() + DAY_MS);
    expect(await ledgerOf().read(WALLET)).toBeNull();
    expect(await promise(1n)).toEqual({ backing: null, promiseId: null });
  });

  it("is zero for a wallet followed by then, and unknown for others", async () => {
    await insertBacking(OTHER, 5n);
    const [byThen, later, never] = ["01", "02", "03"].map((end): Address => `0x${"0".repeat(38)}${end}`);
    if (byThen === undefined || later === undefined || never === undefined) throw new Error("three wallets");
    await follow(byThen, AS_OF.asOfBlock);
    await follow(later, AS_OF.asOfBlock + 1);
    const ledger = ledgerOf();
    const nothing = {
      costBasisMicroUsd: 0n,
      bondMicroUsd: 0n,
      safeMicroUsd: 0n,
      outstandingMicroUsd: 0n,
      availableMicroUsd: 0n,
    };
    expect(await Promise.all([byThen, later, never].map((wallet) => ledger.read(wallet)))).toEqual([
      { ...nothing, ...AS_OF },
      null,
      null,
    ]);
    expect(
      await ledgerOf(db, 1)
        .read(OTHER)
        .catch(() => "no index"),
    ).toBe("no index");
  });

  it.each([
    ["an imported list", "insert into ahs.sanctions_entry values ('ofac-sdn', $1, '900', now())"],
    ["the contract", "insert into chain_31337.sanctions_change values ('1', $1, true, 5, 0, 5, '0x01')"],
  ])("has no safe amount while %s names the wallet, as its record on chain", async (_name, listing) => {
    await insertBacking(WALLET, 10n);
    await insertBacking(OTHER, 10n);
    await db.$client.query(listing, [WALLET]);
    const none = { costBasisMicroUsd: 20n, safeMicroUsd: 0n, availableMicroUsd: 0n };
    expect(await ledgerOf().read(WALLET)).toMatchObject(none);
    expect(await promise(1n)).toMatchObject({ backing: none, promiseId: null });
    expect(await ledgerOf().read(OTHER)).toMatchObject({ safeMicroUsd: 10n, availableMicroUsd: 10n });
    await db.$client.query("delete from ahs.sanctions_entry; delete from chain_31337.sanctions_change");
    expect(await ledgerOf().read(WALLET)).toMatchObject({ safeMicroUsd: 10n });
  });

  it.each([
    ["what was promised", 4n, 6n],
    ["what was received", 7n, 3n],
    ["what was received, beyond the safe amount", 11n, 0n],
  ])("has the greater of two sums outstanding: %s", async (_name, received, available) => {
    await insertBacking(WALLET, 10n, received);
    await db.$client.query(
      "insert into ahs.routing_promise (chain_id, wallet, caller, amount_micro_usd, created_at) values ($1, $2, 'key:1', 4, $3)",
      [CHAIN, WALLET, NOW],
    );
    expect(await ledgerOf().read(WALLET)).toEqual({
      costBasisMicroUsd: 20n,
      bondMicroUsd: 0n,
      safeMicroUsd: 10n,
      outstandingMicroUsd: received > 4n ? received : 4n,
      availableMicroUsd: available,
      ...AS_OF,
    });
  });
});

describe("a promised amount", () => {
  it("is stored with its caller, and decided by what was available before it", async () => {
    await insertBacking(WALLET, 10n);
    const { backing, promiseId } = await promise(6n);
    expect(backing).toEqual({
      costBasisMicroUsd: 20n,
      bondMicroUsd: 0n,
      safeMicroUsd: 10n,
      outstandingMicroUsd: 0n,
      availableMicroUsd: 10n,
      ...AS_OF,
    });
    expect(promiseId).toMatch(/^\d+$/);
    expect(await promisedRows()).toEqual([
      { chain: CHAIN, wallet: WALLET, caller: "key:1", amount: "6", at: NOW },
    ]);
    expect(await promise(5n)).toMatchObject({ backing: { availableMicroUsd: 4n }, promiseId: null });
    expect(await promisedRows()).toHaveLength(1);
  });

  it("is outstanding for a day, and then swept", async () => {
    await insertBacking(WALLET, 10n);
    await promise(10n);
    await db.$client.query("update ahs.wallet_backing set as_of_time = $1", [NOW]);
    now = new Date(NOW.getTime() + DAY_MS - 1);
    expect((await ledgerOf().read(WALLET))?.availableMicroUsd).toBe(0n);
    expect(await dropOldPromises(db, now)).toBe(0);
    now = new Date(NOW.getTime() + DAY_MS);
    await db.$client.query("update ahs.wallet_backing set as_of_time = $1", [now]);
    expect((await ledgerOf().read(WALLET))?.availableMicroUsd).toBe(10n);
    expect(await dropOldPromises(db, now)).toBe(1);
  });

  it("is available again once it was released", async () => {
    await insertBacking(WALLET, 10n);
    const { promiseId } = await promise(10n);
    if (promiseId === null) throw new Error("a promise was expected");
    await ledgerOf().release(promiseId);
    expect((await promise(10n)).promiseId).not.toBeNull();
  });

  it("takes nothing from other wallets", async () => {
    await insertBacking(WALLET, 10n);
    await insertBacking(OTHER, 10n);
    const ledger = ledgerOf();
    const outcomes = await Promise.all(
      [WALLET, OTHER, WALLET, OTHER].map((wallet) => promise(10n, { ledger, wallet })),
    );
    expect(outcomes.map(({ promiseId }) => promiseId !== null)).toEqual([true, true, false, false]);
    const rows = await promisedRows();
    expect(rows).toMatchObject([{ wallet: WALLET }, { wallet: OTHER }]);
  });

  it("ends at 10,000 of a wallet in a day: more rows are never read", async () => {
    await insertBacking(WALLET, 1_000_000n);
    await db.$client.query(
      `insert into ahs.routing_promise (chain_id, wallet, caller, amount_micro_usd, created_at)
       select $1, $2, 'key:1', 1, $3 from generate_series(1, 9999)`,
      [CHAIN, WALLET, NOW],
    );
    const ledger = ledgerOf();
    const [last, beyond] = await Promise.all([promise(1n, { ledger }), promise(1n, { ledger })]);
    expect([last.promiseId === null, beyond]).toEqual([
      false,
      {
        backing: expect.objectContaining({ outstandingMicroUsd: 10_000n, availableMicroUsd: 0n }),
        promiseId: null,
      },
    ]);
    expect((await ledger.read(WALLET))?.availableMicroUsd).toBe(0n);
  });

  it("stores nothing if a decision throws", async () => {
    await insertBacking(WALLET, 10n);
    const settles = (): boolean => {
      throw new Error("no decision");
    };
    const failed = ledgerOf().promise({ wallet: WALLET, caller: "key:1", amountMicroUsd: 1n, settles });
    await expect(failed).rejects.toThrow("no decision");
    expect(await promisedRows()).toEqual([]);
  });
});

describe("fifty requests at once", () => {
  it("are promised no more than is available, by ledgers of several processes", async () => {
    await insertBacking(WALLET, 10_000_000n, 2_000_000n);
    await insertBacking(OTHER, 5_000_000n);
    const pools = [1, 2, 3].map(() => openMigrated(urlOfPool()));
    try {
      const ledgers = pools.map((pool) => ledgerOf(pool));
      const asked = Array.from({ length: 50 }, (_, index) => {
        const ledger = ledgers[index % ledgers.length];
        if (ledger === undefined) throw new Error("three ledgers");
        return promise(900_000n, {
          ledger,
          wallet: index % 5 === 0 ? OTHER : WALLET,
          caller: `key:${index}`,
        });
      });
      const outcomes = await Promise.all(asked);
      // Receipts on chain count only while they are more than the promises.
      expect(outcomes.filter(({ promiseId }) => promiseId !== null)).toHaveLength(11 + 5);
      const { rows } = await db.$client.query(
        "select wallet, sum(amount_micro_usd)::text as sum from ahs.routing_promise group by wallet order by wallet",
      );
      expect(rows).toEqual([
        { wallet: OTHER, sum: "4500000" },
        { wallet: WALLET, sum: "9900000" },
      ]);
    } finally {
      await Promise.all(pools.map((pool) => pool.$client.end()));
    }
  });

  it("of the interface settle no more than the safe amount, and each answer is charged", async () => {
    await insertBacking(WALLET, 10_000_000n);
    const keys = fakeLedger();
    const { ports } = fakePorts({ backing: ledgerOf() }, keys);
    // A description of all endpoints would make the test slow.
    const app = createInterfaceApp(ports, [{ ...SCORING_INTERFACE, endpoints: [getAhsRoute] }]);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        app.request(`/ahs/route/${WALLET}?amount_usd=0.9`, { headers: { "X-API-Key": KEY } }),
      ),
    );
    const bodies = await Promise.all(answers.map((answer) => bodyOf(answer)));
    const actions = bodies.map(({ action, reason }) => `${action} ${reason}`).sort();
    expect(actions).toEqual([
      ...Array.from({ length: 39 }, () => "escrow above_safe_amount"),
      ...Array.from({ length: 11 }, () => "instant_settle grade"),
    ]);
    expect([(await promisedRows()).length, keys.balance()]).toEqual([11, 5000 - 50 * 10]);
  });
});

function urlOfPool(): string {
  const { connectionString } = db.$client.options;
  if (connectionString === undefined) throw new Error("the pool has a URL");
  return connectionString;
}
