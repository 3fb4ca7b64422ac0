import { type Address, formatEther, isAddressEqual, type PublicClient } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { reputationRegistryAbi } from "../chain/abi/reputation-registry.ts";
import { oracleFault } from "../chain/deploy.ts";
import type { Deployment } from "../chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../chain/networks.ts";
import { type Check, concern, fault, fine, notConfigured, type Verdict } from "../check.ts";

/** Checks of the contracts that scores, feedback and requests are written to. */
export function oracleChecks(
  client: PublicClient,
  {
    deployment,
    hasPublicUrl,
    maxFeeWei,
  }: {
    readonly deployment: Deployment;
    readonly hasPublicUrl: boolean;
    /** Most that our publisher pays for a request to follow a wallet. */
    readonly maxFeeWei: bigint;
  },
): readonly Check[] {
  const { chainId, oracle } = deployment;
  const isLocal = chainId === LOCAL_CHAIN_ID;
  return [
    {
      name: "oracle",
      run: async () => judgeOracle(await oracleFault(client, { chainId, address: oracle.address })),
    },
    {
      name: "feedback",
      run: async () => judgeFeedback(await probeFeedback(client, deployment), hasPublicUrl || isLocal),
    },
    {
      name: "request fee",
      run: async () =>
        isLocal
          ? fine("requests of a local chain")
          : judgeRequestFee({ feeWei: await probeRequestFee(client, deployment), maxFeeWei }),
    },
  ];
}

/** Whether the oracle reads what this version publishes and signs; the fault says why not. */
function judgeOracle(found: string | null): Verdict {
  return found === null
    ? fine("the oracle is of this version")
    : fault(found, 'deploy a new one with "ahs deploy"; the old one keeps its last records');
}

/** Whether feedback can be left: about the agents that are scored, with documents under a public address. */
export function judgeFeedback(
  registry: { readonly agentsOf: Address; readonly expected: Address } | null,
  hasPublicUrl: boolean,
): Verdict {
  if (registry === null) return notConfigured("no feedback is left, reputationRegistry");
  const { agentsOf, expected } = registry;
  if (!isAddressEqual(agentsOf, expected)) {
    return fault(
      `the reputation registry is of the agents of ${agentsOf}, expected ${expected}`,
      "correct reputationRegistry in the deployment file: feedback would be about other agents",
    );
  }
  return hasPublicUrl
    ? fine("the reputation registry is of the agents that are scored")
    : concern("no feedback is left without PUBLIC_URL", "set it to the address that callers use");
}

/** The registry of whose agents the reputation registry keeps feedback, and the one of the deployment; null without the former. */
async function probeFeedback(
  client: PublicClient,
  { reputationRegistry, identityRegistry }: Pick<Deployment, "reputationRegistry" | "identityRegistry">,
): Promise<{ readonly agentsOf: Address; readonly expected: Address } | null> {
  if (reputationRegistry === null) return null;
  const agentsOf = await client.readContract({
    address: reputationRegistry,
    abi: reputationRegistryAbi,
    functionName: "getIdentityRegistry",
  });
  return { agentsOf, expected: identityRegistry.address };
}

/** Whether a request to follow a wallet costs its caller something, and no more than our own publisher pays for one. */
export function judgeRequestFee({
  feeWei,
  maxFeeWei,
}: {
  readonly feeWei: bigint;
  readonly maxFeeWei: bigint;
}): Verdict {
  const detail = `a request to follow a wallet costs ${formatEther(feeWei)} ETH`;
  if (feeWei === 0n) {
    return concern(
      detail,
      "every caller can have any contract followed for the gas alone: let the owner call setRequestFee(100000000000000)",
    );
  }
  return feeWei > maxFeeWei
    ? concern(
        detail,
        `paid scores are not followed: ENROLMENT_MAX_FEE_WEI allows ${formatEther(maxFeeWei)} ETH`,
      )
    : fine(detail);
}

/** The oracle's fee for a request, in wei. */
function probeRequestFee(client: PublicClient, { oracle }: Pick<Deployment, "oracle">): Promise<bigint> {
  return client.readContract({
    address: oracle.address,
    abi: agentHealthOracleAbi,
    functionName: "requestFee",
  });
}
