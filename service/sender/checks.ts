import { type Address, formatEther, isAddressEqual, type PublicClient } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { verdictEvaluatorAbi } from "../chain/abi/verdict-evaluator.ts";
import type { Deployment } from "../chain/deployments.ts";
import { type Check, concern, fault, fine, notConfigured, type Verdict } from "../check.ts";
import type { SendingRole } from "./allowed-calls.ts";

/** Gas of one transaction of a role, and of a day's work. */
type Work = { readonly gasOnce: bigint; readonly gasDaily: bigint };

const CALL_GAS = 200_000n;
/** A settlement or verdict, and a thousand. */
const CALLS: Work = { gasOnce: CALL_GAS, gasDaily: CALL_GAS * 1_000n };

/** Checks of the keys of this environment: whether the contracts accept them, and what they can pay for. */
export function keyChecks(
  client: PublicClient,
  {
    deployment,
    addressOf,
    publishing,
  }: {
    readonly deployment: Pick<Deployment, "oracle" | "verdictEvaluator">;
    /** Null where no key is set; throws why keys cannot be opened. */
    readonly addressOf: (role: SendingRole | "signer" | "verdictSigner") => Address | null;
    readonly publishing: Work;
  },
): readonly Check[] {
  return [
    {
      name: "keys",
      run: async () => {
        const { publisher, signers, verdictSigners } = await probeRoles(client, deployment);
        const onChain = [
          { role: "publisher", configured: addressOf("publisher"), onChain: [publisher] },
          { role: "signer", configured: addressOf("signer"), onChain: signers },
          ...(verdictSigners === null
            ? []
            : [{ role: "verdict signer", configured: addressOf("verdictSigner"), onChain: verdictSigners }]),
        ];
        return onChain.map(judgeRole);
      },
    },
    {
      name: "balances",
      run: async () => {
        const gasPrice = await client.getGasPrice();
        const work = { publisher: publishing, facilitator: CALLS, relayer: CALLS } as const;
        const purses = await Promise.all(
          (["publisher", "facilitator", "relayer"] as const).flatMap((role) => {
            const address = addressOf(role);
            return address === null
              ? []
              : [
                  client
                    .getBalance({ address })
                    .then((wei) => ({ role, address, wei, gasPrice, ...work[role] })),
                ];
          }),
        );
        return purses.length === 0 ? notConfigured("sending keys") : purses.map(judgeBalance);
      },
    },
  ];
}

/** Whether the contracts believe the keys of this process. */
export function judgeRole({
  role,
  configured,
  onChain,
}: {
  role: string;
  /** Of the key that is configured here; null where none is. */
  configured: Address | null;
  onChain: readonly Address[];
}): Verdict {
  if (configured === null) return notConfigured(role);
  return onChain.some((address) => isAddressEqual(address, configured))
    ? fine(`${role} is ${configured}`)
    : fault(
        `${role}: the key is of ${configured}, the contract has ${onChain.join(", ") || "none"}`,
        'set the other key, or let the owner name this one with "ahs roles"',
      );
}

/** Signers and writers that our contracts accept. */
async function probeRoles(
  client: PublicClient,
  { oracle, verdictEvaluator }: Pick<Deployment, "oracle" | "verdictEvaluator">,
) {
  const contract = { address: oracle.address, abi: agentHealthOracleAbi } as const;
  const evaluator = verdictEvaluator?.address;
  const [publisher, signers, verdictSigners] = await Promise.all([
    client.readContract({ ...contract, functionName: "publisher" }),
    client.readContract({ ...contract, functionName: "signers" }),
    evaluator === undefined
      ? null
      : client.readContract({ address: evaluator, abi: verdictEvaluatorAbi, functionName: "signers" }),
  ]);
  return { publisher, signers, verdictSigners };
}

/** Whether a sending key can pay for its next transaction, and for a day. */
export function judgeBalance({
  role,
  address,
  wei,
  gasPrice,
  gasOnce,
  gasDaily,
}: {
  role: string;
  address: Address;
  wei: bigint;
  gasPrice: bigint;
  /** Gas of one transaction of its work, and of a day of it. */
  gasOnce: bigint;
  gasDaily: bigint;
}): Verdict {
  const detail = `${role} ${address}: ${formatEther(wei)} ETH`;
  const advice = `send it ${formatEther(gasDaily * gasPrice)} ETH: a day at today's gas price`;
  if (wei < gasOnce * gasPrice) return fault(detail, advice);
  return wei < gasDaily * gasPrice ? concern(detail, advice) : fine(detail);
}
