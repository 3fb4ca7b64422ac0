import { type Address, keccak256, toHex } from "viem";
import { jobEscrowAbi } from "../abi/job-escrow.ts";
import { type DeedOf, deed, encode } from "./deed.ts";
import type { CallData, Deed, GasNeed } from "./plan-types.ts";

/** Measured on the contract; a test holds the population to them. */
const GAS = {
  createJob: { least: 120_000, most: 190_000 },
  setBudget: { least: 30_000, most: 56_000 },
  fund: { least: 50_000, most: 90_000 },
  submit: { least: 30_000, most: 42_000 },
  complete: { least: 40_000, most: 85_000 },
} as const;

/** Opens a job; its id is known by the key from then on. */
export function createJob(
  escrow: Address,
  key: string,
  job: { provider: Address; evaluator: Address; expiredAt: number },
): Deed {
  const none = "0x0000000000000000000000000000000000000000";
  const args = [job.provider, job.evaluator, BigInt(job.expiredAt), key.slice(-31), none];
  const data = encode(jobEscrowAbi, "createJob", args);
  return { ...deed(escrow, data, GAS.createJob, "success"), creates: { kind: "job", key } };
}

/** Names the price of a job in USDC units; the failing form names that of a job that does not exist. */
export function setBudget(escrow: Address, key: string, amount: bigint): DeedOf {
  return jobStep(escrow, key, { step: "setBudget", gas: GAS.setBudget, rest: [amount, "0x"] });
}

/** Locks the price of a job. */
export function fundJob(escrow: Address, key: string): DeedOf {
  return jobStep(escrow, key, { step: "fund", gas: GAS.fund, rest: ["0x"] });
}

/** Hands in the work of a job; the failing form names a job that does not exist. */
export function submitJob(escrow: Address, key: string): DeedOf {
  const deliverable = keccak256(toHex(`work of ${key}`));
  return jobStep(escrow, key, { step: "submit", gas: GAS.submit, rest: [deliverable, "0x"] });
}

/** Accepts the work of a job and pays it. */
export function completeJob(escrow: Address, key: string): DeedOf {
  const reason = keccak256(toHex(`judgement of ${key}`));
  return jobStep(escrow, key, { step: "complete", gas: GAS.complete, rest: [reason, "0x"] });
}

function jobStep(
  escrow: Address,
  key: string,
  { step, gas, rest }: { step: string; gas: GasNeed; rest: readonly unknown[] },
): DeedOf {
  return (outcome) => {
    const data: CallData = (ids) => {
      const jobId = outcome === "revert" ? 2n ** 64n : ids.idOf(key);
      return encode(jobEscrowAbi, step, [jobId, ...rest]);
    };
    return { ...deed(escrow, data, gas, outcome), needs: key };
  };
}
