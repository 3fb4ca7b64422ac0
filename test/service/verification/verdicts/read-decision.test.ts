import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readDecision } from "../../../../service/verification/verdicts/read-decision.ts";
import { readVerdict } from "../../../../service/verification/verdicts/verdict-view.ts";
import { allow, CHAIN_ID, fails, hold, PROVIDER, useVerdictWorld } from "./verdict-world.ts";

const world = useVerdictWorld();
const ESCROW = `0x${"e5".repeat(20)}` as const;
const OUTPUT_HASH = `0x${"0f".repeat(32)}` as const;

const ofVerdict = (verdictId: string, provider: `0x${string}` = PROVIDER) =>
  readDecision(world.db, { verdictId, provider });

test("returns the newest decision without the verdict's id and what is written in it", async () => {
  const id = await world.add({ jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 7n });
  expect(await ofVerdict(id)).toEqual({ kind: "undecided" });
  await world.work(hold);
  const view = await readVerdict(world.db, id);
  const decision = {
    kind: "decided",
    ...{ decision: "HOLD", score: 80, confidence: 0.9, panelVersion: "p1", isReviewed: false },
    evidenceHash: view?.runs[0]?.evidenceHash,
    evaluatedAt: world.now(),
    job: {
      ...{ chainId: CHAIN_ID, escrow: ESCROW, jobId: 7n },
      ...{ specHash: `0x${"5e".repeat(32)}`, outputHash: OUTPUT_HASH },
    },
  };
  expect(await ofVerdict(id)).toEqual(decision);
  const [{ spec_id: specId } = { spec_id: "" }] = await world.query<{ spec_id: string }>(
    "select spec_id from ahs.verdict",
  );
  const byOutput = { specId, outputHash: OUTPUT_HASH, provider: PROVIDER };
  expect(await readDecision(world.db, byOutput)).toEqual(decision);
  expect(await readDecision(world.db, { ...byOutput, outputHash: `0x${"00".repeat(32)}` })).toEqual({
    kind: "unknown",
  });
});

test("waits for a decision that an appeal may change, and for a run that is due", async () => {
  const id = await world.add({ jobChainId: CHAIN_ID, jobEscrow: ESCROW, jobId: 8n });
  await world.work(allow);
  expect(await ofVerdict(id)).toEqual({ kind: "undecided" });
  await world.query("delete from ahs.settlement_check");
  expect(await ofVerdict(id)).toMatchObject({ kind: "decided", decision: "ALLOW" });
  await world.query("update ahs.verdict set status = 'pending', cause = 'appeal'");
  expect(await ofVerdict(id)).toEqual({ kind: "undecided" });
});

test("gives no hashes of an output without a job, which a short text could be guessed by", async () => {
  const id = await world.add();
  await world.work(allow);
  expect(await ofVerdict(id)).toMatchObject({ kind: "decided", decision: "ALLOW", job: null });
});

test("does not say whether a verdict of another provider exists", async () => {
  const id = await world.add();
  await world.work(allow);
  const unsettled = await world.add({ status: "unsettled" });
  const unknown = { kind: "unknown" };
  expect(await ofVerdict(id, ESCROW)).toEqual(unknown);
  expect(await ofVerdict(randomUUID())).toEqual(unknown);
  expect(await ofVerdict(unsettled)).toEqual(unknown);
});

test("reports a verdict that failed without a decision", async () => {
  const id = await world.add();
  await world.work(fails(false));
  expect(await ofVerdict(id)).toEqual({ kind: "failed" });
});
