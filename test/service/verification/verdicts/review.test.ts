import { keccak256, stringToBytes } from "viem";
import { describe, expect, test } from "vitest";
import { renderVerdict } from "../../../../service/api/verification/get-verdict.ts";
import { verdictSchema } from "../../../../service/api/verification/verdict-schema.ts";
import { openDatabase } from "../../../../service/db/database.ts";
import { readUnsigned } from "../../../../service/verification/escrow/settlement-checks.ts";
import { receiptPayload } from "../../../../service/verification/verdicts/receipt.ts";
import { askRerun } from "../../../../service/verification/verdicts/rerun-verdict.ts";
import { recordReview } from "../../../../service/verification/verdicts/review.ts";
import { runOne } from "../../../../service/verification/verdicts/run-one.ts";
import { readVerdict } from "../../../../service/verification/verdicts/verdict-view.ts";
import { allow, BALANCE, CHAIN_ID, fails, hold, NEVER, UNITS, useVerdictWorld } from "./verdict-world.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const ESCROW = `0x${"e5".repeat(20)}` as const;

const world = useVerdictWorld();

async function held(): Promise<string> {
  const id = await world.add();
  await world.run(hold);
  return id;
}

const ask = (verdictId: string, cause: "evidence" | "near_expiry") =>
  world.db.transaction((tx) => askRerun(tx, { verdictId, cause, at: world.now() }));

const review = (verdictId: string, decision: "ALLOW" | "REJECT" = "ALLOW", db = world.db) =>
  recordReview(
    { db, chainId: CHAIN_ID, now: world.now },
    { verdictId, decision, reason: "All three are rivers.", reviewedBy: "ada" },
  );

describe("a held verdict", () => {
  test("is run again once for each cause, and has its decision meanwhile", async () => {
    const id = await held();
    for (const [place, cause] of (["evidence", "near_expiry"] as const).entries()) {
      expect(await ask(id, cause)).toBe("asked");
      expect(await world.row(id)).toMatchObject({
        status: "pending",
        runs: place + 1,
        final_verdict: "HOLD",
      });
      world.pass(1_000);
      await world.run(hold);
      expect(await world.row(id)).toMatchObject({ status: "completed", runs: place + 2, cause });
    }
    expect(await ask(id, "evidence")).toBe("used_up");
    expect(await ask(id, "near_expiry")).toBe("used_up");
    expect((await world.runs(id)).map(({ cause }) => cause)).toEqual([
      "submitted",
      "evidence",
      "near_expiry",
    ]);
    expect((await world.events()).map(({ data }) => data.run)).toEqual([1, 2, 3]);
  });

  test("has one re-run at a time, however many ask at once", async () => {
    const id = await held();
    const outcomes = await Promise.all([
      ask(id, "evidence"),
      ask(id, "evidence"),
      ask(id, "near_expiry"),
      ask(id, "near_expiry"),
    ]);
    expect(outcomes.toSorted()).toEqual(["asked", "busy", "busy", "busy"]);
    await world.lease();
    expect(await ask(id, "evidence")).toBe("busy");
  });

  test("that a re-run allows has no other re-run", async () => {
    const id = await held();
    await ask(id, "evidence");
    await world.run(allow);
    expect(await world.row(id)).toMatchObject({ status: "completed", final_verdict: "ALLOW" });
    expect(await ask(id, "near_expiry")).toBe("not_held");
  });

  test("stays held where its re-run fails: no event, no debit back, and the cause may be asked for again", async () => {
    const id = await held();
    await ask(id, "evidence");
    await world.run(fails(false));
    expect(await world.row(id)).toMatchObject({
      status: "completed",
      runs: 1,
      final_verdict: "HOLD",
      error_message: "No answer came from critic.",
    });
    expect((await world.events()).map(({ type }) => type)).toEqual(["verdict.held"]);
    expect(await world.balance()).toBe(BALANCE - UNITS);
    expect(await ask(id, "evidence")).toBe("asked");
    await world.run(allow);
    expect(await world.row(id)).toMatchObject({ runs: 2, error_message: null });
  });
});

test("a verdict that does not exist, is not decided yet or was allowed is not run again", async () => {
  expect(await ask(UNKNOWN, "evidence")).toBe("not_held");
  const id = await world.add();
  expect(await ask(id, "evidence")).toBe("not_held");
  await world.run(allow);
  expect(await ask(id, "evidence")).toBe("not_held");
});

