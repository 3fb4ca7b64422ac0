import {
  type Address,
  createPublicClient,
  encodeErrorResult,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
  zeroAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { roleAccounts } from "../../../../devnet/accounts.ts";
import { renderVerdict } from "../../../../service/api/verification/get-verdict.ts";
import { verdictEvaluatorAbi } from "../../../../service/chain/abi/verdict-evaluator.ts";
import { readVerdict } from "../../../../service/verification/verdicts/verdict-view.ts";
import { bootEscrowWorld, type EscrowWorld } from "./escrow-world.ts";
import { BUDGET, hashOf, STRANGER, type TestJob } from "./jobs-on-chain.ts";

const SUBMITTED = 2;
const COMPLETED = 3;

/** Blocks have to become final, and the index to follow them. */

let world: EscrowWorld;
let number = 0;

beforeAll(async () => {
  world = await bootEscrowWorld();
});
afterAll(() => world.close());

type DecidedOptions = {
  readonly generation?: TestJob["generation"];
  readonly lifeSeconds?: number;
  readonly text?: string;
  readonly hook?: Address;
};

/** A verdict's answer as its readers have it. */
async function answerOf(verdictId: string) {
  const view = await readVerdict(world.db, verdictId);
  if (view === null) throw new Error("a decided verdict is there");
  return renderVerdict(view);
}

/** A submitted job whose description names a registered specification, and a decision about what was submitted. */
async function decided(
  decision: "ALLOW" | "HOLD" | "REJECT",
  { generation = "G1", lifeSeconds, text = "Translate.", hook }: DecidedOptions = {},
) {
  number += 1;
  const specHash = keccak256(toBytes(`spec ${number}`));
  const output = `output ${number}`;
  const description = `${text} ahs-spec:${specHash}`;
  const job = await world.openJob({
    generation,
    description,
    ...(lifeSeconds === undefined ? {} : { lifeSeconds }),
    ...(hook === undefined ? {} : { hook }),
  });
  const { specId } = await world.register({ specHash, job });
  const submittedBlock = await world.submit(job, output);
  const verdictId = await world.decide({ specId, job, output, decision });
  return { job, verdictId, specId, output, submittedBlock };
}

describe("an escrow", () => {
  it.each(["G1", "G3", "V3"] as const)(
    "of generation %s pays the provider on ALLOW, with the evidence's hash as reason",
    async (generation) => {
      const { job, verdictId } = await decided("ALLOW", { generation });
      const before = await world.balances();
      const view = await world.reach(verdictId, "settled");
      expect(view).toMatchObject({ reason: null, reviewBy: null });
      expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
      const { rows } = await world.db.$client.query(
        "select status, end_reason, ended_transaction from chain_31337.job where id = $1",
        [`${job.escrow}:${job.jobId}`],
      );
      const reason = hashOf(JSON.stringify({ verdictId, run: 1 }));
      expect(rows).toEqual([{ status: "Completed", end_reason: reason, ended_transaction: view.txHash }]);
    },
  );

  it("refunds the client on REJECT", async () => {
    const { job, verdictId } = await decided("REJECT");
    const before = await world.balances();
    await world.reach(verdictId, "settled");
    expect(await world.balances()).toEqual({ ...before, client: before.client + BUDGET });
    expect(await world.settlements(job)).toMatchObject([
      { decision: "REJECT", state: "confirmed", attempts: 1 },
    ]);
  });

  it("pays on a decision that is not appealed, after its time to appeal and not before", async () => {
    const { deps } = world;
    deps.appealWindowSeconds = 50;
    const { job, verdictId } = await decided("REJECT");
    const before = await world.balances();
    const { reason } = await world.reach(verdictId, "appealable");
    deps.appealWindowSeconds = 0;
    expect(reason).toMatch(/^it may be appealed until 20/);
    await world.settleUp();
    expect((await answerOf(verdictId)).appeal).toMatchObject({ status: "available", appealed_run: 1 });
    expect(await world.settlements(job)).toEqual([]);
    expect(await world.balances()).toEqual(before);
    await world.reach(verdictId, "settled");
    expect((await answerOf(verdictId)).appeal).toMatchObject({ status: "not_appealed", by: null });
    expect(await world.balances()).toEqual({ ...before, client: before.client + BUDGET });
  });

  it("keeps the money on HOLD until a review decides, however long its job's description", async () => {
    const { job, verdictId } = await decided("HOLD", { text: "Translate. ".repeat(1_820) });
    const before = await world.balances();
    const held = await world.reach(verdictId, "held");
    expect(held.reviewBy).not.toBeNull();
    expect(await world.balances()).toEqual(before);
    expect(await world.statusOf(job)).toBe(SUBMITTED);
    await world.decideAgain(verdictId, "ALLOW");
    await world.reach(verdictId, "settled");
    expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
  });
});

it("nothing is signed before the submission is final", async () => {
  const { job, verdictId } = await decided("ALLOW");
  await world.reach(verdictId, "waiting_for_finality");
  expect(await world.settlements(job)).toEqual([]);
  await world.reach(verdictId, "settled");
});

it("a submission that a reorganisation takes out is not settled, and is once it is back", async () => {
  const { job, verdictId, output } = await decided("ALLOW");
  await world.reach(verdictId, "waiting_for_finality");
  const { submittedBlock } = await lastBlocks(job);
  await world.chain.reorg((await world.chain.head()) - submittedBlock + 1);
  await world.reach(verdictId, "waiting_for_submission");
  await world.finalize();
  await world.settleUp();
  expect(await world.settlements(job)).toEqual([]);
  await world.submit(job, output);
  await world.reach(verdictId, "settled");
});

it("a signed verdict counts once if another account submits it first, from its answer alone", async () => {
  const { job, verdictId } = await decided("ALLOW");
  await world.finalize();
  const before = await world.balances();
  const { relayer } = world.deps;
  // A settlement that the relayer cannot pay for waits.
  await world.chain.rpc.request("anvil_setBalance", relayer, "0x0");
  await world.settleUp();
  const { settlement } = await answerOf(verdictId);
  const signed = settlement?.signed;
  if (signed === undefined || signed === null) throw new Error("nothing was signed");
  const { verdict } = signed;
  const message = {
    escrow: verdict.escrow as Address,
    jobId: BigInt(verdict.job_id),
    deliverable: verdict.deliverable as Hex,
    specHash: verdict.spec_hash as Hex,
    decision: verdict.decision,
    score: verdict.score,
    confidenceBps: verdict.confidence_bps,
    evidenceHash: verdict.evidence_hash as Hex,
    issuedAt: BigInt(verdict.issued_at),
    deadline: BigInt(verdict.deadline),
  };
  const brought = await world.chain.send({
    from: STRANGER,
    to: signed.evaluator as Address,
    data: encodeFunctionData({
      abi: verdictEvaluatorAbi,
      functionName: "settle",
      args: [message.escrow, message.jobId, message, signed.signature as Hex],
    }),
  });
  const view = await world.reach(verdictId, "settled");
  expect(view.txHash).toBe(brought.hash);
  await world.chain.rpc.request("anvil_setBalance", relayer, numberToHex(10n ** 20n));
  await world.finalize();
  expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
  expect(await world.settlements(job)).toMatchObject([{ state: "confirmed", attempts: 1 }]);
});

it("a settlement that a reorganisation takes out is carried out again", async () => {
  const { job, verdictId } = await decided("ALLOW");
  await world.finalize();
  const before = await world.balances();
  await expect
    .poll(async () => {
      await world.settleUp();
      return world.statusOf(job);
    })
    .toBe(COMPLETED);
  expect(await world.settlements(job)).toMatchObject([{ state: "signed" }]);
  await world.chain.reorg(10);
  expect(await world.statusOf(job)).toBe(SUBMITTED);
  await world.reach(verdictId, "settled");
  expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
});

it("a job gets one verdict that ends it, however many are given", async () => {
  const { job, verdictId, specId, output } = await decided("REJECT");
  const second = await world.decide({ specId, job, output, decision: "ALLOW" });
  await world.reach(verdictId, "settled");
  const refused = await world.reach(second, "refused");
  expect(refused.reason).toMatch(/signed before|ended/);
  expect(await world.settlements(job)).toMatchObject([{ decision: "REJECT" }]);
});

it("a reviewer's decision after a signed one is never signed", async () => {
  const { job, verdictId } = await decided("REJECT");
  await world.reach(verdictId, "settled");
  await world.decideAgain(verdictId, "ALLOW");
  await world.reach(verdictId, "refused");
  expect(await world.settlements(job)).toMatchObject([{ decision: "REJECT", state: "confirmed" }]);
});

it("a transaction that the evaluator refuses is sent again once it takes it", async () => {
  const { job, verdictId } = await decided("ALLOW");
  await world.finalize();
  const { deployer } = roleAccounts();
  const client = createPublicClient({ transport: http(world.chain.rpcUrl) });
  const of = { address: world.deps.evaluator, abi: verdictEvaluatorAbi } as const;
  const { adapter } = await client.readContract({ ...of, functionName: "escrowOf", args: [job.escrow] });
  const allow = (to: Hex) =>
    world.send(
      deployer.address,
      of.address,
      encodeFunctionData({ abi: of.abi, functionName: "setEscrow", args: [job.escrow, to] }),
    );
  await allow(zeroAddress);
  await expect
    .poll(async () => {
      await world.settleUp();
      return (await world.settlements(job))[0]?.error ?? null;
    })
    .toBe("its call reverts with EscrowNotAllowed");
  await allow(adapter);
  await world.reach(verdictId, "settled");
  expect((await world.settlements(job))[0]?.attempts).toBeGreaterThan(1);
});

it.each([
  { errorName: "JobOver", args: [1n, 2n] },
  { errorName: "OtherJob", args: [STRANGER, 7n] },
  { errorName: "HoldNotNewer", args: [1n, 2n] },
] as const)("a hook that reverts with the evaluator's error $errorName ends no settlement", async (error) => {
  const imitated = encodeErrorResult({ abi: verdictEvaluatorAbi, ...error });
  const hook = await world.deployHook("V3");
  const { job, verdictId } = await decided("ALLOW", { generation: "V3", hook });
  const before = await world.balances();
  await world.setRevertData(hook, imitated);
  await world.finalize();
  await expect
    .poll(async () => {
      await world.settleUp();
      return (await world.settlements(job))[0]?.error ?? null;
    })
    .toBe(`its call reverts with ${error.errorName}`);
  await world.setRevertData(hook, "0x");
  await world.reach(verdictId, "settled");
  expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
});

it("a verdict that could not be submitted for a day is signed anew and settles, and no other decision is signed", async () => {
  const { job, verdictId, specId, output } = await decided("REJECT");
  await world.finalize();
  const before = await world.balances();
  const { relayer } = world.deps;
  await world.chain.rpc.request("anvil_setBalance", relayer, "0x0");
  await world.reach(verdictId, "signed");
  const [first] = await world.settlements(job);
  await world.chain.moveTime(90_000);
  await expect
    .poll(async () => {
      await world.settleUp();
      return (await world.settlements(job))[0]?.issued_at;
    })
    .not.toBe(first?.issued_at);
  const second = await world.decide({ specId, job, output, decision: "ALLOW" });
  expect((await world.reach(second, "refused")).reason).toContain("signed before");
  await world.chain.rpc.request("anvil_setBalance", relayer, numberToHex(10n ** 20n));
  await world.reach(verdictId, "settled");
  expect(await world.balances()).toEqual({ ...before, client: before.client + BUDGET });
  expect(await world.settlements(job)).toMatchObject([
    { id: first?.id, decision: "REJECT", state: "confirmed" },
  ]);
});

it("a held job is run again at half of its time and after a failure, reviewed at a quarter, and its expiry on HOLD is on record", async () => {
  const { job, verdictId } = await decided("HOLD", { lifeSeconds: 40_000 });
  await world.reach(verdictId, "held");
  const rang = async (seconds: number) => {
    await world.chain.moveTime(seconds);
    await world.settleUp();
    await world.settleUp();
    return world.callsOf(verdictId);
  };
  const [rerun, review] = [`rerun ${verdictId}`, `review ${verdictId}`];
  expect(await rang(20_100)).toEqual([rerun]);
  expect(await rang(10_800)).toEqual([rerun, rerun, review]);
  world.rerun.answer = "over";
  expect(await rang(5_000)).toEqual([rerun, rerun, review, rerun]);
  expect(await rang(3_000)).toEqual([rerun, rerun, review, rerun]);
  world.rerun.answer = "asked";
  await rang(1_200);
  expect(await world.statusOf(job)).toBe(SUBMITTED);
  expect((await world.reach(verdictId, "held")).reviewBy).not.toBeNull();
  await world.claimRefund(job);
  const view = await world.reach(verdictId, "expired_on_hold");
  expect(view.txHash).not.toBeNull();
  expect(world.callsOf(verdictId)).toHaveLength(4);
});

it("a job past its expiry is decided until its refund is claimed, a HOLD on it too", async () => {
  const late = await decided("HOLD", { lifeSeconds: 1_000 });
  const lost = await decided("HOLD", { generation: "V3", lifeSeconds: 1_000 });
  const paid = await decided("ALLOW", { generation: "V3", lifeSeconds: 1_000 });
  await world.chain.moveTime(1_001);
  await world.reach(paid.verdictId, "settled");
  await world.reach(late.verdictId, "held");
  await world.settleUp();
  expect(await world.settlements(late.job)).toEqual([]);
  expect(world.callsOf(late.verdictId)).toEqual([`rerun ${late.verdictId}`, `review ${late.verdictId}`]);
  await world.decideAgain(late.verdictId, "REJECT");
  await world.reach(late.verdictId, "settled");
  await world.claimRefund(lost.job);
  await world.reach(lost.verdictId, "expired_on_hold");
});

it("a job of G3 past its expiry is decided for an hour", async () => {
  const paid = await decided("ALLOW", { generation: "G3", lifeSeconds: 1_000 });
  await world.chain.moveTime(3_000);
  await world.reach(paid.verdictId, "settled");
  const { job, verdictId } = await decided("ALLOW", { generation: "G3", lifeSeconds: 1_000 });
  await world.chain.moveTime(4_601);
  await world.reach(verdictId, "expired");
  expect(await world.settlements(job)).toEqual([]);
});

async function lastBlocks(job: TestJob): Promise<{ submittedBlock: number }> {
  const { rows } = await world.db.$client.query(
    "select submitted_block from chain_31337.job where escrow = $1 and job_id = $2",
    [job.escrow, String(job.jobId)],
  );
  return { submittedBlock: Number(rows[0]?.submitted_block) };
}
