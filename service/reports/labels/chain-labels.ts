import type { Address } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";

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
type LabelFacts = {
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

/** Characters of a name that are shown; documents may hold names of any length. */
const MAX_CHARACTERS = 64;

/**
 * A name that a stranger chose, fit to be shown: one line, of no control, format, private or unassigned characters (which
 * could hide or turn the text around it), at most 64 characters, an ellipsis for the rest; empty where nothing is left.
 */
export function printableName(name: string): string {
  const line = name
    // Beyond this nothing could be shown; a document may be as long as a download.
    .slice(0, 4 * MAX_CHARACTERS)
    .normalize("NFC")
    .replace(/\s+/gu, " ")
    .replace(/\p{C}/gu, "")
    .trim();
  const characters = [...line];
  if (characters.length <= MAX_CHARACTERS) return line;
  return `${characters
    .slice(0, MAX_CHARACTERS - 1)
    .join("")
    .trimEnd()}…`;
}

/** Letters that look like Latin ones; of the two scripts whose letters do. */
const LATIN_LOOKALIKES = new Set(
  // Cyrillic, then Greek.
  "асеһіјӏорԛѕуԝхԁүԍАВСЕНІЈКӀМОРԚЅТУԜХЗГҮԌαγικνορυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
);

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u] as const;

/**
 * Whether a name could be taken for another: one that mixes Latin, Cyrillic and Greek letters, or is made of nothing but
 * Cyrillic or Greek letters that look like Latin ones.
 */
export function isLookalikeName(name: string): boolean {
  if (SCRIPTS.filter((script) => script.test(name)).length > 1) return true;
  const letters = [...name].filter((character) => /\p{L}/u.test(character));
  return letters.length > 0 && letters.every((letter) => LATIN_LOOKALIKES.has(letter));
}
