import type { DiscoveryPorts, JobEvaluation, PaymentTerms } from "../../service/api/kit/discovery.ts";
import type { Deployment } from "../../service/chain/deployments.ts";
import type { Database } from "../../service/db/database.ts";
import { readSampleWallet } from "../../service/scores/ecosystem.ts";
import type { Config } from "../config.ts";
import { publicUrl } from "../config.ts";

/** What the well-known places tell: the origin, the terms of payment and a wallet to try them with. */
export function discoveryPorts(
  config: Config,
  {
    db,
    deployment,
    paymentTerms,
  }: {
    readonly db: Database;
    readonly deployment: Deployment;
    readonly paymentTerms: PaymentTerms | null;
  },
): Pick<DiscoveryPorts, "discovery"> {
  return {
    discovery: {
      origin: publicUrl(config),
      paymentTerms,
      // The oracle is an account that every deployment has: what is asked about it is answered, or refused, like any other.
      sampleWallet: async () => (await readSampleWallet(db, deployment.chainId)) ?? deployment.oracle.address,
      evaluation: evaluationOf(deployment),
      securityContact: config.securityContact,
    },
  };
}

function evaluationOf({ chainId, verdictEvaluator, escrows }: Deployment): JobEvaluation | null {
  if (verdictEvaluator === null) return null;
  return {
    chainId,
    evaluator: verdictEvaluator.address,
    escrows: escrows.map(({ address, generation }) => ({ address, generation })),
  };
}
