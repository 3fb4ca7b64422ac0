import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { jobSpec } from "../../../../service/db/tables/verdict.ts";
import {
  acceptOutput,
  activateOutput,
  findAccepted,
  type OutputDraft,
} from "../../../../service/verification/verdicts/accept-output.ts";
import { dropIntake } from "../../../../service/verification/verdicts/settle-intake.ts";
import { CHAIN_ID, CLIENT, createVerdictWorld, PROVIDER, type VerdictWorld } from "./verdict-world.ts";

const ESCROW = `0x${"e5".repeat(20)}` as const;
const JOB = { chainId: CHAIN_ID, escrow: ESCROW, jobId: 7n };
const SLOT = "job:31337:0xe5:7:0x0f";
const SUBMITTER = "wallet:0xee";

let world: VerdictWorld;
let specId: string;
beforeAll(async () => {
  world = await createVerdictWorld();
  specId = randomUUID();
  await world.db.insert(jobSpec).values({
    id: specId,
    clientAddr: CLIENT,
    specText: "Name three rivers.",
    domain: "content",
    specHash: "0x5e",
    createdAt: world.now(),
  });
});
afterEach(() => world.query("truncate ahs.verdict cascade"));
afterAll(() => world.close());

const draftOf = (changes: Partial<OutputDraft> = {}): OutputDraft => ({
  specId,
  slot: SLOT,
  outputHash: "0x0f",
  outputText: "Rhine, Elbe, Oder",
  submittedBy: "client",
  submitterAddr: CLIENT,
  providerAddr: PROVIDER,
  job: JOB,
  ...{ runTokens: 9, stakeMicroUsd: 5_000_000n, expiresAt: null },
  webhookUrl: null,
  ...changes,
});

function accept(draft: OutputDraft, by: { readonly owner: string; readonly paymentId?: string }) {
  const { owner, paymentId = randomUUID() } = by;
  const purchaser = { owner, units: 500, debitId: null, paymentId, signal: new AbortController().signal };
  return acceptOutput(deps(), draft, purchaser);
}

const deps = () => ({
  db: world.db,
  logger: pino({ level: "silent" }),
  now: world.now,
  randomBytes,
  randomUuid: randomUUID,
  waitMs: 300,
});

const failedOfJob = (changes: object = {}) =>
  world.add({
    status: "failed",
    slot: SLOT,
    owner: SUBMITTER,
    debitId: null,
    jobChainId: JOB.chainId,
    jobEscrow: JOB.escrow,
    jobId: JOB.jobId,
    ...changes,
  });

async function replacedAt(id: string): Promise<Date | null> {
  const rows = await world.query<{ replaced_at: Date | null }>(
    "select replaced_at from ahs.verdict where id = $1",
    [id],
  );
  return rows[0]?.replaced_at ?? null;
}

describe("a failed verdict of a job", () => {
  it("gives its place to the same output of another account at once, charged anew, and to its submitter's after the retries", async () => {
    const id = await failedOfJob();
    const failed = { verdictId: id, status: "failed" };
    expect(await findAccepted(world.db, { slot: SLOT, owner: SUBMITTER })).toEqual(failed);
    expect(await accept(draftOf(), { owner: SUBMITTER })).toEqual({ kind: "there", accepted: failed });
    expect(await findAccepted(world.db, { slot: SLOT, owner: "wallet:0xa9" })).toBeNull();
    expect(await accept(draftOf(), { owner: "wallet:0xa9" })).toMatchObject({ kind: "noted" });
    expect(await replacedAt(id)).toEqual(world.now());
  });

  it("gets its place back if the account that took it does not pay, and loses no retries", async () => {
    const id = await failedOfJob();
    world.pass(1_234);
    const noted = await accept(draftOf(), { owner: "wallet:0xa9" });
    if (noted.kind !== "noted") throw new Error(`it is ${noted.kind}`);
    await world.db.transaction((tx) => dropIntake(tx, noted.verdictId));
    expect(await replacedAt(id)).toBeNull();
    expect(await findAccepted(world.db, { slot: SLOT, owner: SUBMITTER })).toMatchObject({ verdictId: id });
  });

  it.each([
    ["of no job", { jobChainId: null, jobEscrow: null, jobId: null }],
    ["that is run again", { status: "pending" }],
    ["that is decided", { status: "completed", runs: 1 }],
  ] as const)("but not one %s", async (_, changes) => {
    const id = await failedOfJob(changes);
    expect(await accept(draftOf(), { owner: "wallet:0xa9" })).toMatchObject({
      kind: "there",
      accepted: { verdictId: id },
    });
  });
});

describe("a payment that an output was noted for before", () => {
  it("has that verdict again, even where the output belongs elsewhere by now", async () => {
    const paymentId = randomUUID();
    const first = await accept(draftOf({ slot: `spec:${specId}:0x0f`, job: null }), {
      owner: SUBMITTER,
      paymentId,
    });
    expect(await accept(draftOf(), { owner: SUBMITTER, paymentId })).toEqual({
      ...first,
      webhookSecret: null,
    });
  });

  it("pays for the output that it came with, and the note for another one is void", async () => {
    const paymentId = randomUUID();
    const first = await accept(draftOf({ slot: "a" }), { owner: SUBMITTER, paymentId });
    const other = draftOf({ slot: "b", outputHash: "0x0b", outputText: "Spree" });
    const second = await accept(other, { owner: SUBMITTER, paymentId });
    if (first.kind !== "noted" || second.kind !== "noted") throw new Error("one of them was not noted");
    expect(await world.row(second.verdictId)).toMatchObject({ output_hash: "0x0b" });
    await expect(activateOutput(deps(), first.verdictId)).rejects.toThrow("is gone");
  });

  it("pays for nothing else once it has bought its output", async () => {
    const paymentId = randomUUID();
    await world.add({ slot: "a", paymentId, debitId: null });
    await expect(accept(draftOf({ slot: "b" }), { owner: SUBMITTER, paymentId })).rejects.toThrow(
      "was bought",
    );
  });
});
