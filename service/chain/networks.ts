import { readFileSync } from "node:fs";
import { z } from "zod";
import { deploymentSchema } from "./deployments.ts";

/** The chain of `ahs devnet`, where keys and node are everybody's. */
export const LOCAL_CHAIN_ID = 31_337;

const { identityRegistry, sanctionsList } = deploymentSchema.shape;

/** Null has the deployment look for the contract's first block. */
const startBlock = identityRegistry.shape.startBlock.nullable();

const networkSchema = deploymentSchema
  .omit({ startBlock: true, oracle: true, verdictEvaluator: true, escrows: true })
  .extend({
    identityRegistry: identityRegistry.extend({ startBlock }),
    sanctionsList: sanctionsList.unwrap().extend({ startBlock }).nullable(),
  });

/** What a chain has before anything of ours is deployed there: a deployment file without our own contracts. */
export type Network = z.infer<typeof networkSchema>;

/** Reads the file of a network; throws with every fault found when the file is none. */
export function loadNetwork(path: string): Network {
  const parsed = networkSchema.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!parsed.success) throw new Error(`${path} is not a network: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
