import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ErasureState,
  eraseRequested,
  refusalOf,
  requestErasure,
} from "../../../../service/verification/verdicts/erase-texts.ts";
import { askRerun } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { recordReview } from "../../../../service/verification/verdicts/review.ts";
import {
  readStoredEvidence,
  readStoredTexts,
  readVerdict,
} from "../../../../service/verification/verdicts/verdict-view.ts";
import { openMigrated, urlForRole } from "../../../support/test-database.ts";
import {
  allow,
  CHAIN_ID,
  CLIENT,
  createVerdictWorld,
  fails,
  hold,
  PROVIDER,
  type VerdictWorld,
} from "./verdict-world.ts";

let world: VerdictWorld;
beforeAll(async () => {
  world = await createVerdictWorld();
});
afterAll(() => world.close());

const ask = (verdictId: string, owner: string) =>
  requestErasure(world.db, { verdictId, owner, now: world.now() });
const erase = () => eraseRequested(world.db, world.now());
const SPECIFICATION = { specText: "Name three rivers.", acceptanceCriteria: "Names three rivers" };

describe("who may have texts erased, and when", () => {
  const over: ErasureState = {
    ...{ owner: "key:1", clientAddr: CLIENT, providerAddr: PROVIDER },
    ...{ status: "completed", isOwed: false, isJobOpen: false },
  };

  it.each<[by: string, change: Partial<ErasureState>, kind: string | null]>([
    ["key:1", {}, null],
    [`wallet:${CLIENT}`, {}, null],
    [`wallet:${PROVIDER}`, { status: "failed" }, null],
    [`wallet:${PROVIDER}`, { status: "failed", isOwed: true }, "owed"],
    ["key:1", { status: "failed", isOwed: true }, null],
    ["key:2", {}, "stranger"],
    [`key:${CLIENT}`, {}, "stranger"],
    ["key:2", { status: "pending" }, "stranger"],
    ["key:1", { status: "pending" }, "open"],
    ["key:1", { status: "processing", isJobOpen: true }, "open"],
    ["key:1", { isJobOpen: true }, "unsettled"],
    [`wallet:${PROVIDER}`, { status: "failed", isJobOpen: true }, "unsettled"],
  ])("%s with %j: %s", (by, change, kind) => {
    expect(refusalOf({ ...over, ...change }, by)?.kind ?? null).toBe(kind);
  });
});

