import { randomBytes, randomUUID } from "node:crypto";
import fc from "fast-check";
import type { QueryConfig } from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import {
  apiKeyFinder,
  createApiKey,
  hashApiKey,
  listApiKeys,
  revokeApiKey,
} from "../../../service/access/api-keys.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../service/access/key-debits.ts";
import type { Database } from "../../../service/db/database.ts";
import { useDatabase } from "../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const entropy = { randomBytes, randomUuid: () => randomUUID() };

const db = useDatabase();
let debits: ReturnType<typeof createKeyDebits>;

beforeAll(() => {
  debits = createKeyDebits({ db, now: () => NOW, randomUuid: () => randomUUID() });
});

async function newKey(balanceUnits: number | null): Promise<string> {
  const wanted = { name: "test", partner: false, balanceUnits, expiresAt: null };
  return (await createApiKey(db, wanted, entropy)).key.id;
}

/** Balance and the units in each state, as the tables have them. */
async function ledgerOf(keyId: string) {
  const key = await db.$client.query("select balance_units from ahs.api_key where id = $1", [keyId]);
  const sums = await db.$client.query(
    `select case state when 'kept' then 'captured' else state end as state, sum(units)::int as units
     from ahs.key_debit where key_id = $1 group by state`,
    [keyId],
  );
  const units = Object.fromEntries(sums.rows.map((row) => [row.state, row.units]));
  return { balance: Number(key.rows[0].balance_units), held: 0, captured: 0, returned: 0, ...units };
}

async function held(keyId: string, units: number): Promise<string> {
  const outcome = await debits.hold({ keyId, units, endpoint: "GET /x" });
  if (outcome.kind !== "held") throw new Error(`not held: ${outcome.kind}`);
  return outcome.debitId;
}

/** A pool that explains statements instead of running them. */
function explainingPool(plans: string[]): Database {
  const query = async ({ text, values = [] }: QueryConfig) => {
    const { rows } = await db.$client.query<{ "QUERY PLAN": string }>(`explain ${text}`, values);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    return { rows: [] };
  };
  return { $client: { query } } as unknown as Database;
}

describe("an API key", () => {
  it("is found by its hash, listed by its first characters, and stored nowhere", async () => {
    const wanted = {
      name: "acme",
      partner: true,
      balanceUnits: 500,
      expiresAt: new Date("2027-01-01T00:00:00Z"),
    };
    const { key, secret } = await createApiKey(db, wanted, entropy);
    expect(secret).toMatch(/^ahs_[A-Za-z0-9_-]{43}$/);
    expect(key).toMatchObject({ ...wanted, keyPrefix: secret.slice(0, 12), revokedAt: null });
    const find = apiKeyFinder(db);
    expect(await find(hashApiKey(secret))).toEqual(key);
    const { rows } = await db.$client.query("select row_to_json(k)::text as text from ahs.api_key k");
    expect(rows.map((row) => row.text).join()).not.toContain(secret);
    expect((await listApiKeys(db)).map((listed) => listed.id)).toContain(key.id);
  });

  it("is looked up with all others that wait, each answered its own", async () => {
    const wanted = { name: "many", partner: false, balanceUnits: null, expiresAt: null };
    const made = await Promise.all([1, 2, 3].map(() => createApiKey(db, wanted, entropy)));
    const find = apiKeyFinder(db);
    const hashes = [...made.map(({ secret }) => hashApiKey(secret)), hashApiKey("nobody's")];
    const found = await Promise.all(hashes.map(find));
    expect(found.map((key) => key?.id ?? null)).toEqual([...made.map(({ key }) => key.id), null]);
  });

  it("is revoked once and keeps the time of it", async () => {
    const id = await newKey(1);
    const first = await revokeApiKey(db, id, NOW);
    const second = await revokeApiKey(db, id, new Date(NOW.getTime() + 1000));
    expect([first?.revokedAt, second?.revokedAt]).toEqual([NOW, NOW]);
    expect(await revokeApiKey(db, randomUUID(), NOW)).toBeNull();
  });
});

