import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  apiKeyFinder,
  buyApiKey,
  createApiKey,
  hashApiKey,
  keysBoughtBy,
  readApiKey,
  readDaySpending,
  readSpending,
  revokeApiKey,
  rotateApiKey,
  topUpApiKey,
} from "../../../service/access/api-keys.ts";
import { createKeyDebits } from "../../../service/access/key-debits.ts";
import { useDatabase } from "../../support/test-database.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const BUYER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const entropy = { randomBytes, randomUuid: () => randomUUID() };

const db = useDatabase();

function buy(creditId: string, units = 25_000) {
  const purchase = { creditId, name: "buyer", boughtBy: BUYER, units, ratePerMinute: 600, now: NOW } as const;
  return buyApiKey(db, purchase, entropy);
}

const find = async (secret: string) => apiKeyFinder(db)(hashApiKey(secret));
const balanceOf = async (id: string) => (await readApiKey(db, id))?.balanceUnits;

async function creditsOf(keyId: string) {
  const { rows } = await db.$client.query(
    "select units::int, created_at from ahs.key_credit where key_id = $1 order by units",
    [keyId],
  );
  return rows;
}

async function operatorsKey(changes: { balanceUnits?: number | null; expiresAt?: Date | null } = {}) {
  const wanted = { name: "test", partner: false, balanceUnits: 100, expiresAt: null, ...changes };
  return createApiKey(db, wanted, entropy);
}

describe("a bought key", () => {
  it("has its credits, its buyer and a secret that works", async () => {
    const creditId = randomUUID();
    const { key, secret } = await buy(creditId);
    expect(key).toEqual({
      id: creditId,
      name: "buyer",
      partner: false,
      keyPrefix: secret.slice(0, 12),
      balanceUnits: 25_000,
      ratePerMinute: 600,
      scopes: [],
      boughtBy: BUYER,
      expiresAt: null,
      revokedAt: null,
      createdAt: NOW,
    });
    expect(await find(secret)).toEqual(key);
    expect(await creditsOf(key.id)).toEqual([{ units: 25_000, created_at: NOW }]);
  });

  it("is bought once for a payment, though it is worked for ten times at once", async () => {
    const creditId = randomUUID();
    const bought = await Promise.all(Array.from({ length: 10 }, () => buy(creditId)));
    expect(new Set(bought.map(({ key }) => key.id))).toEqual(new Set([creditId]));
    const working = await Promise.all(bought.map(({ secret }) => find(secret)));
    expect(working.filter((key) => key !== null)).toHaveLength(1);
    expect([await balanceOf(creditId), await creditsOf(creditId)]).toEqual([
      25_000,
      [{ units: 25_000, created_at: NOW }],
    ]);
  });

  it("answered anew keeps what it has spent", async () => {
    const { key } = await buy(randomUUID());
    const debits = createKeyDebits({ db, now: () => NOW, randomUuid: () => randomUUID() });
    await debits.hold({ keyId: key.id, units: 1_000, endpoint: "GET /x" });
    const again = await buy(key.id);
    expect(again.key).toMatchObject({ id: key.id, balanceUnits: 24_000 });
  });
});

describe("a top-up", () => {
  it("adds its units to the key and keeps the payment's row", async () => {
    const { key } = await operatorsKey();
    const topped = await topUpApiKey(db, { creditId: randomUUID(), keyId: key.id, units: 900, now: NOW });
    expect(topped).toEqual({ ...key, balanceUnits: 1_000 });
    expect(await creditsOf(key.id)).toEqual([{ units: 900, created_at: NOW }]);
  });

  it("of one payment is credited once, though it is worked for ten times at once", async () => {
    const { key } = await operatorsKey();
    const topUp = { creditId: randomUUID(), keyId: key.id, units: 900, now: NOW };
    const results = await Promise.all(Array.from({ length: 10 }, () => topUpApiKey(db, topUp)));
    expect(new Set(results.map((topped) => topped?.balanceUnits))).toEqual(new Set([1_000]));
    expect(await balanceOf(key.id)).toBe(1_000);
  });

  it("of one payment stays with its first key, whichever is named later", async () => {
    const [first, second] = [(await operatorsKey()).key, (await operatorsKey()).key];
    const creditId = randomUUID();
    await topUpApiKey(db, { creditId, keyId: first.id, units: 900, now: NOW });
    const again = await topUpApiKey(db, { creditId, keyId: second.id, units: 900, now: NOW });
    expect([again?.id, await balanceOf(first.id), await balanceOf(second.id)]).toEqual([
      first.id,
      1_000,
      100,
    ]);
  });

  it("and debits at the same time lose nothing", async () => {
    const { key } = await operatorsKey({ balanceUnits: 1_000 });
    const debits = createKeyDebits({ db, now: () => NOW, randomUuid: () => randomUUID() });
    const doing = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? topUpApiKey(db, { creditId: randomUUID(), keyId: key.id, units: 50, now: NOW })
        : debits.hold({ keyId: key.id, units: 10, endpoint: "GET /x" }),
    );
    await Promise.all(doing);
    expect(await balanceOf(key.id)).toBe(1_000 + 10 * 50 - 10 * 10);
  });

  it.each([
    ["revoked", async (id: string) => revokeApiKey(db, id, NOW), {}],
    ["expired", async () => null, { expiresAt: NOW }],
    ["unlimited", async () => null, { balanceUnits: null }],
  ])("of a key that is %s credits nothing", async (_name, end, changes) => {
    const { key } = await operatorsKey(changes);
    await end(key.id);
    const topUp = { creditId: randomUUID(), keyId: key.id, units: 900, now: NOW };
    expect([await topUpApiKey(db, topUp), await creditsOf(key.id)]).toEqual([null, []]);
  });
});

