import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readKeySummary } from "../../../service/access/api-keys.ts";
import { alertSubscription, webhookEndpoint } from "../../../service/db/tables/alerts.ts";
import { keyDebit } from "../../../service/db/tables/api-key.ts";
import { useDatabase } from "../../support/test-database.ts";
import { createTestKey } from "../../support/test-keys.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const at = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000);
const WALLET = `0x${"aa".repeat(20)}` as const;

const db = useDatabase();

const read = (keyId: string) => readKeySummary(db, { chainId: 1, keyId, now: NOW, limit: 2 });

async function debit(keyId: string, state: "kept" | "returned", createdAt: Date): Promise<void> {
  await db
    .insert(keyDebit)
    .values({ id: randomUUID(), keyId, endpoint: "GET /x", units: 1, state, createdAt, deadline: createdAt });
}

async function subscribe(owner: string, expiresAt: Date, more: { chainId?: number; endedAt?: Date } = {}) {
  const endpointId = randomUUID();
  await db.insert(webhookEndpoint).values({ id: endpointId, url: "http://x", secret: "s", createdAt: NOW });
  const id = randomUUID();
  await db.insert(alertSubscription).values({
    id,
    chainId: 1,
    wallet: WALLET,
    owner,
    endpointId,
    events: [],
    manageTokenHash: "",
    purchases: [],
    expiresAt,
    createdAt: NOW,
    ...more,
  });
  return { id, wallet: WALLET, expiresAt };
}

test("a new key has no rights beyond calls, no charges and no subscriptions", async () => {
  const { id } = await createTestKey(db, 1_000);
  expect(await read(id)).toEqual({ scopes: [], lastChargedAt: null, subscriptions: [] });
  expect(await read(randomUUID())).toBeNull();
});

test("a key shows when it last paid for an answer, and its running subscriptions, the first to end on top", async () => {
  const { id } = await createTestKey(db, 1_000);
  await debit(id, "kept", at(-3));
  await debit(id, "kept", at(-2));
  await debit(id, "returned", at(-1));
  const own = `key:${id}`;
  const later = await subscribe(own, at(48));
  const sooner = await subscribe(own, at(24));
  await subscribe(own, at(72));
  await subscribe(own, at(-1));
  await subscribe(own, at(12), { endedAt: at(-1) });
  await subscribe(own, at(12), { chainId: 2 });
  await subscribe(`key:${randomUUID()}`, at(12));
  expect(await read(id)).toEqual({ scopes: [], lastChargedAt: at(-2), subscriptions: [sooner, later] });
});
