import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RepeatSlot } from "../../../service/access/access.ts";
import { createApiKey } from "../../../service/access/api-keys.ts";
import { createIdempotentAnswers, dropExpiredAnswers } from "../../../service/access/idempotent-answers.ts";
import { createKeyDebits, returnExpiredHolds } from "../../../service/access/key-debits.ts";
import { useDatabase } from "../../support/test-database.ts";

const START = new Date("2026-11-20T10:00:00Z").getTime();
const ANSWER = { contentType: "application/json", body: '{"a":1}' };

const db = useDatabase();

const laterBy = (seconds: number) => new Date(START + seconds * 1_000);
const at = (seconds: number) => createIdempotentAnswers({ db, now: () => laterBy(seconds) });
const newSlot = (): RepeatSlot => ({ scope: "key:1", keyHash: randomUUID(), fingerprint: "f" });

function bodyOf(beginning: Awaited<ReturnType<ReturnType<typeof at>["begin"]>>): string {
  if (beginning.kind !== "answered") throw new Error(`${beginning.kind}, not answered`);
  return Buffer.from(beginning.answer.body).toString();
}

describe("a slot", () => {
  it("is begun by one of many that come at once, and answers all others with its answer", async () => {
    const slot = newSlot();
    const answers = at(0);
    const kinds = (await Promise.all(Array.from({ length: 8 }, () => answers.begin(slot)))).map(
      ({ kind }) => kind,
    );
    expect(kinds.toSorted()).toEqual(["begun", ...Array<string>(7).fill("running")]);
    await answers.keep(slot, ANSWER);
    expect(bodyOf(await at(3_600).begin(slot))).toBe('{"a":1}');
  });

  it("keeps bytes as they are", async () => {
    const slot = newSlot();
    const body = new Uint8Array([0, 255, 137, 80]).subarray(1, 3);
    await at(0).begin(slot);
    await at(0).keep(slot, { contentType: "image/png", body });
    const repeated = await at(1).begin(slot);
    expect(repeated).toEqual({
      kind: "answered",
      answer: { contentType: "image/png", body: Buffer.from([255, 137]) },
    });
  });

  it("belongs to one request and one caller", async () => {
    const slot = newSlot();
    await at(0).begin(slot);
    expect((await at(1).begin({ ...slot, fingerprint: "g" })).kind).toBe("other-request");
    expect((await at(1).begin({ ...slot, scope: "key:2" })).kind).toBe("begun");
    await at(1).keep(slot, ANSWER);
    expect((await at(2).begin({ ...slot, fingerprint: "g" })).kind).toBe("other-request");
  });

  it("is free again when its request ends without an answer, or died", async () => {
    const slot = newSlot();
    await at(0).begin(slot);
    await at(1).forget(slot);
    expect((await at(1).begin(slot)).kind).toBe("begun");
    expect((await at(120).begin(slot)).kind).toBe("running");
    expect((await at(121).begin(slot)).kind).toBe("begun");
  });

  it("keeps its answer for a day, whatever forgets it, and is then free for another request", async () => {
    const slot = newSlot();
    await at(0).begin(slot);
    await at(0).keep(slot, ANSWER);
    await at(1).forget(slot);
    expect((await at(86_399).begin(slot)).kind).toBe("answered");
    expect((await at(86_400).begin({ ...slot, fingerprint: "g" })).kind).toBe("begun");
  });

  it("is swept once it expired, and not before", async () => {
    const slot = newSlot();
    await at(0).begin(slot);
    await at(0).keep(slot, ANSWER);
    await dropExpiredAnswers(db, laterBy(86_399));
    expect((await at(1).begin(slot)).kind).toBe("answered");
    await dropExpiredAnswers(db, laterBy(86_400));
    const { rows } = await db.$client.query("select 1 from ahs.idempotent_answer where key_hash = $1", [
      slot.keyHash,
    ]);
    expect(rows).toEqual([]);
  });
});

describe("a debit and its answer", () => {
  async function heldDebit() {
    const entropy = { randomBytes, randomUuid: () => randomUUID() };
    const wanted = { name: "test", partner: false, balanceUnits: 100, expiresAt: null };
    const { key } = await createApiKey(db, wanted, entropy);
    const debits = createKeyDebits({ db, now: () => laterBy(0), randomUuid: () => randomUUID() });
    const slot = { ...newSlot(), scope: `key:${key.id}` };
    await at(0).begin(slot);
    const held = await debits.hold({ keyId: key.id, units: 30, endpoint: "GET /x" });
    if (held.kind !== "held") throw new Error(held.kind);
    const balance = async () => {
      const { rows } = await db.$client.query("select balance_units from ahs.api_key where id = $1", [
        key.id,
      ]);
      return Number(rows[0].balance_units);
    };
    return { debits, slot, debitId: held.debitId, balance };
  }

  it("are stored together", async () => {
    const { debits, slot, debitId, balance } = await heldDebit();
    await debits.keepAnswered(debitId, slot, ANSWER);
    expect((await at(1).begin(slot)).kind).toBe("answered");
    await returnExpiredHolds(db, laterBy(999));
    expect(await balance()).toBe(70);
  });

  it("are both lost with a request that dies before, so that it can be sent again at the same price", async () => {
    const { slot, balance } = await heldDebit();
    await returnExpiredHolds(db, laterBy(121));
    expect(await balance()).toBe(100);
    expect((await at(121).begin(slot)).kind).toBe("begun");
  });

  it("neither is stored where one cannot be", async () => {
    const { debits, slot, debitId, balance } = await heldDebit();
    const unfit = { contentType: null as unknown as string, body: new Uint8Array() };
    await db.$client.query(
      "alter table ahs.idempotent_answer add constraint unfit check (answer_type is not null or state = 'running')",
    );
    await expect(debits.keepAnswered(debitId, slot, unfit)).rejects.toThrow("unfit");
    await db.$client.query("alter table ahs.idempotent_answer drop constraint unfit");
    await returnExpiredHolds(db, laterBy(121));
    expect(await balance()).toBe(100);
  });
});
