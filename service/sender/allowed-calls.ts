import {
  AUTH_CAPTURE_ESCROW_V1_0_ADDRESS,
  BATCH_SETTLEMENT_ADDRESS,
  x402ExactPermit2ProxyABI,
  x402ExactPermit2ProxyAddress,
  x402UptoPermit2ProxyABI,
  x402UptoPermit2ProxyAddress,
} from "@x402/evm";
import { type Abi, type Address, isAddressEqual, toFunctionSelector } from "viem";
import { agentHealthOracleAbi } from "../chain/abi/agent-health-oracle.ts";
import { authCaptureEscrowAbi } from "../chain/abi/auth-capture-escrow.ts";
import { batchSettlementAbi } from "../chain/abi/batch-settlement.ts";
import { reputationRegistryAbi } from "../chain/abi/reputation-registry.ts";
import { usdCoinAbi } from "../chain/abi/usd-coin.ts";
import { validationRegistryAbi } from "../chain/abi/validation-registry.ts";
import { verdictEvaluatorAbi } from "../chain/abi/verdict-evaluator.ts";
import type { Deployment } from "../chain/deployments.ts";

export type SendingRole = "publisher" | "facilitator" | "relayer";

export type AskedCall = {
  readonly purpose: string;
  readonly to: string;
  /** 0x and hexadecimal digits. */
  readonly data: string;
  /** Wei. */
  readonly value: bigint;
};

/** Returns why a key must not send a call; null if it may. */
export type RefuseCall = (call: AskedCall) => string | null;

type Rule = {
  readonly role: SendingRole;
  /** Contracts with the selectors that are called there; null where the chain has no such contract. */
  readonly targets: readonly { readonly to: Address | null; readonly selectors: readonly string[] }[];
  readonly mostWei: bigint;
};

/**
 * The calls that a key of these roles may send, by any row of the queue: for each purpose its contracts, their functions by
 * selector, and a bound of value.
 */
export function allowedCalls(
  roles: readonly SendingRole[],
  targets: Pick<
    Deployment,
    "oracle" | "verdictEvaluator" | "usdc" | "reputationRegistry" | "validationRegistry"
  > & {
    maxRequestFeeWei: bigint;
  },
): RefuseCall {
  const rules = rulesOf(targets);
  return (call) => {
    const rule = rules.get(call.purpose);
    if (rule === undefined) return `no key sends anything for the purpose ${call.purpose}`;
    if (!roles.includes(rule.role)) return `${call.purpose} is for the key of the ${rule.role}`;
    return refuseBy(rule, call);
  };
}

function refuseBy({ targets, mostWei }: Rule, call: AskedCall): string | null {
  const { purpose, value } = call;
  const target = targets.find(({ to }) => isAt(call.to, to));
  if (target === undefined) {
    const known = targets.flatMap(({ to }) => to ?? []).join(" or ");
    return `${purpose} goes to ${known || "no contract of this chain"}, not to ${call.to}`;
  }
  const selector = call.data.slice(0, 10).toLowerCase();
  if (!target.selectors.includes(selector)) return `${purpose} does not call ${selector} there`;
  if (value < 0n || value > mostWei) return `${purpose} may carry ${mostWei} wei at most, not ${value}`;
  return null;
}

/** Rows of the queue are not trusted: the text may be no address. */
function isAt(text: string, to: Address | null): boolean {
  return to !== null && /^0x[0-9a-f]{40}$/i.test(text) && isAddressEqual(text as Address, to);
}

function rulesOf({ usdc, ...targets }: Parameters<typeof allowedCalls>[1]): ReadonlyMap<string, Rule> {
  const oracle = (name: string, mostWei: bigint): Rule => ({
    role: "publisher",
    targets: [at(targets.oracle.address, agentHealthOracleAbi, name)],
    mostWei,
  });
  const evaluator = (name: string): Rule => ({
    role: "relayer",
    targets: [at(targets.verdictEvaluator?.address ?? null, verdictEvaluatorAbi, name)],
    mostWei: 0n,
  });
  const transfer: Rule = {
    role: "facilitator",
    targets: [
      at(usdc, usdCoinAbi, "transferWithAuthorization"),
      at(usdc && x402ExactPermit2ProxyAddress, x402ExactPermit2ProxyABI, "settle"),
      at(usdc && x402UptoPermit2ProxyAddress, x402UptoPermit2ProxyABI, "settle"),
      at(usdc && AUTH_CAPTURE_ESCROW_V1_0_ADDRESS, authCaptureEscrowAbi, "authorize", "capture", "void"),
      at(usdc && BATCH_SETTLEMENT_ADDRESS, batchSettlementAbi, "deposit", "claim", "settle"),
    ],
    mostWei: 0n,
  };
  const feedback: Rule = {
    role: "publisher",
    targets: [at(targets.reputationRegistry, reputationRegistryAbi, "giveFeedback", "revokeFeedback")],
    mostWei: 0n,
  };
  const validation: Rule = {
    role: "publisher",
    targets: [at(targets.validationRegistry?.address ?? null, validationRegistryAbi, "validationResponse")],
    mostWei: 0n,
  };
  return new Map([
    ["publish", oracle("publish", 0n)],
    ["publish-root", oracle("publishRoot", 0n)],
    ["enrol", oracle("requestScore", targets.maxRequestFeeWei)],
    ["feedback", feedback],
    ["validation", validation],
    ["settle", evaluator("settle")],
    ["hold", evaluator("hold")],
    ["x402", transfer],
  ]);
}

/** Functions of a contract by name, every overload of each. */
function at(to: Address | null, abi: Abi, ...names: readonly string[]): Rule["targets"][number] {
  const selectors = abi.flatMap((item) =>
    item.type === "function" && names.includes(item.name) ? [toFunctionSelector(item)] : [],
  );
  return { to, selectors };
}
