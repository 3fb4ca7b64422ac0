import { type Hex, keccak256, toBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bindSpec } from "../../../../service/verification/escrow/bind-spec.ts";
import type { BindableSpec } from "../../../../service/verification/escrow/types.ts";
import type { SettlementStatus } from "../../../../service/verification/verdicts/verdict-view.ts";
import { bootEscrowWorld, type EscrowWorld } from "./escrow-world.ts";
import { BUDGET, CLIENT, PROVIDER, STRANGER, type TestJob } from "./jobs-on-chain.ts";

const SUBMITTED = 2;

/** Blocks have to become final, and the index to follow them. */

let world: EscrowWorld;
let number = 0;

beforeAll(async () => {
  world = await bootEscrowWorld();
});
afterAll(() => world.close());

function specHash(): Hex {
  number += 1;
  return keccak256(toBytes(`specification ${number}`));
}

/** As if an ALLOW had been given for this specification's job all the same: what the signer does about it. */
async function expectUntouched(
  { job, claim, output }: { job: TestJob; claim: BindableSpec; output: string },
  status: SettlementStatus = "unbound",
): Promise<string> {
  const before = await world.balances();
  const verdictId = await world.decide({ specId: claim.specId, job, output, decision: "ALLOW" });
  await world.finalize();
  const view = await world.reach(verdictId, status);
  await world.finalize();
  await world.settleUp();
  expect(await world.settlements(job)).toEqual([]);
  expect(await world.balances()).toEqual(before);
  expect(await world.statusOf(job)).toBe(SUBMITTED);
  return view.reason ?? "";
}

