import type { Address, PublicClient } from "viem";
import { agentHealthOracleAbi } from "./abi/agent-health-oracle.ts";
import { verdictEvaluatorAbi } from "./abi/verdict-evaluator.ts";
import type { Deployment } from "./deployments.ts";

/** A contract's signer and the last second, in Unix time, in which its signatures count. */
export type SignerTerm = { readonly address: Address; readonly until: bigint };

/** Who may do what with one of our contracts. */
export type ContractRoles = {
  readonly address: Address;
  readonly owner: Address;
  /** Who was offered ownership and has not accepted it. */
  readonly pendingOwner: Address | null;
  readonly signers: readonly SignerTerm[];
};

/** Roles of the contracts at one block. */
export type ChainRoles = {
  readonly block: bigint;
  /** Unix seconds. */
  readonly time: bigint;
  readonly oracle: ContractRoles & { readonly publisher: Address; readonly paused: boolean };
  /** Null where the chain has no evaluator. */
  readonly evaluator: ContractRoles | null;
};

/** Reads who holds which role, at the newest block; throws a viem error when the node does not answer. */
export async function readRoles(
  client: PublicClient,
  { oracle, verdictEvaluator }: Pick<Deployment, "oracle" | "verdictEvaluator">,
): Promise<ChainRoles> {
  const { number: blockNumber, timestamp } = await client.getBlock();
  const ask = { address: oracle.address, abi: agentHealthOracleAbi, blockNumber } as const;
  const roles = await rolesOf(client, oracle.address, blockNumber);
  const publisher = await client.readContract({ ...ask, functionName: "publisher" });
  const paused = await client.readContract({ ...ask, functionName: "paused" });
  const evaluator =
    verdictEvaluator === null ? null : await rolesOf(client, verdictEvaluator.address, blockNumber);
  return { block: blockNumber, time: timestamp, oracle: { ...roles, publisher, paused }, evaluator };
}

/** By the evaluator's ABI: the oracle names these functions alike. */
async function rolesOf(client: PublicClient, address: Address, blockNumber: bigint): Promise<ContractRoles> {
  const ask = { address, abi: verdictEvaluatorAbi, blockNumber } as const;
  const owner = await client.readContract({ ...ask, functionName: "owner" });
  const pending = await client.readContract({ ...ask, functionName: "pendingOwner" });
  const signers = await client.readContract({ ...ask, functionName: "signers" });
  const terms = signers.map(async (signer) => ({
    address: signer,
    until: await client.readContract({ ...ask, functionName: "signerUntil", args: [signer] }),
  }));
  return {
    address,
    owner,
    pendingOwner: BigInt(pending) === 0n ? null : pending,
    signers: await Promise.all(terms),
  };
}
