import { type Address, isAddressEqual, type PublicClient } from "viem";
import { assuranceAccountsAbi } from "../chain/abi/assurance-accounts.ts";
import type { Deployment } from "../chain/deployments.ts";
import { type Check, concern, fault, fine, notConfigured, unseen, type Verdict } from "../check.ts";
import { judgeQueue } from "../db/checks.ts";
import type { Database } from "../db/database.ts";
import { NOT_KNOWN } from "./panel/await-token-finding.ts";
import type { TokenFinding } from "./panel/find-read-token.ts";
import { readVerdictQueue } from "./verdicts/verdict-queue.sql.ts";

/** Whether bonds are lost by verdicts of ours. */
export function bondChecks(client: PublicClient, deployment: Deployment): readonly Check[] {
  return [{ name: "bonds", run: async () => judgeBonds(await probeBonds(client, deployment)) }];
}

/** Whether a worker takes outputs. */
export function verdictChecks(db: Database, now: () => Promise<Date>): readonly Check[] {
  return [
    {
      name: "queues",
      run: async () => {
        const { depth, ageSeconds } = await readVerdictQueue(db, await now());
        return judgeQueue("verdicts", { waiting: depth, overdueSeconds: ageSeconds });
      },
    },
  ];
}

/** Whether bonds are lost by verdicts of our evaluator, and are in the USDC that scores count. */
export function judgeBonds(
  bonds: { readonly found: readonly Address[]; readonly expected: readonly (Address | null)[] } | null,
): Verdict {
  if (bonds === null) return notConfigured("no wallet has a bond, assuranceAccounts");
  const { found, expected } = bonds;
  const isOurs = found.every((address, index) => {
    const wanted = expected[index];
    return wanted != null && isAddressEqual(address, wanted);
  });
  return isOurs
    ? fine("bonds are of the deployment's evaluator and USDC")
    : fault(
        `bonds are of evaluator and USDC ${found.join(" and ")}, expected ${expected.map((one) => one ?? "none").join(" and ")}`,
        "correct assuranceAccounts in the deployment file: answers would show bonds that no verdict of this evaluator pays out",
      );
}

/** The evaluator and the USDC whose jobs and money bonds secure, beside those of the deployment; null without bonds. */
async function probeBonds(
  client: PublicClient,
  { assuranceAccounts, verdictEvaluator, usdc }: Deployment,
): Promise<{ readonly found: readonly Address[]; readonly expected: readonly (Address | null)[] } | null> {
  if (assuranceAccounts === null) return null;
  const contract = { address: assuranceAccounts.address, abi: assuranceAccountsAbi } as const;
  const found = await Promise.all([
    client.readContract({ ...contract, functionName: "evaluator" }),
    client.readContract({ ...contract, functionName: "usdc" }),
  ]);
  return { found, expected: [verdictEvaluator?.address ?? null, usdc] };
}

/** Whether the server of a model reads control tokens within messages, which would let a text open a turn of its own. */
export function judgeTokens(
  finding: TokenFinding,
  { model, mayRead }: { readonly model: string; readonly mayRead: boolean },
): Verdict {
  switch (finding.kind) {
    case "unread":
      return fine(`${model}: no control token is read`);
    case "read": {
      const detail = `${model}: the control token ${finding.token} is read`;
      return mayRead
        ? concern(detail, "PANEL_ALLOW_CONTROL_TOKENS is set: the fence alone breaks tokens")
        : fault(detail, '"ahs work" does not start the panel: choose a server that reads none');
    }
    case "unknown":
      return concern(`${model}: not known if control tokens are read: ${finding.detail}`, NOT_KNOWN);
    case "unavailable":
      return unseen(`${model}: ${finding.detail}`);
  }
}