describe("a specification that is not the job's moves no escrow", () => {
  it("where the provider registered a lenient one", async () => {
    const job = await world.openJob({ description: `Translate. ahs-spec:${specHash()}` });
    const lenient = await world.register({ specHash: specHash(), job, clientAddr: PROVIDER });
    const inClientsName = await world.register({ specHash: specHash(), job });
    await world.submit(job, "rubbish");
    expect(await world.bind(lenient)).toMatchObject({ kind: "unbound" });
    expect(await world.bind(inClientsName)).toMatchObject({ kind: "unbound" });
    await expectUntouched({ job, claim: lenient, output: "rubbish" });
    await expectUntouched({ job, claim: inClientsName, output: "rubbish" });
  });

  it("where it is a second one of the client, signed later than the first", async () => {
    const job = await world.openJob({ description: "Translate." });
    const [first, second] = [specHash(), specHash()];
    const bound = await world.register({
      specHash: first,
      job,
      signature: await world.signBinding(job, first),
    });
    const later = await world.register({
      specHash: second,
      job,
      signature: await world.signBinding(job, second),
    });
    await world.submit(job, "work");
    await world.finalize();
    expect(await world.bind(bound)).toMatchObject({ kind: "bound", by: "signature" });
    const reason = await expectUntouched({ job, claim: later, output: "work" });
    expect(reason).toContain(bound.specId);
  });

  it("where the client signed it and the description names another", async () => {
    const job = await world.openJob({ description: `ahs-spec:${specHash()}` });
    const hash = specHash();
    const claim = await world.register({
      specHash: hash,
      job,
      signature: await world.signBinding(job, hash),
    });
    await world.submit(job, "work");
    await world.finalize();
    expect(await world.bind(claim)).toMatchObject({ kind: "unbound" });
    await expectUntouched({ job, claim, output: "work" });
  });

  it("where the client signed it after the submission", async () => {
    const job = await world.openJob({ description: "Translate." });
    const registeredBlock = await world.submit(job, "work");
    const hash = specHash();
    const signature = await world.signBinding(job, hash);
    const claim = await world.register({ specHash: hash, job, signature, registeredBlock });
    await world.finalize();
    expect(await world.bind(claim)).toMatchObject({ kind: "unbound" });
    expect(await expectUntouched({ job, claim, output: "work" })).toContain("after the job's submission");
  });

  it("where its description names two", async () => {
    const [one, other] = [specHash(), specHash()];
    const job = await world.openJob({ description: `ahs-spec:${one} ahs-spec:${other}` });
    const claim = await world.register({ specHash: one, job });
    await world.submit(job, "work");
    await expectUntouched({ job, claim, output: "work" });
  });

  it("where the same number is a job of another escrow", async () => {
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}`, generation: "G3" });
    const other = {
      ...job,
      escrow: world.chain.contracts.jobEscrowV3.toLowerCase() as Hex,
      generation: "V3",
    } as const;
    const claim = await world.register({ specHash: hash, job: other });
    await world.submit(job, "work");
    expect(await world.bind(claim)).toMatchObject({ kind: "unbound" });
    const before = await world.balances();
    const verdictId = await world.decide({ specId: claim.specId, job, output: "work", decision: "ALLOW" });
    await world.finalize();
    expect((await world.reach(verdictId, "unbound")).reason).toContain("names another job");
    expect(await world.balances()).toEqual(before);
  });

  it("where the escrow is not one of ours", async () => {
    const hash = specHash();
    const job = { chainId: 31_337, escrow: STRANGER.toLowerCase() as Hex, jobId: 1n };
    const claim = await world.register({ specHash: hash, job });
    expect(await world.bind(claim)).toMatchObject({ kind: "unbound" });
    expect(await world.bind({ ...claim, job: { ...job, chainId: 1 } })).toMatchObject({ kind: "unbound" });
  });
});

describe("a decision that is not about what was submitted moves no escrow", () => {
  it("where another output was submitted", async () => {
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}` });
    const claim = await world.register({ specHash: hash, job });
    await world.submit(job, "rubbish");
    expect(await expectUntouched({ job, claim, output: "good work" }, "refused")).toContain("deliverable");
  });

  it("where the job has another evaluator", async () => {
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}`, evaluator: CLIENT.address });
    const claim = await world.register({ specHash: hash, job });
    await world.submit(job, "work");
    expect(await world.bind(claim)).toMatchObject({ kind: "bound" });
    expect(await expectUntouched({ job, claim, output: "work" }, "refused")).toContain("evaluator");
  });

  it("where the escrow's code changed, until it is what it was", async () => {
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}` });
    const claim = await world.register({ specHash: hash, job });
    await world.submit(job, "work");
    const code = (await world.chain.rpc.request("eth_getCode", job.escrow, "latest")) as Hex;
    const before = await world.balances();
    const verdictId = await world.decide({ specId: claim.specId, job, output: "work", decision: "ALLOW" });
    await world.finalize();
    await world.chain.rpc.request("anvil_setCode", job.escrow, `${code}00`);
    expect((await world.reach(verdictId, "suspended")).reason).toContain("code hashes to");
    expect(await world.bind(claim)).toMatchObject({ kind: "suspended" });
    expect(await world.balances()).toEqual(before);
    await world.chain.rpc.request("anvil_setCode", job.escrow, code);
    await world.reach(verdictId, "settled");
    expect(await world.balances()).toEqual({ ...before, provider: before.provider + BUDGET });
  });

  it("where it became a proxy of a beacon, whose owner changes it unseen", async () => {
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}` });
    const claim = await world.register({ specHash: hash, job });
    const set = (value: Hex) => world.chain.rpc.request("anvil_setStorageAt", job.escrow, BEACON_SLOT, value);
    await set(`0x${"0".repeat(24)}${STRANGER.slice(2).toLowerCase()}`);
    expect(await world.bind(claim)).toMatchObject({
      kind: "suspended",
      reason: expect.stringContaining("beacon"),
    });
    await set(NOTHING);
    expect(await world.bind(claim)).toMatchObject({ kind: "bound" });
  });

  it("where a proxy points to what was not reviewed", async () => {
    const [escrow] = world.chain.deployment.escrows;
    if (escrow === undefined) throw new Error("the local chain has escrows");
    const hash = specHash();
    const job = await world.openJob({ description: `ahs-spec:${hash}` });
    const claim = await world.register({ specHash: hash, job });
    const target = world.chain.contracts.jobEscrowV3;
    const set = (value: Hex) =>
      world.chain.rpc.request("anvil_setStorageAt", escrow.address, IMPLEMENTATION_SLOT, value);
    await set(`0x${"0".repeat(24)}${target.slice(2).toLowerCase()}`);
    expect(await world.bind(claim)).toMatchObject({ kind: "suspended" });
    const code = (await world.chain.rpc.request("eth_getCode", target, "latest")) as Hex;
    const bindTo = (implementation: { address: Hex; codeHash: Hex }) => {
      const escrows = [{ ...escrow, implementation }];
      return bindSpec({ ...world.deps, deployment: { ...world.chain.deployment, escrows } }, claim);
    };
    expect(await bindTo({ address: target, codeHash: keccak256(code) })).toMatchObject({ kind: "bound" });
    expect(await bindTo({ address: target, codeHash: hash })).toMatchObject({ kind: "suspended" });
    expect(await bindTo({ address: STRANGER, codeHash: keccak256(code) })).toMatchObject({
      kind: "suspended",
    });
    await set(NOTHING);
    expect(await bindTo({ address: target, codeHash: keccak256(code) })).toMatchObject({ kind: "suspended" });
    expect(await world.bind(claim)).toMatchObject({ kind: "bound" });
  });
});

it("a job that its provider never delivered for ends without a signature", async () => {
  const hash = specHash();
  const job = await world.openJob({ description: `ahs-spec:${hash}`, lifeSeconds: 1_000 });
  const claim = await world.register({ specHash: hash, job });
  const verdictId = await world.decide({ specId: claim.specId, job, output: "work", decision: "ALLOW" });
  await world.finalize();
  await world.reach(verdictId, "waiting_for_submission");
  await world.chain.moveTime(1_001);
  await world.chain.tick();
  await world.claimRefund(job);
  await world.reach(verdictId, "expired");
  expect(await world.settlements(job)).toEqual([]);
});

const NOTHING: Hex = `0x${"0".repeat(64)}`;
const BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50";
const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
