import type { Address } from "viem";
import type { ServedDocument } from "../served-document.ts";
import { SERVICE_NAME, serviceDescription } from "./service-words.ts";

/** An ERC-8004 registration file (section "Agent URI and Agent Registration File"). */
export type AgentRegistration = {
  readonly type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";
  readonly name: string;
  readonly description: string;
  readonly services: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly version?: string;
  }[];
  readonly x402Support: boolean;
  readonly active: true;
  readonly registrations: readonly { readonly agentId: number; readonly agentRegistry: string }[];
  readonly supportedTrust: readonly string[];
  /** What jobs name as `evaluator`, and the escrows that it acts on; absent where outputs are not verified for jobs. */
  readonly evaluation?: JobEvaluation;
};

/** Where verdicts move escrows; addresses in EIP-55. */
export type JobEvaluation = {
  readonly chainId: number;
  readonly evaluator: Address;
  readonly escrows: readonly { readonly address: Address; readonly generation: string }[];
};

type Offer = { readonly takesPayments: boolean; readonly evaluation: JobEvaluation | null };

/** The service's own registration file: where it is reached, and whether it is paid by x402. */
export function agentRegistration(
  served: readonly ServedDocument[],
  origin: string,
  { takesPayments, evaluation }: Offer,
): AgentRegistration {
  return {
    type: "https://eips.ethereum.org/EIPS/eip-8004#registration-v1",
    name: SERVICE_NAME,
    description: serviceDescription(served),
    services: [
      ...served.map(({ referencePath }) => ({ name: "web", endpoint: `${origin}${referencePath}` })),
      ...served.map(({ documentPath }) => ({
        name: "OpenAPI",
        endpoint: `${origin}${documentPath}`,
        version: "3.1.0",
      })),
      { name: "MCP", endpoint: `${origin}/mcp`, version: "2026-07-28" },
    ],
    x402Support: takesPayments,
    active: true,
    registrations: [],
    supportedTrust: ["reputation"],
    ...(evaluation === null ? {} : { evaluation }),
  };
}
