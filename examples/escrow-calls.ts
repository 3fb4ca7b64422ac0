import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";

/** The ABI generations of ERC-8183 escrows: the ERC text's own code, base-contracts' ERC8183, and Virtuals' AgenticCommerceV3. */
export const GENERATIONS = ["G1", "G3", "V3"] as const;

export type Generation = (typeof GENERATIONS)[number];

/** Parameters of a new job. */
type NewJob = {
  readonly provider: Address;
  readonly evaluator: Address;
  /** Unix seconds. */
  readonly expiredAt: number;
  readonly description: string;
  readonly hook: Address;
};

/** One generation's calls up to the delivery, and how its jobs are read. */
export type EscrowCalls = {
  /** The forms that escrows of the generation have, newest first: an escrow has one of them. */
  readonly createJob: (job: NewJob) => readonly Hex[];
  readonly setBudget: (jobId: bigint, payment: Payment) => Hex;
  readonly fund: (jobId: bigint, payment: Payment) => Hex;
  readonly statusOf: (answer: Hex) => Status;
};

type Payment = { readonly token: Address; readonly amount: bigint };

/** States of ERC-8183, by their numbers on chain. */
const STATUSES = ["Open", "Funded", "Submitted", "Completed", "Rejected", "Expired"] as const;

export type Status = (typeof STATUSES)[number];

const NO_PARAMS = "0x";
/** The provider's number in a registry of agents: none is named here. */
const NO_AGENT = 0n;

const shared = parseAbi([
  "function submit(uint256 jobId, bytes32 deliverable, bytes optParams)",
  "function getJob(uint256 jobId)",
]);

const g1 = parseAbi([
  "struct Job { uint256 id; address client; address provider; address evaluator; string description; uint256 budget; uint256 expiredAt; uint8 status; address hook; }",
  "function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)",
  "function setBudget(uint256 jobId, uint256 amount, bytes optParams)",
  "function fund(uint256 jobId, bytes optParams)",
  "function getJob(uint256 jobId) view returns (Job)",
]);

const g3 = parseAbi([
  "struct Job { address client; uint8 status; address provider; uint48 expiredAt; address evaluator; uint48 submittedAt; uint256 budget; address hook; address paymentToken; uint256 providerAgentId; string description; uint256 settledAmount; address payoutReceiver; }",
  "function createJob(address provider, address evaluator, uint48 expiredAt, string description, address hook, uint256 providerAgentId) returns (uint256)",
  "function createJob(address provider, address evaluator, uint48 expiredAt, string description, address hook, uint256 providerAgentId, bytes optParams) returns (uint256)",
  "function setBudget(uint256 jobId, address token, uint256 amount, bytes optParams)",
  "function fund(uint256 jobId, address expectedToken, uint256 expectedBudget, bytes optParams)",
  "function getJob(uint256 jobId) view returns (Job)",
]);

const v3 = parseAbi([
  "struct Job { address client; uint8 status; address provider; uint48 expiredAt; address evaluator; address hook; uint256 budget; string description; }",
  "function createJob(address provider, address evaluator, uint256 expiredAt, string description, address hook) returns (uint256)",
  "function setBudget(uint256 jobId, uint256 amount, bytes optParams)",
  "function fund(uint256 jobId, uint256 expectedBudget, bytes optParams)",
  "function getJob(uint256 jobId) view returns (Job)",
]);

/** How each generation is called: what a job needs has the same names everywhere, and other arguments. */
export const ESCROW_CALLS: Readonly<Record<Generation, EscrowCalls>> = {
  G1: {
    createJob: ({ provider, evaluator, expiredAt, description, hook }) => [
      encodeFunctionData({
        abi: g1,
        functionName: "createJob",
        args: [provider, evaluator, BigInt(expiredAt), description, hook],
      }),
    ],
    setBudget: (jobId, { amount }) =>
      encodeFunctionData({ abi: g1, functionName: "setBudget", args: [jobId, amount, NO_PARAMS] }),
    fund: (jobId) => encodeFunctionData({ abi: g1, functionName: "fund", args: [jobId, NO_PARAMS] }),
    statusOf: (data) => statusOf(decodeFunctionResult({ abi: g1, functionName: "getJob", data })),
  },
  G3: {
    createJob: ({ provider, evaluator, expiredAt, description, hook }) => {
      const args = [provider, evaluator, expiredAt, description, hook, NO_AGENT] as const;
      const call = { abi: g3, functionName: "createJob" } as const;
      return [
        encodeFunctionData({ ...call, args: [...args, NO_PARAMS] }),
        encodeFunctionData({ ...call, args }),
      ];
    },
    setBudget: (jobId, { token, amount }) =>
      encodeFunctionData({ abi: g3, functionName: "setBudget", args: [jobId, token, amount, NO_PARAMS] }),
    fund: (jobId, { token, amount }) =>
      encodeFunctionData({ abi: g3, functionName: "fund", args: [jobId, token, amount, NO_PARAMS] }),
    statusOf: (data) => statusOf(decodeFunctionResult({ abi: g3, functionName: "getJob", data })),
  },
  V3: {
    createJob: ({ provider, evaluator, expiredAt, description, hook }) => [
      encodeFunctionData({
        abi: v3,
        functionName: "createJob",
        args: [provider, evaluator, BigInt(expiredAt), description, hook],
      }),
    ],
    setBudget: (jobId, { amount }) =>
      encodeFunctionData({ abi: v3, functionName: "setBudget", args: [jobId, amount, NO_PARAMS] }),
    fund: (jobId, { amount }) =>
      encodeFunctionData({ abi: v3, functionName: "fund", args: [jobId, amount, NO_PARAMS] }),
    statusOf: (data) => statusOf(decodeFunctionResult({ abi: v3, functionName: "getJob", data })),
  },
};

/** The call that hands in work, the same in all generations. */
export function submitCall(jobId: bigint, deliverable: Hex): Hex {
  return encodeFunctionData({ abi: shared, functionName: "submit", args: [jobId, deliverable, NO_PARAMS] });
}

/** The call that reads a job, the same in all generations; their answers differ. */
export function getJobCall(jobId: bigint): Hex {
  return encodeFunctionData({ abi: shared, functionName: "getJob", args: [jobId] });
}

function statusOf({ status }: { readonly status: number }): Status {
  const name = STATUSES[status];
  if (name === undefined)
    throw new Error(`The escrow returned a state ${status} that ERC-8183 does not have.`);
  return name;
}
