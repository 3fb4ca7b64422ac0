import type { Address, PublicClient } from "viem";
import { agentHealthOracleAbi } from "./abi/agent-health-oracle.ts";
import { verdictEvaluatorAbi } from "./abi/verdict-evaluator.ts";
import type { Deployment } from "./deployments.ts";

/** Who may do what with one of our contracts; a signer's signatures count until a second in Unix time. */
export type ContractRoles = Awaited<ReturnType<typeof rolesOf>>;

/** Roles of the contracts at one block and its Unix time; the evaluator is null where the chain has none. */
export type ChainRoles = Awaited<ReturnType<typeof readRoles>>;

/** Reads who holds which role, at the newest block; throws a viem error when the node does not answer. */
export async function readRoles(
  client: PublicClient,
  { oracle, verdictEvaluator }: Pick<Deployment, "oracle" | "verdictEvaluator">,
) {
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
async function rolesOf(client: PublicClient, address: Address, blockNumber: bigint) {
  const ask = { address, abi: verdictEvaluatorAbi, blockNumber } as const;
  const owner = await client.readContract({ ...ask, functionName: "owner" });
  const pending = await client.readContract({ ...ask, functionName: "pendingOwner" });
  const signers = await client.readContract({ ...ask, functionName: "signers" });
  const terms = signers.map(async (signer) => ({
    address: signer,
    until: await client.readContract({ ...ask, functionName: "signerUntil", args: [signer] }),
  }));
  // Who was offered ownership and has not accepted it.
  const pendingOwner = BigInt(pending) === 0n ? null : pending;
  return { address, owner, pendingOwner, signers: await Promise.all(terms) };
}
