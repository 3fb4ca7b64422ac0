import { readFileSync } from "node:fs";
import type { Address, PublicClient } from "viem";
import { z } from "zod";
import { deploymentSchema } from "./deployments.ts";

/** The chain of `ahs devnet`, where keys and node are everybody's. */
export const LOCAL_CHAIN_ID = 31_337;

const { identityRegistry, sanctionsList } = deploymentSchema.shape;

/** Null has the deployment look for the contract's first block. */
const startBlock = identityRegistry.shape.startBlock.nullable();

const networkSchema = deploymentSchema
  .omit({ startBlock: true, oracle: true, verdictEvaluator: true, assuranceAccounts: true, escrows: true })
  .extend({
    identityRegistry: identityRegistry.extend({ startBlock }),
    sanctionsList: sanctionsList.unwrap().extend({ startBlock }).nullable(),
  });

/** A chain before our contracts are deployed there: a deployment file without them. */
export type Network = z.infer<typeof networkSchema>;

export function loadNetwork(path: string): Network {
  const parsed = networkSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!parsed.success) throw new Error(`${path} is not a network: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** Node methods that show whether an address has code at a block. */
export type CodeReader = Pick<PublicClient, "getCode" | "getBlockNumber">;

/**
 * The first block at which an address has code, by halving between the first block and the newest. Throws where it has none
 * now, and if the node does not answer for old blocks: then it keeps no archive.
 */
export async function findFirstBlock(client: CodeReader, address: Address): Promise<number> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  if (!(await hasCode(client, address, head))) throw new Error(`there is no contract at ${address}`);
  let [without, having] = [-1n, head];
  while (having - without > 1n) {
    const middle = (without + having) / 2n;
    if (await hasCodeThen(client, address, middle)) having = middle;
    else without = middle;
  }
  return Number(having);
}

async function hasCodeThen(client: CodeReader, address: Address, blockNumber: bigint): Promise<boolean> {
  try {
    return await hasCode(client, address, blockNumber);
  } catch (error) {
    throw new Error(
      `the node does not report whether ${address} had code at block ${blockNumber}: ask an archive node, or give the contract's first block`,
      { cause: error },
    );
  }
}

async function hasCode(client: CodeReader, address: Address, blockNumber: bigint): Promise<boolean> {
  const code = await client.getCode({ address, blockNumber });
  return code !== undefined && code !== "0x";
}