describe("a debit", () => {
  it("is held, and then captured", async () => {
    const keyId = await newKey(100);
    const debitId = await held(keyId, 30);
    expect(await ledgerOf(keyId)).toEqual({ balance: 70, held: 30, captured: 0, returned: 0 });
    await debits.keep(debitId);
    expect(await ledgerOf(keyId)).toEqual({ balance: 70, held: 0, captured: 30, returned: 0 });
  });

  it("is held, and then returned, once", async () => {
    const keyId = await newKey(100);
    const debitId = await held(keyId, 30);
    await Promise.all([debits.giveBack(debitId), debits.giveBack(debitId)]);
    await debits.keep(debitId);
    expect(await ledgerOf(keyId)).toEqual({ balance: 100, held: 0, captured: 0, returned: 30 });
  });

  it("that is captured is not returned any more", async () => {
    const keyId = await newKey(100);
    const debitId = await held(keyId, 30);
    await debits.keep(debitId);
    await debits.giveBack(debitId);
    expect(await ledgerOf(keyId)).toEqual({ balance: 70, held: 0, captured: 30, returned: 0 });
  });

  it("is found by its id among 24,000 that were captured", async () => {
    const keyId = await newKey(100);
    await db.$client.query(
      `insert into ahs.key_debit (id, key_id, endpoint, units, state, deadline)
       select gen_random_uuid(), $1, 'GET /x', 1, 'kept', now() from generate_series(1, 24000)`,
      [keyId],
    );
    await db.$client.query("analyze ahs.key_debit");
    const debitId = await held(keyId, 30);
    const answer = { contentType: "application/json", body: new Uint8Array(), headers: {} };
    const plans: string[] = [];
    const explaining = createKeyDebits({ db: explainingPool(plans), now: () => NOW, randomUuid: randomUUID });
    await explaining.keep(debitId);
    await explaining.keepAnswered(debitId, { scope: "s", keyHash: "h", fingerprint: "f" }, answer);
    await explaining.giveBack(debitId);
    for (const plan of plans) {
      expect(plan).toContain("key_debit_pkey");
      expect(plan).not.toContain("key_debit_state");
    }
    expect(plans).toHaveLength(3);
    await debits.giveBack(debitId);
    await db.$client.query("delete from ahs.key_debit where key_id = $1", [keyId]);
  });

  it("beyond the balance is refused with the balance, and leaves no row", async () => {
    const keyId = await newKey(9);
    expect(await debits.hold({ keyId, units: 10, endpoint: "GET /x" })).toEqual({
      kind: "insufficient",
      balanceUnits: 9,
    });
    expect(await ledgerOf(keyId)).toEqual({ balance: 9, held: 0, captured: 0, returned: 0 });
  });

  it("takes nothing from an unlimited key", async () => {
    const keyId = await newKey(null);
    expect(await debits.hold({ keyId, units: 10, endpoint: "GET /x" })).toEqual({ kind: "unlimited" });
    const { rows } = await db.$client.query("select 1 from ahs.key_debit where key_id = $1", [keyId]);
    expect(rows).toEqual([]);
  });

  it("of a request that died returns after its deadline, and only then", async () => {
    const keyId = await newKey(100);
    const captured = await held(keyId, 10);
    await held(keyId, 20);
    await held(keyId, 30);
    await debits.keep(captured);
    expect(await returnExpiredHolds(db, new Date(NOW.getTime() + 120_000))).toBe(0);
    expect(await returnExpiredHolds(db, new Date(NOW.getTime() + 120_001))).toBe(2);
    expect(await ledgerOf(keyId)).toEqual({ balance: 90, held: 0, captured: 10, returned: 50 });
    expect(await returnExpiredHolds(db, new Date(NOW.getTime() + 999_999))).toBe(0);
  });

  it("never overdraws, however many are taken at once", async () => {
    const keyId = await newKey(100);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => debits.hold({ keyId, units: 7, endpoint: "GET /x" })),
    );
    expect(outcomes.filter(({ kind }) => kind === "held")).toHaveLength(14);
    expect(outcomes.filter(({ kind }) => kind === "insufficient")).toHaveLength(26);
    expect(await ledgerOf(keyId)).toEqual({ balance: 2, held: 98, captured: 0, returned: 0 });
  });

  it("balance, held and captured units always add up to those bought, whatever happens at the same time", async () => {
    const call = fc.record({
      units: fc.integer({ min: 1, max: 60 }),
      end: fc.constantFrom("keep", "giveBack", "die", "both"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 15 }),
        fc.integer({ min: 0, max: 200 }),
        async (calls, bought) => {
          const keyId = await newKey(bought);
          await Promise.all([
            ...calls.map(async ({ units, end }) => {
              const outcome = await debits.hold({ keyId, units, endpoint: "GET /x" });
              if (outcome.kind !== "held") return;
              if (end === "keep" || end === "both") await debits.keep(outcome.debitId);
              if (end === "giveBack" || end === "both") await debits.giveBack(outcome.debitId);
            }),
            returnExpiredHolds(db, new Date(NOW.getTime() + 999_999)),
          ]);
          const ledger = await ledgerOf(keyId);
          expect(ledger.balance).toBeGreaterThanOrEqual(0);
          expect(ledger.balance + ledger.held + ledger.captured).toBe(bought);
          await returnExpiredHolds(db, new Date(NOW.getTime() + 999_999));
          const settled = await ledgerOf(keyId);
          expect([settled.held, settled.balance + settled.captured]).toEqual([0, bought]);
        },
      ),
      { numRuns: 15 },
    );
  });
});