describe("a review", () => {
  test("needs no second connection, so that as many as there are go on at once", async () => {
    const id = await held();
    const alone = openDatabase({
      url: world.db.$client.options.connectionString ?? "",
      applicationName: "ahs-test",
      maxConnections: 1,
      statementTimeoutMs: 5_000,
      connectTimeoutMs: 1_000,
      onIdleError: () => undefined,
    });
    const reviewed = review(id, "ALLOW", alone).finally(() => alone.$client.end());
    await expect(reviewed).resolves.toMatchObject({ kind: "recorded" });
  });

  test("of a held verdict is a decision of its own, with evidence that names reviewer and reason", async () => {
    const id = await held();
    const [first] = await world.runs(id);
    world.pass(60_000);
    const outcome = await review(id, "REJECT");
    const [, stored] = await world.runs(id);
    expect(outcome).toEqual({ kind: "recorded", run: 2, evidenceHash: stored?.evidence_hash });
    expect(stored).toMatchObject({ run: 2, cause: "review", final_verdict: "REJECT" });
    expect(stored?.result).toEqual({
      ...first?.result,
      final_verdict: "REJECT",
      review: { reviewed_by: "ada", reason: "All three are rivers." },
    });
    expect(stored?.evidence_hash).toBe(keccak256(stringToBytes(stored?.evidence ?? "")));
    expect(JSON.parse(stored?.evidence ?? "")).toEqual({
      ...JSON.parse(first?.evidence ?? ""),
      run: 2,
      cause: "review",
      final_verdict: "REJECT",
      reviewed_by: "ada",
      review_reason: "All three are rivers.",
      evaluated_at: world.now().toISOString(),
    });
    expect(await world.row(id)).toMatchObject({
      status: "completed",
      cause: "review",
      final_verdict: "REJECT",
    });
    expect((await world.events()).map(({ type, data }) => [type, data.cause])).toEqual([
      ["verdict.held", "submitted"],
      ["verdict.completed", "review"],
    ]);
  });

  test("counts once, however many reviewers decide at once", async () => {
    const id = await held();
    const outcomes = await Promise.all([review(id, "ALLOW"), review(id, "REJECT"), review(id, "ALLOW")]);
    expect(outcomes.filter(({ kind }) => kind === "recorded")).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === "not_held")).toHaveLength(2);
    expect(await world.runs(id)).toHaveLength(2);
  });

  test("of a verdict that has no decision, or another one than HOLD, changes nothing", async () => {
    const id = await world.add();
    expect(await review(id)).toEqual({ kind: "undecided" });
    await world.run(allow);
    expect(await review(id, "REJECT")).toEqual({ kind: "not_held", finalVerdict: "ALLOW" });
    expect(await world.runs(id)).toHaveLength(1);
    expect(await review(UNKNOWN)).toEqual({ kind: "undecided" });
  });

  test("of a failed verdict of a job is its first decision, without score and findings", async () => {
    const id = await world.add({ jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 7n });
    await world.run(fails(false));
    const outcome = await review(id, "REJECT");
    const [stored] = await world.runs(id);
    expect(outcome).toEqual({ kind: "recorded", run: 1, evidenceHash: stored?.evidence_hash });
    expect(stored?.result).toEqual({
      final_verdict: "REJECT",
      final_score: null,
      confidence: null,
      mdi: null,
      domain: "content",
      met_criteria: [],
      unmet_criteria: [],
      key_objections: [],
      reasoning: "All three are rivers.",
      strongest_dissent: null,
      generator_majority: null,
      critic_override_applied: false,
      zero_history_adjustment_applied: false,
      rejection_asymmetry_applied: false,
      latency_ms: null,
      findings: [],
      methodology: {
        panel_version: null,
        prompt_hash: null,
        models: {},
        thresholds: { domain: "content", confidence: 0.5 },
        rules_fired: [],
        voting: null,
      },
      review: { reviewed_by: "ada", reason: "All three are rivers." },
    });
    expect(stored?.evidence_hash).toBe(keccak256(stringToBytes(stored?.evidence ?? "")));
    expect(JSON.parse(stored?.evidence ?? "")).toMatchObject({
      verdict_id: id,
      run: 1,
      cause: "review",
      erc8183_job_id: "0x7",
      final_verdict: "REJECT",
      final_score: null,
      confidence: null,
      panel_version: null,
      models: {},
      findings: [],
      reviewed_by: "ada",
      review_reason: "All three are rivers.",
    });
    expect(await world.row(id)).toMatchObject({
      status: "completed",
      final_verdict: "REJECT",
      error_message: null,
    });
    const answer = await readVerdict(world.db, id);
    if (answer === null) throw new Error("the verdict is there");
    expect(verdictSchema.parse(renderVerdict(answer))).toMatchObject({
      final_score: null,
      on_chain_action: "reject",
    });
    const of = { origin: "https://verify.example", now: world.now() };
    expect(receiptPayload(answer, of)).toMatchObject({
      v_verdict: "refuted",
      v_confidence: 0,
      v_method: "review",
    });
    await world.query(`create schema "chain_${CHAIN_ID}"`);
    await world.query(
      `create table "chain_${CHAIN_ID}".job (id text, submitted_block numeric, ended_block numeric)`,
    );
    const due = { chainId: CHAIN_ID, now: world.now(), limit: 5 };
    expect(await readUnsigned(world.db, due)).toMatchObject([
      { verdictId: id, decision: "REJECT", score: 0, confidenceBps: 0, models: [] },
    ]);
    expect(await review(id)).toEqual({ kind: "not_held", finalVerdict: "REJECT" });
  });

  test("of a failed verdict of no job, or whose place another has, changes nothing", async () => {
    const replaced = { jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 7n, replacedAt: world.now() };
    for (const changes of [{}, replaced]) {
      const id = await world.add({ ...changes, status: "failed" });
      expect(await review(id)).toEqual({ kind: "undecided" });
      expect(await world.runs(id)).toEqual([]);
    }
  });

  test("prevails over a re-run that is under way", async () => {
    const id = await held();
    await ask(id, "near_expiry");
    const under = await world.lease();
    await review(id, "REJECT");
    await runOne(world.deps(allow), under, NEVER);
    expect((await world.runs(id)).map(({ final_verdict }) => final_verdict)).toEqual(["HOLD", "REJECT"]);
    expect(await world.row(id)).toMatchObject({ status: "completed", final_verdict: "REJECT" });
  });
});
