import { randomBytes, randomUUID } from "node:crypto";
import type { Address } from "viem";
import { expect, test } from "vitest";
import { createApiKey, hashApiKey, revokeApiKey } from "../../../service/access/api-keys.ts";
import {
  createIdempotentAnswers,
  readStoredPurchase,
  slotOf,
} from "../../../service/access/idempotent-answers.ts";

import { purchaseHashes, purchaseKey } from "../../../service/api/pages/buy-report.ts";
import { useDatabase } from "../../support/test-database.ts";

const BOUGHT = new Date("2026-11-20T23:59:00Z");
const WALLET = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const OTHER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

const db = useDatabase();

function purchaseOf(wallet: string) {
  return { address: wallet as Address, report: { slug: "score" } };
}

async function makeKey() {
  const wanted = { name: "n", partner: false, balanceUnits: 5_000, expiresAt: null };
  return createApiKey(db, wanted, { randomBytes, randomUuid: () => randomUUID() });
}

test("a purchase on a page is found until it is a day old, by its key alone, and begins nothing", async () => {
  const { key, secret } = await makeKey();
  const stranger = await makeKey();
  const find = (now: Date, of = { secret, wallet: WALLET }) =>
    readStoredPurchase(db, {
      apiKeyHash: hashApiKey(of.secret),
      keyHashes: purchaseHashes(purchaseOf(of.wallet), now),
      now,
    });
  const at = (hours: number) => new Date(BOUGHT.getTime() + hours * 3_600_000);
  const answers = createIdempotentAnswers({ db, now: () => BOUGHT });
  const slot = slotOf(`key:${key.id}`, {
    header: () => purchaseKey(purchaseOf(WALLET), BOUGHT),
    fingerprint: () => "f",
  });
  if (slot === null) throw new Error("a key makes a slot");
  expect(await find(BOUGHT)).toEqual({ kind: "none" });
  expect(await answers.begin(slot)).toEqual({ kind: "begun" });
  expect(await find(at(0.02))).toEqual({ kind: "running" });
  expect(await find(at(0.04))).toEqual({ kind: "none" });
  await answers.keep(slot, { contentType: "application/json", body: '{"a":"é"}' });
  const stored = { kind: "answered", body: '{"a":"é"}', until: at(24) };
  for (const hours of [0, 0.5, 23.9]) expect(await find(at(hours)), `${hours} h`).toEqual(stored);
  expect(await find(at(24))).toEqual({ kind: "none" });
  expect(await find(BOUGHT, { secret, wallet: OTHER })).toEqual({ kind: "none" });
  expect(await find(BOUGHT, { secret: stranger.secret, wallet: WALLET })).toEqual({ kind: "none" });
  await revokeApiKey(db, key.id, BOUGHT);
  expect(await find(BOUGHT)).toEqual({ kind: "none" });
});
