import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run as runTexts } from "../../../../bin/commands/texts.ts";
import { parseConfig } from "../../../../bin/config.ts";
import type { Database } from "../../../../service/db/database.ts";
import { acceptEvidence } from "../../../../service/verification/verdicts/accept-evidence.ts";
import { recordReview } from "../../../../service/verification/verdicts/review.ts";
import { readRoleCalls, storeRoleCall } from "../../../../service/verification/verdicts/role-calls.ts";
import { countTextsByKey, resealBatch } from "../../../../service/verification/verdicts/sealed-texts.ts";
import { insertIntake } from "../../../../service/verification/verdicts/settle-intake.ts";
import { insertSpec, readSpec } from "../../../../service/verification/verdicts/specs.ts";
import { readVerdictCase } from "../../../../service/verification/verdicts/verdict-cases.ts";
import { readStoredTexts } from "../../../../service/verification/verdicts/verdict-view.ts";
import { openMigrated } from "../../../support/test-database.ts";
import { answered } from "./a-decision.ts";
import { CHAIN_ID, CLIENT, createVerdictWorld, hold, PROVIDER, type VerdictWorld } from "./verdict-world.ts";

const [FIRST, SECOND] = [randomBytes(32), randomBytes(32)];
const TEXTS = {
  specText: "Name three secret rivers.",
  acceptanceCriteria: "- Names three secret rivers",
  outputText: "The secret Rhine, Elbe and Oder",
  evidence: "A secret map shows them.",
};

let world: VerdictWorld;
beforeAll(async () => {
  world = await createVerdictWorld(undefined, { current: FIRST, old: [] });
});
afterAll(() => world.close());

/** A verdict whose texts are all written as the service writes them, held, with one evidence text. */
async function heldVerdict(db: Database): Promise<string> {
  const [specId, verdictId, at] = [randomUUID(), randomUUID(), world.now()];
  const { specText, acceptanceCriteria } = TEXTS;
  const spec = { id: specId, specText, acceptanceCriteria, domain: "content", createdAt: at };
  await insertSpec(db, {
    ...{ ...spec, clientAddr: CLIENT, providerAddr: null, specHash: `0x${"5e".repeat(32)}`, job: null },
    ...{ clientSignature: null, registeredBlock: null },
  });
  await insertIntake(db, {
    ...{ verdictId, specId, slot: `spec:${specId}`, outputHash: `0x${"0f".repeat(32)}`, units: 1 },
    ...{ submittedBy: "client", submitterAddr: CLIENT, providerAddr: PROVIDER, owner: "key:1" },
    ...{ debitId: null, paymentId: null, outputText: TEXTS.outputText, job: null, endpoint: null },
    ...{ at, leaseUntil: at, runTokens: null, stakeMicroUsd: null, expiresAt: null },
  });
  await world.query("update ahs.verdict set status = 'pending' where id = $1", [verdictId]);
  const lease = await world.lease(db);
  await storeRoleCall(db, lease, { record: answered("critic", { quote: TEXTS.outputText }), at });
  expect((await readRoleCalls(db, lease)).map(({ answer }) => answer)).toEqual([
    { kind: "answer", answer: { quote: TEXTS.outputText } },
  ]);
  await world.query("update ahs.verdict set status = 'pending', lease_until = null where id = $1", [
    verdictId,
  ]);
  await world.run(hold, { db });
  const offer = { verdictId, owner: "key:1", text: TEXTS.evidence, isFinal: false };
  const accepted = await acceptEvidence({ db, now: world.now, randomUuid: randomUUID }, offer);
  expect(accepted).toMatchObject({ kind: "kept", count: 1 });
  return verdictId;
}

const read = (db: Database, verdictId: string) =>
  readVerdictCase(db, { verdictId, chainId: CHAIN_ID, texts: db.texts });

/** Everything that the tables of texts hold, as text. */
async function stored(): Promise<string> {
  const tables = ["job_spec", "output_text", "held_evidence", "role_call"];
  const rows = await Promise.all(tables.map((table) => world.query(`select * from ahs.${table}`)));
  return JSON.stringify(rows);
}

test("texts are stored encrypted, every reader gets them back, and a rotation moves them to the new key", async () => {
  const id = await heldVerdict(world.db);
  expect(await stored()).not.toMatch(/secret|Rhine/);
  const shown = { ...TEXTS, evidence: [{ text: TEXTS.evidence, createdAt: world.now() }] };
  expect(await readStoredTexts(world.db, id)).toEqual(shown);
  const { texts, specId } = await read(world.db, id);
  const { evidence, ...given } = TEXTS;
  expect(texts).toEqual({ ...given, evidenceTexts: [evidence] });
  expect(await readSpec(world.db, specId)).toMatchObject({
    specText: TEXTS.specText,
    acceptanceCriteria: TEXTS.acceptanceCriteria,
  });
  expect([...(await countTextsByKey(world.db))]).toEqual([[world.db.texts.keyId, 5]]);

  const keyless = openMigrated(world.url);
  await expect(readStoredTexts(keyless, id)).rejects.toThrow("set TEXT_ENCRYPTION_KEY");
  await expect(resealBatch(keyless, 10)).rejects.toThrow("missing settings: TEXT_ENCRYPTION_KEY");
  await keyless.$client.end();

  // Rows of a time without a key, and one of the old key, in batches of two.
  await world.query("update ahs.output_text set text = $1", [TEXTS.outputText]);
  await world.query("update ahs.role_call set answer = $1", [JSON.stringify({ quote: "Rhine" })]);
  const rotated = openMigrated(world.url, { current: SECOND, old: [FIRST] });
  const batches: number[] = [];
  for (let batch = await resealBatch(rotated, 2); batch > 0; batch = await resealBatch(rotated, 2)) {
    batches.push(batch);
  }
  expect(batches).toEqual([1, 1, 1, 1, 1]);
  expect(await stored()).not.toMatch(/secret|Rhine/);
  expect([...(await countTextsByKey(rotated))]).toEqual([[rotated.texts.keyId, 5]]);
  await rotated.$client.end();

  const config = parseConfig({
    DATABASE_URL: world.url,
    TEXT_ENCRYPTION_KEY: `0x${SECOND.toString("hex")}`,
    LOG_LEVEL: "fatal",
  });
  const lines: string[] = [];
  for (const args of [["status"], ["encrypt"]]) {
    await runTexts({ config, args, out: (line) => lines.push(line) });
  }
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^[0-9a-f]{8} +5 +the current key$/),
    expect.stringMatching(/^0 texts encrypted with key [0-9a-f]{8}, 0 left$/),
  ]);

  const later = openMigrated(world.url, { current: SECOND, old: [] });
  expect(await readStoredTexts(later, id)).toEqual(shown);
  expect(await readRoleCalls(later, { verdictId: id, run: 1 })).toMatchObject([
    { role: "critic", answer: { kind: "answer", answer: { quote: "Rhine" } } },
  ]);
  const offer = {
    verdictId: id,
    decision: "ALLOW",
    reviewer: "anna",
    reviewedBy: "key:2",
    reason: "It is right.",
  } as const;
  expect(await recordReview({ db: later, now: world.now, chainId: CHAIN_ID }, offer)).toMatchObject({
    kind: "recorded",
  });
  await later.$client.end();
});
