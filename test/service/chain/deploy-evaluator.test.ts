import { type Address, createWalletClient, getAddress, http, keccak256, pad, zeroAddress } from "viem";
import { anvil as anvilChain } from "viem/chains";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roleAccounts } from "../../../devnet/accounts.ts";
import { assuranceAccountsAbi } from "../../../service/chain/abi/assurance-accounts.ts";
import { scoreGateHookAbi } from "../../../service/chain/abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "../../../service/chain/abi/verdict-evaluator.ts";
import { deployEvaluator } from "../../../service/chain/deploy.ts";
import { describeEscrow } from "../../../service/chain/describe-escrow.ts";
import { startVerdictChain, type VerdictChain } from "../../contracts/support/verdict-chain.ts";

const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";
const { publisher, deployer, verdictSigner } = roleAccounts();

let chain: VerdictChain;

beforeAll(async () => {
  chain = await startVerdictChain();
});

afterAll(async () => {
  await chain.stop();
});

test("an evaluator beside given escrows settles their jobs in every generation", async () => {
  const { deployment, publicClient } = chain;
  const { verdictEvaluator, escrows, hooks, assuranceAccounts } = await deployEvaluator(wanted());
  expect(escrows).toEqual(deployment.escrows);
  expect(hooks).toEqual([]);
  const evaluator = verdictEvaluator.address;
  const reading = { address: evaluator, abi: verdictEvaluatorAbi } as const;
  expect(await publicClient.readContract({ ...reading, functionName: "signers" })).toEqual([
    verdictSigner.address,
  ]);
  const bonds = { address: assuranceAccounts?.address ?? zeroAddress, abi: assuranceAccountsAbi } as const;
  expect(await publicClient.readContract({ ...bonds, functionName: "evaluator" })).toBe(evaluator);
  expect(await publicClient.readContract({ ...bonds, functionName: "usdc" })).toBe(deployment.usdc);
  for (const { generation, address: escrow } of escrows) {
    const jobId = await chain.submitJob(generation, escrow, evaluator);
    await chain.bring(evaluator, { escrow, jobId, decision: 1 });
    const args = [escrow, jobId] as const;
    expect(await publicClient.readContract({ ...reading, functionName: "decisionOf", args })).toBe(1);
  }
});

test("an evaluator without a USDC has no accounts for bonds", async () => {
  const { assuranceAccounts } = await deployEvaluator({ ...wanted(), escrows: [], usdc: null });
  expect(assuranceAccounts).toBeNull();
});

test("another owner than the payer is offered the ownership", async () => {
  const { verdictEvaluator } = await deployEvaluator({ ...wanted(), owner: deployer.address });
  const reading = { address: verdictEvaluator.address, abi: verdictEvaluatorAbi } as const;
  const { publicClient } = chain;
  expect(await publicClient.readContract({ ...reading, functionName: "owner" })).toBe(publisher.address);
  expect(await publicClient.readContract({ ...reading, functionName: "pendingOwner" })).toBe(
    deployer.address,
  );
});

test("a gate is deployed for each escrow as it was asked for", async () => {
  const { deployment, publicClient } = chain;
  const gate = { minScore: 70, maxAge: 3_600n, allowUnscored: true };
  const { hooks } = await deployEvaluator({ ...wanted(), gate });
  expect(hooks).toHaveLength(3);
  for (const [i, address] of hooks.entries()) {
    const reading = { address, abi: scoreGateHookAbi } as const;
    const read = (functionName: "escrow" | "oracle" | "minScore" | "maxAge" | "allowUnscored") =>
      publicClient.readContract({ ...reading, functionName });
    expect([
      await read("escrow"),
      await read("oracle"),
      await read("minScore"),
      await read("maxAge"),
      await read("allowUnscored"),
    ]).toEqual([deployment.escrows[i]?.address, deployment.oracle.address, 70, 3_600n, true]);
  }
});

describe("before anything is sent, refuses", () => {
  async function refusalOf(escrow: { address: Address; generation: "G1" | "G3" | "V3" }): Promise<string> {
    const { publicClient } = chain;
    const before = await publicClient.getTransactionCount({ address: publisher.address });
    const escrows = [{ ...escrow, startBlock: 1 }];
    const refusal = await deployEvaluator({ ...wanted(), escrows }).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(await publicClient.getTransactionCount({ address: publisher.address })).toBe(before);
    return refusal;
  }

  test("an escrow of another generation, with the size of its answer", async () => {
    const { contracts } = chain;
    await chain.submitJob("G1", contracts.jobEscrow, contracts.verdictEvaluator);
    expect(await refusalOf({ address: contracts.jobEscrow, generation: "V3" })).toMatch(
      new RegExp(
        `job 1 of the escrow ${contracts.jobEscrow} does not read as one of generation V3: getJob.1. answers \\d+ bytes, \\d+ words`,
      ),
    );
  });

  test("an address without code", async () => {
    expect(await refusalOf({ address: deployer.address, generation: "G1" })).toBe(
      `there is no contract at ${deployer.address}`,
    );
  });

  test("a fork that ends jobs by other calls", async () => {
    const { contracts, publicClient, rpc } = chain;
    const code = (await publicClient.getCode({ address: contracts.jobEscrowG3 })) ?? "0x";
    const fork = getAddress("0x00000000000000000000000000000000000f04c8");
    await rpc.request("anvil_setCode", fork, code.replaceAll("d75bbdf3", "d75bbdf4"));
    expect(await refusalOf({ address: fork, generation: "G3" })).toBe(
      `the code at ${fork} has no complete(uint256,bytes32,bytes): the evaluator could not end its jobs`,
    );
  });
});

test("stores a proxy with its implementation", async () => {
  const { publicClient, contracts, rpc } = chain;
  const wish = { address: contracts.mixer, startBlock: 5, generation: "G3" as const };
  await rpc.request("anvil_setStorageAt", contracts.mixer, IMPLEMENTATION_SLOT, pad(contracts.usdc));
  const codes = await Promise.all(
    [contracts.mixer, contracts.usdc].map((address) => publicClient.getCode({ address })),
  );
  expect(await describeEscrow(publicClient, wish)).toEqual({
    ...wish,
    address: getAddress(contracts.mixer),
    codeHash: keccak256(codes[0] ?? "0x"),
    implementation: { address: contracts.usdc, codeHash: keccak256(codes[1] ?? "0x") },
  });
});

function wanted(): Parameters<typeof deployEvaluator>[0] {
  const { deployment, publicClient, rpcUrl } = chain;
  return {
    walletClient: createWalletClient({ account: publisher, chain: anvilChain, transport: http(rpcUrl) }),
    publicClient,
    owner: publisher.address,
    signers: [verdictSigner.address],
    escrows: deployment.escrows.map(({ address, startBlock, generation }) => ({
      address: address.toLowerCase() as typeof zeroAddress,
      startBlock,
      generation,
    })),
    gate: null,
    oracle: deployment.oracle.address,
    usdc: deployment.usdc,
  };
}
