import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiKey } from "../../../service/access/api-keys.ts";
import { readChargedUnits } from "../../../service/access/charged-units.ts";
import type { Database } from "../../../service/db/database.ts";
import { openTestDatabase } from "../../support/test-database.ts";

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

test("a key was charged its captured debits since a moment", async () => {
  const wanted = { name: "buyer", partner: false, balanceUnits: 0, expiresAt: null };
  const entropy = { randomBytes: () => new Uint8Array(32), randomUuid: randomUUID };
  const { key } = await createApiKey(db, wanted, entropy);
  for (const [state, units, at] of [
    ["kept", 500, "2026-11-20T10:00:00Z"],
    ["kept", 10, "2026-11-20T12:00:00Z"],
    ["kept", 1, "2026-11-20T13:00:00Z"],
    ["held", 100, "2026-11-20T13:00:00Z"],
    ["returned", 100, "2026-11-20T13:00:00Z"],
  ])
    await db.$client.query(
      `insert into ahs.key_debit (id, key_id, endpoint, units, state, created_at, deadline)
       values (gen_random_uuid(), $1, 'GET /risk', $2, $3, $4, $4)`,
      [key.id, units, state, at],
    );
  const owner = { kind: "key", keyId: key.id } as const;
  expect(await readChargedUnits(db, owner, new Date("2026-11-20T12:00:00Z"))).toBe(11);
  expect(await readChargedUnits(db, owner, new Date(0))).toBe(511);
});

test("a wallet was charged its settled payments, without those that it got back", async () => {
  const address = `0x${"c1".repeat(20)}` as const;
  for (const [state, amount, charged, capture] of [
    ["answered", 1_000_000, null, null],
    ["settled", 10_000_000, 10_000, null],
    ["answered", 500_000, null, "captured"],
    ["answered", 500_000, null, "voided"],
    ["released", 1_000_000, null, null],
    ["reserved", 1_000_000, null, null],
  ])
    await db.$client.query(
      `insert into ahs.payment (id, chain_id, asset, payer, pay_to, nonce, amount, charged_amount, valid_after, valid_before,
         payload, state, capture_state, endpoint, resource, fingerprint, settlement, claim_hash, deadline)
       values (gen_random_uuid(), 31337, $1, $2, $1, '0x' || encode(sha256(random()::text::bytea), 'hex'), $3, $4, 0, 0,
         '{}', $5, $6, 'GET /risk', '', '', 'before', '', now())`,
      [`0x${"a0".repeat(20)}`, address, amount, charged, state, capture],
    );
  const owner = { kind: "wallet", address } as const;
  expect(await readChargedUnits(db, owner, new Date(0))).toBe(1_510);
  expect(await readChargedUnits(db, owner, new Date("2100-01-01"))).toBe(0);
});
