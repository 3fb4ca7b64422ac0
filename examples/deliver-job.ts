import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  formatUnits,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  stringToBytes,
} from "viem";
import { canonicalJson } from "./canonical-json.ts";
import type { LocalChain } from "./chain.ts";
import { ESCROW_CALLS, type Generation, submitCall } from "./escrow-calls.ts";
import { ACCEPTANCE_CRITERIA, SPEC_TEXT } from "./job-texts.ts";
import { contractOf, type UpFile } from "./up-file.ts";
import { post } from "./verification.ts";

/** Parts of a played job. */
export type JobPlan = {
  readonly up: UpFile;
  readonly chain: LocalChain;
  readonly generation: Generation;
  /** In the smallest unit of USDC. */
  readonly budget: bigint;
  readonly outputText: string;
  /** Seconds from now until the job expires; a day unless given. */
  readonly lifeSeconds?: number;
  /** Who decides the job; the service's evaluator unless given. */
  readonly evaluator?: Address;
  readonly say: (line: string) => void;
};

/** A job of an escrow, and the specification that it is judged by. */
export type Job = { readonly escrow: Address; readonly jobId: bigint; readonly specId: string };

const DAY_SECONDS = 86_400;
const ESCROWS = { G1: "jobEscrow", G3: "jobEscrowG3", V3: "jobEscrowV3" } as const;

/** Plays a job from its specification's hash to the delivered work; throws where any step is refused. */
export async function deliverJob(plan: JobPlan): Promise<Job> {
  const job = await openJob(plan);
  await fundJob(plan, job);
  const deliverable = keccak256(stringToBytes(plan.outputText));
  await plan.chain.send(plan.up.provider.private_key, {
    to: job.escrow,
    data: submitCall(job.jobId, deliverable),
  });
  plan.say(`the provider delivered ${deliverable}`);
  return job;
}

/** The hash comes first, the job's description names it, and the specification is registered with the job's id. */
export async function openJob(plan: JobPlan): Promise<Job> {
  const { up, chain, generation, say } = plan;
  const escrow = contractOf(up, ESCROWS[generation]);
  const spec = {
    client_addr: up.payer.address,
    provider_addr: up.provider.address,
    spec_text: SPEC_TEXT,
    acceptance_criteria: ACCEPTANCE_CRITERIA,
    domain: "default",
  };
  const specHash: Hex = keccak256(stringToBytes(canonicalJson(spec)));
  const forms = ESCROW_CALLS[generation].createJob({
    provider: up.provider.address,
    evaluator: plan.evaluator ?? contractOf(up, "verdictEvaluator"),
    expiredAt: (await chain.now()) + (plan.lifeSeconds ?? DAY_SECONDS),
    description: `A travel note on Lyon. ahs-spec:${specHash}`,
    hook: contractOf(up, `scoreGateHook${generation}`),
  });
  const data = await chain.passing(up.payer.address, escrow, forms);
  const logs = await chain.send(up.payer.private_key, { to: escrow, data });
  // JobCreated is the escrow's only event of the call, and its first topic is the job's id in every generation.
  const topic = logs.find(({ address }) => address.toLowerCase() === escrow.toLowerCase())?.topics[1];
  if (topic === undefined) throw new Error(`${escrow} did not tell which job it created.`);
  const jobId = hexToBigInt(topic);
  say(`job ${jobId} at ${escrow} names ahs-spec:${specHash}`);

  const named = { chain_id: up.chain_id, escrow, erc8183_job_id: numberToHex(jobId) };
  const { spec_id, spec_hash } = await post<Registered>(up, "/v1/specs", { ...spec, ...named });
  if (spec_hash !== specHash) throw new Error(`The service hashes the specification to ${spec_hash}.`);
  say(`specification ${spec_id} is registered under the same hash`);
  return { escrow, jobId, specId: spec_id };
}

type Registered = { readonly spec_id: string; readonly spec_hash: string };

/** The provider names its price; the client pays it in, if the gate lets it. */
export async function fundJob(plan: JobPlan, { escrow, jobId }: Job): Promise<void> {
  const { up, chain, generation, budget, say } = plan;
  const calls = ESCROW_CALLS[generation];
  const payment = { token: contractOf(up, "usdc"), amount: budget };
  await chain.send(up.provider.private_key, { to: escrow, data: calls.setBudget(jobId, payment) });
  await tellGate(plan);
  const approval = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [escrow, budget] });
  await chain.send(up.payer.private_key, { to: payment.token, data: approval });
  await chain.send(up.payer.private_key, { to: escrow, data: calls.fund(jobId, payment) });
  say(`the client funded it with ${formatUnits(budget, 6)} USDC`);
}

/** Which providers the escrow's hook lets be funded: it reads their scores from the oracle on chain. */
async function tellGate({ up, chain, generation, say }: JobPlan): Promise<void> {
  const hook = contractOf(up, `scoreGateHook${generation}`);
  const refusal = await chain.refusalOf(hook, up.provider.address);
  if (refusal !== null) throw new Error(`The gate refuses the provider ${up.provider.address}: ${refusal}`);
  const failing = up.samples["always-failing"];
  if (failing === undefined) return say("the gate lets this provider be funded");
  const other = await chain.refusalOf(hook, failing);
  say(
    `the gate lets this provider be funded; of one that always fails it says: ${other ?? "let it be funded"}`,
  );
}
