import { encodeFunctionData, keccak256, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jobEscrowAbi } from "../../devnet/abi/job-escrow.ts";
import { roleAccounts } from "../../devnet/accounts.ts";
import { contractAddresses } from "../../devnet/contract-list.ts";
import { createRoster, samplesOf } from "../../devnet/population/roster.ts";
import { jobProvider } from "../../devnet/population/wallets.ts";
import { createWorld } from "../../devnet/population/world.ts";
import { localEscrows } from "../../devnet/verification-contracts.ts";
import { agentHealthOracleAbi } from "../../service/chain/abi/agent-health-oracle.ts";
import { scoreGateHookAbi } from "../../service/chain/abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "../../service/chain/abi/verdict-evaluator.ts";
import { packScore } from "../../service/chain/oracle-codec.ts";
import { type Generation, jobCalls } from "../contracts/support/job-calls.ts";
import { startVerdictChain, type VerdictChain } from "../contracts/support/verdict-chain.ts";

const { deployer, publisher, payer, facilitator: provider, verdictSigner } = roleAccounts();

describe("the local chain", () => {
  let chain: VerdictChain;

  beforeAll(async () => {
    chain = await startVerdictChain();
  });

  afterAll(async () => {
    await chain.stop();
  });

  test("has an evaluator that settles the jobs of the deployment's escrows, with the code they have", async () => {
    const { deployment, contracts, publicClient } = chain;
    const reading = { address: contracts.verdictEvaluator, abi: verdictEvaluatorAbi } as const;
    expect(deployment.verdictEvaluator?.address).toBe(contracts.verdictEvaluator);
    expect(await publicClient.readContract({ ...reading, functionName: "owner" })).toBe(deployer.address);
    expect(await publicClient.readContract({ ...reading, functionName: "signers" })).toEqual([
      verdictSigner.address,
    ]);
    expect(deployment.escrows.map(({ generation }) => generation)).toEqual(["G1", "G3", "V3"]);
    for (const { address, codeHash } of deployment.escrows) {
      const args = [address] as const;
      expect(await publicClient.readContract({ ...reading, functionName: "escrowOf", args })).toMatchObject({
        codeHash,
      });
      expect(keccak256((await publicClient.getCode({ address })) ?? "0x")).toBe(codeHash);
    }
  });

  test.each<[Generation, boolean]>([
    ["G1", false],
    ["G3", true],
    ["V3", false],
  ])(
    "lets a job of %s name the gate of its escrow, which lets an unscored provider through: %s",
    async (generation, isLetThrough) => {
      const { contracts, publicClient } = chain;
      const { escrow, hook } = gateOf(chain, generation);
      expect(
        await publicClient.readContract({
          address: escrow,
          abi: jobEscrowAbi,
          functionName: "whitelistedHooks",
          args: [hook],
        }),
      ).toBe(true);
      const reading = { address: hook, abi: scoreGateHookAbi, functionName: "requireAcceptable" } as const;
      const asked = publicClient.readContract({ ...reading, args: [zeroAddress] });
      if (isLetThrough) await expect(asked).resolves.toBeUndefined();
      else await expect(asked).rejects.toThrow("ProviderUnscored");
      expect(
        await publicClient.readContract({ address: hook, abi: scoreGateHookAbi, functionName: "oracle" }),
      ).toBe(contracts.oracle);
    },
  );

  test("funds a job through the gate once its provider is scored well enough, and not before", async () => {
    const { contracts, send } = chain;
    const { escrow, hook } = gateOf(chain, "V3");
    const plan = {
      ...{ escrow, usdc: contracts.usdc, jobId: 1n, budget: 5_000_000n, hook },
      ...{ client: payer.address, provider: provider.address, evaluator: contracts.verdictEvaluator },
      expiredAt: 2_000_000_000n,
    };
    const [create, price, approve, fund] = jobCalls("V3", plan);
    if (create === undefined || price === undefined || approve === undefined || fund === undefined) {
      throw new Error("a job has four steps before it is funded");
    }
    for (const call of [create, price, approve]) await send(call);
    await expect(send(fund)).rejects.toThrow();
    await publishScore(chain, 60);
    await send(fund);
  });
});

test("the provider for scripts is the sample that does nothing by itself", () => {
  const seed = "1";
  const world = createWorld(contractAddresses(), seed, 80);
  const roster = createRoster(world, seed, 200);
  expect(samplesOf(roster)["weekly-payroll"]).toBe(jobProvider(seed).address);
  const member = roster.find(({ context }) => context.wallet.address === jobProvider(seed).address);
  expect(member?.archetype.step).toBeNull();
});

function gateOf({ contracts }: VerdictChain, generation: Generation) {
  const found = localEscrows(contracts).find((each) => each.generation === generation);
  if (found === undefined) throw new Error(`no escrow of generation ${generation}`);
  return found;
}

async function publishScore({ contracts, publicClient, send }: VerdictChain, points: number): Promise<void> {
  const { number, timestamp } = await publicClient.getBlock();
  const word = packScore({
    wallet: provider.address,
    outcome: { kind: "scored", ahsScore: points, d1Score: points, d2Score: points },
    confidenceBps: 9_000,
    sanctioned: false,
    modelVersion: "AHS-2026.0",
    safeMicroUsd: 0n,
  });
  const data = encodeFunctionData({
    abi: agentHealthOracleAbi,
    functionName: "publish",
    args: [number, timestamp, [word]],
  });
  await send({ from: publisher.address, to: contracts.oracle, data });
}
