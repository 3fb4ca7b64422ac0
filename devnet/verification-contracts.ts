import { type Abi, type Address, encodeFunctionData, type Hex } from "viem";
import bytecodes from "../contracts/bytecode.json" with { type: "json" };
import { jobAdapterG1Abi } from "../service/chain/abi/job-adapter-g1.ts";
import { jobAdapterG3Abi } from "../service/chain/abi/job-adapter-g3.ts";
import { jobAdapterV3Abi } from "../service/chain/abi/job-adapter-v3.ts";
import { scoreGateHookAbi } from "../service/chain/abi/score-gate-hook.ts";
import { verdictEvaluatorAbi } from "../service/chain/abi/verdict-evaluator.ts";
import type { Deployment } from "../service/chain/deployments.ts";
import { jobEscrowAbi } from "./abi/job-escrow.ts";
import { jobEscrowG3Abi } from "./abi/job-escrow-g3.ts";
import { jobEscrowV3Abi } from "./abi/job-escrow-v3.ts";
import { roleAccounts } from "./accounts.ts";

/** The contracts of output verification in the order of their deployment, the oracle and one escrow coming before. */
export const VERIFICATION_NAMES = [
  "jobEscrowG3",
  "jobEscrowV3",
  "escrowAdapterG1",
  "escrowAdapterG3",
  "escrowAdapterV3",
  "verdictEvaluator",
  "scoreGateHookG1",
  "scoreGateHookG3",
  "scoreGateHookV3",
] as const;

type VerificationName = (typeof VERIFICATION_NAMES)[number];

/** Addresses that these contracts are given, and their own. */
type Known = { readonly [name in VerificationName | "usdc" | "oracle" | "jobEscrow"]: Address };

type VerificationSpec = { name: VerificationName; bytecode: string; abi: Abi; args: readonly unknown[] };

/** Lowest score of a provider whose jobs can be funded through a hook of the local chain: grade C. */
const MIN_SCORE = 60;
/** The local chain may have rested for weeks. */
const MAX_AGE_SECONDS = 365n * 86_400n;
/** Both choices are there to be tried. */
const ALLOW_UNSCORED = { G1: false, G3: true, V3: false } as const;

/** The escrow of each ABI generation on the local chain, with what reads and what gates its jobs. */
export function localEscrows(contracts: Known): readonly {
  readonly generation: Deployment["escrows"][number]["generation"];
  readonly escrow: Address;
  readonly adapter: Address;
  readonly hook: Address;
}[] {
  const { escrowAdapterG1, escrowAdapterG3, escrowAdapterV3 } = contracts;
  const { scoreGateHookG1, scoreGateHookG3, scoreGateHookV3 } = contracts;
  return [
    { generation: "G1", escrow: contracts.jobEscrow, adapter: escrowAdapterG1, hook: scoreGateHookG1 },
    { generation: "G3", escrow: contracts.jobEscrowG3, adapter: escrowAdapterG3, hook: scoreGateHookG3 },
    { generation: "V3", escrow: contracts.jobEscrowV3, adapter: escrowAdapterV3, hook: scoreGateHookV3 },
  ];
}

/** Contracts deployed after the oracle, in order, with constructor arguments. */
export function verificationSpecs(contracts: Known): readonly VerificationSpec[] {
  const { deployer, verdictSigner } = roleAccounts();
  const owner = deployer.address;
  const payment = [contracts.usdc, owner, owner];
  return [
    { name: "jobEscrowG3", bytecode: bytecodes.JobEscrowG3, abi: jobEscrowG3Abi, args: payment },
    { name: "jobEscrowV3", bytecode: bytecodes.JobEscrowV3, abi: jobEscrowV3Abi, args: payment },
    { name: "escrowAdapterG1", bytecode: bytecodes.JobAdapterG1, abi: jobAdapterG1Abi, args: [] },
    { name: "escrowAdapterG3", bytecode: bytecodes.JobAdapterG3, abi: jobAdapterG3Abi, args: [] },
    { name: "escrowAdapterV3", bytecode: bytecodes.JobAdapterV3, abi: jobAdapterV3Abi, args: [] },
    {
      name: "verdictEvaluator",
      bytecode: bytecodes.VerdictEvaluator,
      abi: verdictEvaluatorAbi,
      args: [owner, [verdictSigner.address]],
    },
    ...localEscrows(contracts).map(
      ({ generation, escrow, adapter }): VerificationSpec => ({
        name: `scoreGateHook${generation}`,
        bytecode: bytecodes.ScoreGateHook,
        abi: scoreGateHookAbi,
        args: [escrow, adapter, contracts.oracle, MIN_SCORE, MAX_AGE_SECONDS, ALLOW_UNSCORED[generation]],
      }),
    ),
  ];
}

/** The owner's calls that let the evaluator settle the escrows' jobs, and jobs name the hooks. */
export function verificationCalls(contracts: Known): readonly { readonly to: Address; readonly data: Hex }[] {
  return localEscrows(contracts).flatMap(({ escrow, adapter, hook }) => [
    {
      to: contracts.verdictEvaluator,
      data: encodeFunctionData({
        abi: verdictEvaluatorAbi,
        functionName: "setEscrow",
        args: [escrow, adapter],
      }),
    },
    // One function in all generations.
    {
      to: escrow,
      data: encodeFunctionData({ abi: jobEscrowAbi, functionName: "setHookWhitelist", args: [hook, true] }),
    },
  ]);
}
