import type { Address } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import { isLookalikeName } from "./lookalike-name.ts";
import { printableName } from "./printable-name.ts";

/** What kind of account a label says it is. */
type ChainLabelCategory =
  | "agent"
  | "token"
  | "system"
  | "entry_point"
  | "public_funder"
  | "mixer"
  | "contract"
  | "account";

/** What the chain itself says of an account; only those of an agent are chosen by somebody whom nobody vouches for. */
export type ChainLabel = {
  readonly label: string;
  readonly category: ChainLabelCategory;
  /** deployment: named by the operator. identity-registry: by whoever registered it. index: read from the chain. */
  readonly source: "deployment" | "identity-registry" | "index";
};

type LabelledChain = Pick<
  Deployment,
  "identityRegistry" | "sanctionsList" | "oracle" | "market" | "accounts"
>;

/** Accounts that a deployment knows by name, by their lower-case address. */
export type KnownAccounts = ReadonlyMap<Address, readonly ChainLabel[]>;

/** The accounts that a deployment names: tokens, entry points, public funders, mixers and the system's own contracts. */
export function knownAccounts(chain: LabelledChain): KnownAccounts {
  const { market, accounts } = chain;
  const entries: readonly (readonly [Address | null, string, ChainLabelCategory])[] = [
    ...accounts.mixers.map((address) => [address, "Mixer", "mixer"] as const),
    ...accounts.publicFunders.map((address) => [address, "Public funder", "public_funder"] as const),
    ...market.tokens.map(({ address, symbol }) => [address, symbol, "token"] as const),
    [market.wrappedNative, `Wrapped ${market.native.symbol}`, "token"],
    ...accounts.entryPoints.map((address) => [address, "ERC-4337 entry point", "entry_point"] as const),
    [chain.identityRegistry.address, "ERC-8004 identity registry", "system"],
    [chain.sanctionsList?.address ?? null, "Sanctions list", "system"],
    [chain.oracle.address, "Agent Health oracle", "system"],
  ];
  const known = new Map<Address, ChainLabel[]>();
  for (const [address, label, category] of entries) {
    if (address === null) continue;
    const key = address.toLowerCase() as Address;
    known.set(key, [...(known.get(key) ?? []), { label, category, source: "deployment" }]);
  }
  return known;
}

/** What is known of an account besides the deployment. */
export type LabelFacts = {
  readonly agents: readonly RegisteredAgent[];
  /** Whether it has code; null where no source knows. */
  readonly hasCode: boolean | null;
};

/** Every label of an account, the most trustworthy first; at least whether it is a contract, where that is known. */
export function chainLabels(
  address: Address,
  known: KnownAccounts,
  { agents, hasCode }: LabelFacts,
): readonly ChainLabel[] {
  const named = agents.map(({ agentId, name }): ChainLabel => {
    const shown = name === null || isLookalikeName(name) ? "" : printableName(name);
    return {
      label: shown === "" ? `Agent ${agentId}` : `Agent ${agentId}: ${shown}`,
      category: "agent",
      source: "identity-registry",
    };
  });
  return [...(known.get(address) ?? []), ...named, ...byCode(hasCode)];
}

function byCode(hasCode: boolean | null): readonly ChainLabel[] {
  if (hasCode === null) return [];
  return [
    hasCode
      ? { label: "Contract", category: "contract", source: "index" }
      : { label: "Account", category: "account", source: "index" },
  ];
}
