import type { Address } from "viem";
import { assuranceAccountsAbi } from "../../chain/abi/assurance-accounts.ts";
import type { Deployment } from "../../chain/deployments.ts";
import { VERDICT_UNITS } from "../panel/run-cost.ts";
import type { Decision } from "../panel/types.ts";
import { askNode, type EscrowClient } from "./escrow-node.ts";
import { readReleasedMoney } from "./released-money.ts";
import type { JobName } from "./types.ts";

/** Smallest price of an appeal in thousandths of a US dollar: that of the first decision. */
export const LEAST_APPEAL_UNITS = VERDICT_UNITS;
/**
 * Share of the money at stake that an appeal costs, in per cent. An appellant of a right decision pays more than it gains as long as the second
 * panel decides fewer than one of five right cases wrongly; docs/panel.md compares that with measured panels.
 */
export const APPEAL_PERCENT = 25n;

/** Of the states of a commitment. */
const ACTIVE = 1;
/** A thousandth of a dollar has a thousand millionths. */
const MICRO_USD_PER_UNIT = 1_000n;
/** The largest that can be stored. */
const MOST_UNITS = 2_000_000_000n;

/**
 * Price of an appeal in thousandths of a US dollar, rounded up; null if it is too large to be paid here. `stakeMicroUsd` is what the
 * decision moves.
 */
export function appealUnits(stakeMicroUsd: bigint): number | null {
  const divisor = 100n * MICRO_USD_PER_UNIT;
  const share = (stakeMicroUsd * APPEAL_PERCENT + divisor - 1n) / divisor;
  return share > MOST_UNITS ? null : Math.max(LEAST_APPEAL_UNITS, Number(share));
}

/**
 * Reads the price of an appeal against a decision about a job: a share of the job's funding and of the bond that its provider committed to
 * it. Null if there is no appeal: the funding has no known worth, or the rules for large amounts let no second panel turn the REJECT. Throws
 * an EscrowFailure if the node gives no usable answer.
 */
export async function readAppealUnits(
  deps: Parameters<typeof readReleasedMoney>[0] & {
    deployment: Pick<Deployment, "assuranceAccounts">;
    /** Above it an ALLOW needs a vote of a second model, which a second panel does not have. */
    secondModelAboveMicroUsd: bigint;
  },
  { job, decision }: { job: JobName; decision: Decision },
): Promise<number | null> {
  const released = await readReleasedMoney(deps, job);
  if (released === null || released === "unknown") return null;
  if (decision === "REJECT" && released > deps.secondModelAboveMicroUsd) return null;
  const { assuranceAccounts } = deps.deployment;
  const bond =
    assuranceAccounts === null ? 0n : await readCommitted(deps.client, assuranceAccounts.address, job);
  return appealUnits(released + bond);
}

/** Millionths of USDC, which counts as a dollar. The evaluator's REJECT brings them to the client. */
async function readCommitted(
  client: EscrowClient,
  address: Address,
  { escrow, jobId }: JobName,
): Promise<bigint> {
  const call = { address, abi: assuranceAccountsAbi, functionName: "commitmentOf" } as const;
  const { amount, state } = await askNode(() => client.readContract({ ...call, args: [escrow, jobId] }));
  return state === ACTIVE ? amount : 0n;
}
