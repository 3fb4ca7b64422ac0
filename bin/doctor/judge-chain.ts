import { type Address, formatEther, isAddressEqual } from "viem";
import { concern, fault, fine, notConfigured, type Verdict } from "./run-checks.ts";

/** Whether the node serves the chain of the deployment. */
export function judgeChainId(actual: number, expected: number): Verdict {
  return actual === expected
    ? fine(`chain ${actual}`)
    : fault(
        `the node serves chain ${actual}, the deployment is of ${expected}`,
        "set RPC_URL or AHS_DEPLOYMENT",
      );
}

/** Seconds after which a node is behind its chain; and how far its clock may be ahead. */
const [OLD_HEAD, DEAD_HEAD, AHEAD] = [60, 600, -15];

/** Whether the node follows its chain, and whether what we call final is final there. */
export function judgeHead(head: {
  ageSeconds: number;
  /** Blocks between the node's newest and its finalized one; null where it names none. */
  finalizedDepth: number | null;
  finalityBlocks: number;
  isLocal: boolean;
}): Verdict {
  const { ageSeconds, finalizedDepth, finalityBlocks, isLocal } = head;
  const detail = `newest block ${Math.round(ageSeconds)} s old`;
  if (isLocal) return fine(detail);
  if (ageSeconds > DEAD_HEAD) return fault(detail, "the node does not follow its chain: use another");
  if (ageSeconds < AHEAD)
    return fault(`newest block ${Math.round(-ageSeconds)} s in the future`, "set this machine's clock (NTP)");
  if (ageSeconds > OLD_HEAD) return concern(detail, "the node is behind: watch it, or use another");
  if (finalizedDepth === null)
    return concern(`${detail}, no finalized block named`, "use a node that knows the tag finalized");
  const depth = `${detail}, finality ${finalizedDepth} blocks behind`;
  return finalizedDepth > finalityBlocks * 2
    ? concern(depth, `finalityBlocks is ${finalityBlocks}: what counts as final could still be replaced`)
    : fine(depth);
}

export type Answered = "answered" | "missing" | "failed";

/** Whether the node has what we ask it for; each method that is missing costs something else. */
export function judgeMethods(facts: {
  blockReceipts: Answered;
  /** Null on a chain that keeps no state of old blocks by design. */
  archive: Answered | null;
  otterscan: Answered;
  simulate: Answered;
  traces: Answered;
  /** True if this node is the source of account facts and histories. */
  needsOtterscan: boolean;
}): readonly Verdict[] {
  const { blockReceipts, archive, otterscan, simulate, traces, needsOtterscan } = facts;
  return [
    judgeMethod("eth_getBlockReceipts", blockReceipts, "each own call costs a request of its own without it"),
    ...(archive === null
      ? []
      : [
          judgeMethod(
            "state of the deployment's first block",
            archive,
            "old facts can be read from an archive node only",
          ),
        ]),
    needsOtterscan
      ? otterscan === "answered"
        ? fine("ots_ methods: answered")
        : fault(`ots_ methods: ${otterscan}`, "set HISTORY_URL to a node that has them, or HISTORY_SOURCE")
      : judgeMethod("ots_ methods", otterscan, "creators, first funders and ages of accounts stay unknown"),
    judgeMethod("eth_simulateV1", simulate, "several transactions of /retry cannot be simulated together"),
    judgeMethod(
      "debug_traceTransaction",
      traces,
      "native coin that smart accounts pay stays unknown, and does not count for them",
    ),
  ];
}

function judgeMethod(what: string, answered: Answered, cost: string): Verdict {
  return answered === "answered" ? fine(`${what}: answered`) : concern(`${what}: ${answered}`, cost);
}

export type ContractFacts = {
  readonly what: string;
  readonly address: Address;
  /** Nothing works without it; others cost a part. */
  readonly isEssential: boolean;
  readonly hasCode: boolean;
  /** False where the code, or that behind a proxy, is not what the deployment says. */
  readonly isKnownCode: boolean;
};

/** Whether every address of the deployment is what it says. */
export function judgeContracts(contracts: readonly ContractFacts[]): readonly Verdict[] {
  const bad = contracts.filter(({ hasCode, isKnownCode }) => !hasCode || !isKnownCode);
  if (bad.length === 0) return [fine(`code at all ${contracts.length} addresses`)];
  return bad.map(({ what, address, isEssential, hasCode }) => {
    const detail = `${what} ${address}: ${hasCode ? "other code than in the deployment" : "no code"}`;
    if (hasCode) return fault(detail, "review the new code: until then its verdicts are not settled");
    return isEssential
      ? fault(detail, "check AHS_DEPLOYMENT against the chain")
      : concern(detail, "take it out of the deployment, or correct it");
  });
}

/** Whether the chain has the contracts of the schemes that are to be offered. */
export function judgeSchemes(
  schemes: readonly { readonly scheme: string; readonly hasCode: boolean }[],
): readonly Verdict[] {
  const missing = schemes.filter(({ hasCode }) => !hasCode);
  if (missing.length === 0) return [fine("code at the addresses of all schemes of X402_SCHEMES")];
  return missing.map(({ scheme }) =>
    fault(`no contract of ${scheme} on this chain`, "take it out of X402_SCHEMES: nothing would be paid"),
  );
}

/** Whether the oracle reads what this version publishes and signs; the fault says why not. */
export function judgeOracle(found: string | null): Verdict {
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

/** Feeds are renewed at least daily. */
const OLD_FEED = 2 * 86_400;

/** Whether the price feeds answer, with prices of today. */
export function judgeFeeds(
  feeds: readonly {
    symbol: string;
    address: Address;
    /** Null where it does not answer. */
    ageSeconds: number | null;
    isPositive: boolean;
  }[],
): readonly Verdict[] {
  const bad = feeds.filter(
    ({ ageSeconds, isPositive }) => ageSeconds === null || ageSeconds > OLD_FEED || !isPositive,
  );
  if (bad.length === 0) return [fine(`${feeds.length} price feeds answer`)];
  return bad.map(({ symbol, address, ageSeconds, isPositive }) => {
    const why =
      ageSeconds === null
        ? "does not answer"
        : isPositive
          ? `${Math.round(ageSeconds / 3_600)} h old`
          : "no price";
    return concern(
      `${symbol} feed ${address}: ${why}`,
      "look its address up anew and correct the deployment",
    );
  });
}
