import {
  createPublicClient,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  numberToHex,
  toBytes,
  zeroAddress,
} from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { verdictEvaluatorAbi } from "../../../service/chain/abi/verdict-evaluator.ts";
import { messageOf } from "../../../service/escrow/queue-verdict.ts";
import { readOpenSettlements } from "../../../service/store/settlements.ts";
import { bootEscrowWorld, type EscrowWorld } from "./escrow-world.ts";
import { BUDGET, hashOf, STRANGER, type TestJob } from "./jobs-on-chain.ts";

const SUBMITTED = 2;
const COMPLETED = 3;

/** Blocks have to become final, and the index to follow them. */
vi.setConfig({ testTimeout: 120_000 });

let world: EscrowWorld;
let number = 0;

beforeAll(async () => {
  world = await bootEscrowWorld();
}, 120_000);
afterAll(() => world.close());

/** A submitted job whose description names a registered specification, and a decision about what was submitted. */
async function decided(
  decision: "ALLOW" | "HOLD" | "REJECT",
  { generation = "G1", lifeSeconds }: { generation?: TestJob["generation"]; lifeSeconds?: number } = {},
) {
  number += 1;
  const specHash = keccak256(toBytes(`spec ${number}`));
  const output = `output ${number}`;
  const description = `Translate. ahs-spec:${specHash}`;
  const job = await world.openJob({
    generation,
    description,
    ...(lifeSeconds === undefined ? {} : { lifeSeconds }),
  });
  const { specId } = await world.register({ specHash, job });
  const submittedBlock = await world.submit(job, output);
  const verdictId = await world.decide({ specId, job, output, decision });
  return { job, verdictId, specId, output, submittedBlock };
}

describe.each(["G1", "G3", "V3"] as const)("an escrow of generation %s", (generation) => {
  it("pays the provider on ALLOW, with the evidence's hash as reason", async () => {
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
  });

  it("refunds the client on REJECT", async () => {
    const { job, verdictId } = await decided("REJECT", { generation });
    const before = await world.balances();
    await world.reach(verdictId, "settled");
    expect(await world.balances()).toEqual({ ...before, client: before.client + BUDGET });
    expect(await world.settlements(job)).toMatchObject([
      { decision: "REJECT", state: "confirmed", attempts: 1 },
    ]);
  });

  it("keeps the money on HOLD until a review decides", async () => {
    const { job, verdictId } = await decided("HOLD", { generation });
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

it("whoever brings a signed verdict first, it counts once", async () => {
  const { job, verdictId } = await decided("ALLOW");
  await world.finalize();
  const before = await world.balances();
  const { relayer } = world.deps;
  // What the relayer cannot pay for waits.
  await world.chain.rpc.request("anvil_setBalance", relayer, "0x0");
  await world.settleUp();
  const signed = (await readOpenSettlements(world.db, 31_337)).find((open) => open.verdictId === verdictId);
  if (signed === undefined) throw new Error("nothing was signed");
  const message = messageOf(signed);
  const brought = await world.chain.send({
    from: STRANGER,
    to: world.deps.evaluator,
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
    .poll(
      async () => {
        await world.settleUp();
        return world.statusOf(job);
      },
      { timeout: 20_000 },
    )
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
    .poll(
      async () => {
        await world.settleUp();
        return (await world.settlements(job))[0]?.error ?? null;
      },
      { timeout: 20_000 },
    )
    .toBe("the evaluator refuses it: EscrowNotAllowed");
  await allow(adapter);
  await world.reach(verdictId, "settled");
  expect((await world.settlements(job))[0]?.attempts).toBeGreaterThan(1);
});

it("a held job is run again at half of its time, reviewed at a quarter, and its expiry on HOLD is on record", async () => {
  const { job, verdictId } = await decided("HOLD", { lifeSeconds: 4_000 });
  await world.reach(verdictId, "held");
  world.calls.length = 0;
  await world.chain.moveTime(1_950);
  await world.settleUp();
  await world.settleUp();
  expect(world.calls).toEqual([`rerun ${verdictId}`]);
  await world.chain.moveTime(1_000);
  await world.settleUp();
  await world.settleUp();
  expect(world.calls).toEqual([`rerun ${verdictId}`, `review ${verdictId}`]);
  await world.chain.moveTime(1_100);
  const view = await world.reach(verdictId, "expired_on_hold");
  expect(view.txHash).not.toBeNull();
  expect(await world.statusOf(job)).toBe(SUBMITTED);
  expect(world.calls).toHaveLength(2);
});

it("a verdict for a job whose time is over is not signed", async () => {
  const { job, verdictId } = await decided("ALLOW", { lifeSeconds: 1_000 });
  await world.chain.moveTime(1_001);
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
