import { randomUUID } from "node:crypto";
import { keccak256, stringToHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_ANSWER_YET } from "../../../../service/verification/panel/ask-role.ts";
import { ROLE_NAMES, type RoleName } from "../../../../service/verification/panel/types.ts";
import { askRerun } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { listHeldVerdicts } from "../../../../service/verification/verdicts/review.ts";
import {
  readOwnVerdicts,
  readStoredEvidence,
  readStoredTexts,
  readVerdict,
} from "../../../../service/verification/verdicts/verdict-view.ts";
import { abstained, answered, decided } from "./a-decision.ts";
import { allow, CLIENT, createVerdictWorld, hold, PROVIDER, type VerdictWorld } from "./verdict-world.ts";

let world: VerdictWorld;
beforeAll(async () => {
  world = await createVerdictWorld();
});
afterAll(() => world.close());

const JOB = { jobChainId: 31_337, jobEscrow: `0x${"e5".repeat(20)}` as const, jobId: 7n };

describe("a verdict as its readers see it", () => {
  it("is there from its acceptance on, and not before", async () => {
    const [accepted, unsettled] = [await world.add(), await world.add({ status: "unsettled" })];
    expect(await readVerdict(world.db, unsettled)).toBeNull();
    expect(await readVerdict(world.db, randomUUID())).toBeNull();
    expect(await readVerdict(world.db, accepted)).toMatchObject({
      id: accepted,
      status: "pending",
      rerun: null,
      clientAddr: CLIENT,
      providerAddr: PROVIDER,
      runs: [],
      result: null,
      namedJob: null,
      settlement: null,
    });
    const { owner = "" } = (await readVerdict(world.db, accepted)) ?? {};
    const own = await readOwnVerdicts(world.db, owner, 20);
    expect(own).toMatchObject([{ id: accepted, status: "pending", finalVerdict: null }]);
    expect(await readOwnVerdicts(world.db, `key:${randomUUID()}`, 20)).toEqual([]);
    await world.work(async () => decided("REJECT"));
  });

  it("shows how far each role is in a run, and nothing that a role says", async () => {
    const id = await world.add();
    const waiting = ROLE_NAMES.map((role) => ({ role, status: "waiting" }));
    expect((await readVerdict(world.db, id))?.progress).toEqual(waiting);
    const stored = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const run = world.run(async (_, { begin, keep }) => {
      await begin(answered("criteria_auditor", null));
      const begun = { ...abstained("domain_expert", NO_ANSWER_YET), completionTokens: 0 };
      await begin(begun);
      await keep(answered("criteria_auditor", { reasoning: "SECRET" }));
      await keep(abstained("user_advocate"));
      stored.resolve();
      await late.promise;
      return decided("ALLOW");
    });
    await stored.promise;
    const view = await readVerdict(world.db, id);
    const shown: Partial<Record<RoleName, string>> = {
      criteria_auditor: "answered",
      domain_expert: "asked",
      user_advocate: "abstained",
    };
    expect(view).toMatchObject({ status: "processing", result: null });
    expect(view?.progress).toEqual(waiting.map(({ role }) => ({ role, status: shown[role] ?? "waiting" })));
    expect(JSON.stringify(view)).not.toContain("SECRET");
    late.resolve();
    await run;
    expect((await readVerdict(world.db, id))?.progress).toBeNull();
  });

  it("shows its newest decision, and all of them in order", async () => {
    const id = await world.add();
    await world.work(hold);
    await world.db.transaction((tx) => askRerun(tx, { verdictId: id, cause: "evidence", at: world.now() }));
    expect(await readVerdict(world.db, id)).toMatchObject({
      status: "completed",
      rerun: { cause: "evidence", status: "pending" },
      result: { final_verdict: "HOLD" },
    });
    world.pass(1_000);
    await world.work(allow);
    const view = await readVerdict(world.db, id);
    expect(view).toMatchObject({ status: "completed", rerun: null, result: { final_verdict: "ALLOW" } });
    expect(view?.runs.map(({ run, cause, finalVerdict }) => [run, cause, finalVerdict])).toEqual([
      [1, "submitted", "HOLD"],
      [2, "evidence", "ALLOW"],
    ]);
    expect(view?.runs[1]?.createdAt).toEqual(world.now());
  });

  it("has the evidence of each decision, byte by byte what was hashed", async () => {
    const id = await world.add();
    expect(await readStoredEvidence(world.db, id, null)).toBeNull();
    await world.work(hold);
    const newest = await readStoredEvidence(world.db, id, null);
    const view = await readVerdict(world.db, id);
    expect(newest?.hash).toBe(view?.runs[0]?.evidenceHash);
    expect(keccak256(stringToHex(newest?.body ?? ""))).toBe(newest?.hash);
    expect(await readStoredEvidence(world.db, id, 1)).toEqual(newest);
    expect(await readStoredEvidence(world.db, id, 2)).toBeNull();
  });

  it("names the job of its specification, bound or not", async () => {
    const [bound, unbound] = [await world.add(JOB), await world.add()];
    await world.query(
      `update ahs.job_spec set job_chain_id = 31337, job_escrow = $2, job_id = 7
       where id = (select spec_id from ahs.verdict where id = $1)`,
      [unbound, JOB.jobEscrow],
    );
    const named = { chainId: 31_337, escrow: JOB.jobEscrow, jobId: 7n };
    expect(await readVerdict(world.db, bound)).toMatchObject({
      namedJob: { ...named, isBound: true },
      settlement: { ...named, status: "waiting" },
    });
    expect(await readVerdict(world.db, unbound)).toMatchObject({
      namedJob: { ...named, isBound: false },
      settlement: null,
    });
    await world.work(allow);
  });

  it("has its texts as long as they are stored", async () => {
    const id = await world.add();
    expect(await readStoredTexts(world.db, id)).toEqual({
      specText: "Name three rivers.",
      acceptanceCriteria: "Names three rivers",
      outputText: "Rhine, Elbe, Oder",
      evidence: [],
    });
    await world.query("delete from ahs.output_text where verdict_id = $1", [id]);
    expect(await readStoredTexts(world.db, id)).toMatchObject({ outputText: null });
    await world.query("delete from ahs.verdict where id = $1", [id]);
  });

  it("is listed for reviewers while it is on HOLD, or has failed for a job: by when its job expires, and last where it has none", async () => {
    await world.query("delete from ahs.verdict");
    const held = async (job: object): Promise<string> => {
      const id = await world.add(job);
      await world.work(hold);
      world.pass(60_000);
      return id;
    };
    const inHours = (hours: number) => new Date(world.now().getTime() + hours * 3_600_000);
    const clock = (id: string, expiresAt: Date, endedAt: Date | null = null) =>
      world.query(
        `insert into ahs.hold_clock (verdict_id, chain_id, expires_at, rerun_at, review_by, ended_at, created_at)
         values ($1, 31337, $2, $2, $2, $3, $2)`,
        [id, expiresAt, endedAt],
      );
    const unbound = [await held({}), await held({})];
    const [waiting, late, soon, ended] = [
      await held(JOB),
      await held({ ...JOB, jobId: 8n }),
      await held({ ...JOB, jobId: 9n }),
      await held({ ...JOB, jobId: 10n }),
    ];
    const expiresAt = inHours(1);
    await clock(late, inHours(2));
    await clock(soon, expiresAt);
    await clock(ended, inHours(-1), world.now());
    const failed = async (job: object) => {
      const id = await world.add({ status: "failed", ...job });
      world.pass(60_000);
      return id;
    };
    const failedOfJob = await failed({ ...JOB, jobId: 11n, updatedAt: world.now() });
    await failed({});
    await world.add();
    await world.work(allow);
    const list = await listHeldVerdicts(world.db, null);
    expect(list.verdicts.map(({ id }) => id)).toEqual([soon, late, waiting, failedOfJob, ...unbound]);
    expect(list.verdicts[0]).toMatchObject({
      job: { chainId: 31_337, escrow: JOB.jobEscrow, jobId: 9n },
      expiresAt,
    });
    expect(list.verdicts[3]).toMatchObject({ state: "failed", expiresAt: null });
    expect(list.verdicts[4]).toMatchObject({ state: "HOLD", job: null, expiresAt: null, reviewBy: null });
    const first = await listHeldVerdicts(world.db, 1);
    expect([first.verdicts.map(({ id }) => id), first.total]).toEqual([[soon], 6]);
  });
});
