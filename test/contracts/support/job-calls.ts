import { type Address, encodeFunctionData, type Hex, keccak256, toHex } from "viem";
import { jobEscrowAbi } from "../../../devnet/abi/job-escrow.ts";
import { jobEscrowG3Abi } from "../../../devnet/abi/job-escrow-g3.ts";
import { jobEscrowV3Abi } from "../../../devnet/abi/job-escrow-v3.ts";
import { usdCoinAbi } from "../../../service/chain/abi/usd-coin.ts";
import type { Deployment } from "../../../service/chain/deployments.ts";

export type Generation = Deployment["escrows"][number]["generation"];

export type JobPlan = {
  readonly escrow: Address;
  readonly usdc: Address;
  /** The id that the escrow gives next. */
  readonly jobId: bigint;
  readonly client: Address;
  readonly provider: Address;
  readonly evaluator: Address;
  readonly expiredAt: bigint;
  readonly budget: bigint;
  /** The zero address for none. */
  readonly hook: Address;
};

export type Call = { readonly from: Address; readonly to: Address; readonly data: Hex };

/** Calls of client and provider that take a new job to submitted work, in any generation of escrow. */
export function jobCalls(generation: Generation, plan: JobPlan): readonly Call[] {
  const { client, provider, escrow, usdc, budget, jobId } = plan;
  const { created, priced, funded } = stepsOf(generation, plan);
  const approval = { abi: usdCoinAbi, functionName: "approve", args: [escrow, budget] } as const;
  const submission = {
    abi: jobEscrowAbi,
    functionName: "submit",
    args: [jobId, keccak256(toHex("work")), "0x"],
  } as const;
  return [
    { from: client, to: escrow, data: created },
    { from: provider, to: escrow, data: priced },
    { from: client, to: usdc, data: encodeFunctionData(approval) },
    { from: client, to: escrow, data: funded },
    { from: provider, to: escrow, data: encodeFunctionData(submission) },
  ];
}

type Steps = { readonly created: Hex; readonly priced: Hex; readonly funded: Hex };

function stepsOf(generation: Generation, plan: JobPlan): Steps {
  const { provider, evaluator, expiredAt, usdc, budget, jobId, hook } = plan;
  const g1 = { abi: jobEscrowAbi } as const;
  const inG1 = {
    created: encodeFunctionData({
      ...g1,
      functionName: "createJob",
      args: [provider, evaluator, expiredAt, "work", hook],
    }),
    priced: encodeFunctionData({ ...g1, functionName: "setBudget", args: [jobId, budget, "0x"] }),
    funded: encodeFunctionData({ ...g1, functionName: "fund", args: [jobId, "0x"] }),
  };
  switch (generation) {
    case "G1":
      return inG1;
    case "V3": {
      const args = [jobId, budget, "0x"] as const;
      return { ...inG1, funded: encodeFunctionData({ abi: jobEscrowV3Abi, functionName: "fund", args }) };
    }
    case "G3": {
      const g3 = { abi: jobEscrowG3Abi } as const;
      const job = [provider, evaluator, Number(expiredAt), "work", hook, 0n] as const;
      const paid = [jobId, usdc, budget, "0x"] as const;
      return {
        created: encodeFunctionData({ ...g3, functionName: "createJob", args: job }),
        priced: encodeFunctionData({ ...g3, functionName: "setBudget", args: paid }),
        funded: encodeFunctionData({ ...g3, functionName: "fund", args: paid }),
      };
    }
  }
}