describe("a request", () => {
  it("erases all texts of a verdict and what quotes them, and leaves hashes, verdict and scores", async () => {
    const [id, other] = [await world.add(), await world.add()];
    await world.work(hold);
    await world.addEvidence(id, "A secret map.");
    await world.query(
      `insert into ahs.role_call (verdict_id, run, role, model, answer, mode, requests, prompt_tokens, completion_tokens,
         latency_ms, created_at) values ($1, 1, 'critic', 'm', '{"quote":"Rhine"}', 'json_schema', 1, 100, 20, 5, now())`,
      [id],
    );
    const before = await readVerdict(world.db, id);
    const owner = before?.owner ?? "";
    const requestedAt = world.now();
    expect(await ask(id, owner)).toEqual({ kind: "requested", requestedAt, erasedAt: null });
    world.pass(1_000);
    expect(await ask(id, `wallet:${PROVIDER}`)).toEqual({ kind: "requested", requestedAt, erasedAt: null });
    expect([await erase(), await erase()]).toEqual([1, 0]);
    expect(await ask(id, owner)).toEqual({ kind: "requested", requestedAt, erasedAt: world.now() });

    const evidence = [{ text: null, createdAt: expect.any(Date) }];
    expect(await readStoredTexts(world.db, id)).toEqual({ ...SPECIFICATION, outputText: null, evidence });
    const hash = before?.runs[0]?.evidenceHash;
    expect(await readStoredEvidence(world.db, id, null)).toEqual({ run: 1, body: null, hash });
    const after = await readVerdict(world.db, id);
    expect(after?.runs).toEqual(before?.runs);
    const { result } = before ?? {};
    expect(after?.result).toEqual({
      ...result,
      ...{ met_criteria: [], unmet_criteria: [], key_objections: [], strongest_dissent: null },
      reasoning: "Erased on request.",
      findings: result?.findings.map((finding) => ({
        ...finding,
        criteria: finding.criteria.map((one) => ({ ...one, evidence: "" })),
        objections: [],
      })),
    });
    const calls = await world.query("select answer, failure, prompt_tokens from ahs.role_call");
    expect(calls).toEqual([{ answer: null, failure: "its texts were erased", prompt_tokens: 100 }]);
    expect(await readStoredTexts(world.db, other)).toMatchObject({ outputText: "Rhine, Elbe, Oder" });
    expect((await readStoredEvidence(world.db, other, null))?.body).toContain('"final_verdict":"HOLD"');
  });

  it("of the client erases the specification as well, unless another verdict needs it", async () => {
    const [id, needed, second] = [await world.add(), await world.add(), await world.add()];
    await world.query(
      "update ahs.verdict set spec_id = (select spec_id from ahs.verdict where id = $1) where id = $2",
      [needed, second],
    );
    await world.work(allow);
    for (const each of [id, needed]) await ask(each, `wallet:${CLIENT}`);
    expect(await erase()).toBe(2);
    const gone = { specText: null, acceptanceCriteria: null, outputText: null };
    expect(await readStoredTexts(world.db, id)).toMatchObject(gone);
    expect(await readStoredTexts(world.db, needed)).toMatchObject({ ...SPECIFICATION, outputText: null });
  });

  it("leaves a HOLD that a reviewer can still decide", async () => {
    const id = await world.add();
    await world.work(hold);
    await ask(id, `wallet:${PROVIDER}`);
    expect(await erase()).toBe(1);
    const review = { verdictId: id, decision: "REJECT", reviewedBy: "key:2", reason: "It is late." } as const;
    const outcome = await recordReview({ db: world.db, now: world.now, chainId: CHAIN_ID }, review);
    expect(outcome).toMatchObject({ kind: "recorded", run: 2 });
    expect((await readStoredEvidence(world.db, id, 2))?.body).toContain('"final_verdict":"REJECT"');
    expect(await readStoredEvidence(world.db, id, 1)).toMatchObject({ body: null });
  });

  it("is refused while the verdict is run, and waits for a run that began after it", async () => {
    const id = await world.add();
    const { owner = "" } = (await readVerdict(world.db, id)) ?? {};
    expect(await ask(id, owner)).toEqual({ kind: "open", status: "pending" });
    await world.work(hold);
    expect(await ask(id, owner)).toMatchObject({ kind: "requested" });
    await world.db.transaction((tx) => askRerun(tx, { verdictId: id, cause: "evidence", at: world.now() }));
    expect(await erase()).toBe(0);
    await world.work(allow);
    expect(await erase()).toBe(1);
    expect(await world.runs(id)).toMatchObject([
      { final_verdict: "HOLD", evidence: "" },
      { final_verdict: "ALLOW", evidence: "" },
    ]);
  });

  it("about a failed verdict that was paid is its payer's alone, until it cannot be retried", async () => {
    const paymentId = await world.escrowedPayment();
    await world.query("update ahs.payment set scheme = 'exact', capture_state = null");
    const id = await world.add({ debitId: null, paymentId, owner: "wallet:0x99" });
    await world.work(fails(false));
    expect(await ask(id, `wallet:${PROVIDER}`)).toEqual({ kind: "owed" });
    await world.query("update ahs.verdict set retries = 3 where id = $1", [id]);
    expect(await ask(id, `wallet:${PROVIDER}`)).toMatchObject({ kind: "requested" });
    expect(await erase()).toBe(1);
  });

  it("of a verdict that does not exist is unknown, as is one whose price is not settled", async () => {
    expect(await ask("00000000-0000-4000-8000-000000000000", "key:1")).toEqual({ kind: "unknown" });
    expect(await ask(await world.add({ status: "unsettled" }), "key:1")).toEqual({ kind: "unknown" });
  });

  it("about a job is refused until the index shows its end", async () => {
    const escrow = `0x${"e5".repeat(20)}` as const;
    const id = await world.add({ jobChainId: CHAIN_ID, jobEscrow: escrow, jobId: 7n });
    await world.work(allow);
    expect(await ask(id, `wallet:${PROVIDER}`)).toEqual({ kind: "unsettled" });
    await world.query(`create schema chain_${CHAIN_ID}`);
    await world.query(`create table chain_${CHAIN_ID}.job (id text, status text)`);
    await world.query(`insert into chain_${CHAIN_ID}.job values ($1, 'Submitted')`, [`${escrow}:7`]);
    expect(await ask(id, `wallet:${PROVIDER}`)).toEqual({ kind: "unsettled" });
    await world.query(`update chain_${CHAIN_ID}.job set status = 'Completed'`);
    // A job that its verdict does not settle, whose specification others may still deliver by.
    const unbound = await world.add();
    await world.work(allow);
    await world.query("update ahs.job_spec set job_chain_id = $1, job_escrow = $2, job_id = 8", [
      CHAIN_ID,
      escrow,
    ]);
    await world.query(
      `update ahs.job_spec set job_id = 7 where id = (select spec_id from ahs.verdict where id = $1)`,
      [id],
    );
    for (const each of [id, unbound]) {
      expect(await ask(each, `wallet:${CLIENT}`)).toMatchObject({ kind: "requested" });
    }
    expect(await erase()).toBe(2);
    expect(await readStoredTexts(world.db, id)).toMatchObject({ specText: null, outputText: null });
    expect(await readStoredTexts(world.db, unbound)).toMatchObject({ ...SPECIFICATION, outputText: null });
    await world.query(`drop schema chain_${CHAIN_ID} cascade`);
  });

  it("is made by a server's role and carried out by a worker's", async () => {
    const id = await world.add();
    await world.work(allow);
    const [server, worker] = (["ahs_serve", "ahs_work"] as const).map((role) =>
      openMigrated(urlForRole(world.url, role)),
    );
    if (server === undefined || worker === undefined) throw new Error("there are two roles");
    const request = { verdictId: id, owner: `wallet:${CLIENT}`, now: world.now() };
    expect(await requestErasure(server, request)).toMatchObject({ kind: "requested" });
    await expect(eraseRequested(server, world.now())).rejects.toThrow();
    expect(await eraseRequested(worker, world.now())).toBe(1);
    await Promise.all([server.$client.end(), worker.$client.end()]);
  });
});