describe("a rotation", () => {
  it("by the holder kills the old secret at once and keeps all else", async () => {
    const { key, secret } = await operatorsKey();
    const right = { kind: "holder", keyHash: hashApiKey(secret) } as const;
    const rotated = await rotateApiKey(db, { right, now: NOW }, entropy);
    const next = rotated?.secret ?? "";
    expect(rotated?.key).toEqual({ ...key, keyPrefix: next.slice(0, 12) });
    expect([await find(secret), (await find(next))?.id]).toEqual([null, key.id]);
  });

  it("by ten holders of one secret makes one that works", async () => {
    const { secret } = await operatorsKey();
    const right = { kind: "holder", keyHash: hashApiKey(secret) } as const;
    const doing = Array.from({ length: 10 }, () => rotateApiKey(db, { right, now: NOW }, entropy));
    expect((await Promise.all(doing)).filter((rotated) => rotated !== null)).toHaveLength(1);
  });

  it("by the wallet that bought the key needs no secret", async () => {
    const { key, secret } = await buy(randomUUID());
    const right = { kind: "buyer", boughtBy: BUYER, keyId: key.id } as const;
    const rotated = await rotateApiKey(db, { right, now: NOW }, entropy);
    expect([await find(secret), (await find(rotated?.secret ?? ""))?.id]).toEqual([null, key.id]);
  });

  it("is refused to another wallet, to the holder of a dead secret, and of a key that has ended", async () => {
    const { key, secret } = await buy(randomUUID());
    const other = "0x00000000000000000000000000000000000000b2";
    const [stranger, buyer] = ([other, BUYER] as const).map(
      (boughtBy) => ({ kind: "buyer", boughtBy, keyId: key.id }) as const,
    );
    const holder = { kind: "holder", keyHash: hashApiKey(secret) } as const;
    if (stranger === undefined || buyer === undefined) throw new Error("two were made");
    const dead = { kind: "holder", keyHash: hashApiKey("dead") } as const;
    const rotate = (right: Parameters<typeof rotateApiKey>[1]["right"]) =>
      rotateApiKey(db, { right, now: NOW }, entropy);
    expect([await rotate(stranger), await rotate(dead)]).toEqual([null, null]);
    expect((await find(secret))?.id).toBe(key.id);
    await revokeApiKey(db, key.id, NOW);
    expect([await rotate(buyer), await rotate(holder)]).toEqual([null, null]);
  });
});

it("a wallet's live keys are listed newest first", async () => {
  const wallet = "0x00000000000000000000000000000000000000c3";
  const bought = [0, 1, 2].map((hours) => new Date(NOW.getTime() + hours * 3_600_000));
  const ids = [];
  for (const now of bought) {
    const purchase = {
      creditId: randomUUID(),
      name: "n",
      boughtBy: wallet,
      units: 1,
      ratePerMinute: 1,
      now,
    } as const;
    ids.push((await buyApiKey(db, purchase, entropy)).key.id);
  }
  const [first, second, third] = ids;
  await revokeApiKey(db, second ?? "", NOW);
  expect(await keysBoughtBy(db, { wallet, now: NOW, limit: 20 })).toEqual([third, first]);
  expect(await keysBoughtBy(db, { wallet, now: NOW, limit: 1 })).toEqual([third]);
});

it("spending counts the captured units since a time, by endpoint", async () => {
  const { key } = await operatorsKey({ balanceUnits: 10_000 });
  async function spend(endpoint: string, units: number, at: Date, end: "keep" | "giveBack" | null) {
    const debits = createKeyDebits({ db, now: () => at, randomUuid: () => randomUUID() });
    const held = await debits.hold({ keyId: key.id, units, endpoint });
    if (held.kind !== "held") throw new Error("not held");
    if (end !== null) await debits[end](held.debitId);
  }
  const old = new Date("2026-10-01T00:00:00Z");
  await spend("GET /a", 10, NOW, "keep");
  await spend("GET /a", 10, NOW, "keep");
  await spend("GET /b", 500, NOW, "keep");
  await spend("GET /c", 5, NOW, "giveBack");
  await spend("GET /d", 5, NOW, null);
  await spend("GET /e", 5, old, "keep");
  const since = new Date("2026-10-21T10:00:00Z");
  expect(await readSpending(db, key.id, since)).toEqual([
    { endpoint: "GET /b", calls: 1, units: 500 },
    { endpoint: "GET /a", calls: 2, units: 20 },
  ]);
  expect(await readSpending(db, randomUUID(), since)).toEqual([]);
  expect(await readDaySpending(db, key.id, since)).toEqual([
    { day: NOW.toISOString().slice(0, 10), calls: 3, units: 520 },
  ]);
});
