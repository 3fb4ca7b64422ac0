import type { Address } from "viem";
import type { Deployment, KnownAccount } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import type { SanctionsFlag } from "../../model/features/types.ts";
import type { Grade } from "../../model/score/record.ts";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";

/** A label of an account from chain data. Names of agents and token contracts are chosen by untrusted parties. */
export type ChainLabel = {
  readonly label: string;
  readonly category: "agent" | "token" | "system" | "entry_point" | "public_funder" | "mixer";
  /** deployment: named by the operator. identity-registry: named by its registrant. token-contract: its own symbol. */
  readonly source: "deployment" | "identity-registry" | "token-contract";
};

/** Accounts named by a deployment, by lower-case address. */
export type KnownAccounts = ReadonlyMap<Address, readonly ChainLabel[]>;

/** Current facts about an account that the wallet dealt with. */
export type AccountDetail = {
  readonly address: Address;
  /** The first three agents whose current wallet it is. */
  readonly agents: readonly RegisteredAgent[];
  /** Null where no source knows. */
  readonly hasCode: boolean | null;
  /** Null for an account never scored. A sanctioned account scores 0 at once. */
  readonly score: { readonly ahsScore: number | null; readonly grade: Grade | null } | null;
  /** Flags of all sources at the newest indexed block; empty without any. */
  readonly sanctions: readonly SanctionsFlag[];
};

/** The contract's own unverified answers; null if it gives none. */
export type TokenFact = { readonly symbol: string | null; readonly decimals: number | null };

export type TokenReader = (tokens: readonly Address[]) => Promise<ReadonlyMap<Address, TokenFact>>;

/** The accounts that a deployment names: tokens, entry points, public funders, mixers and system contracts. */
export function knownAccounts(
  chain: Pick<
    Deployment,
    | "identityRegistry"
    | "sanctionsList"
    | "oracle"
    | "verdictEvaluator"
    | "assuranceAccounts"
    | "escrows"
    | "registries"
    | "usdc"
    | "market"
    | "accounts"
  >,
): KnownAccounts {
  const { market, accounts } = chain;
  const entries: readonly (readonly [Address | null, string, ChainLabel["category"]])[] = [
    ...accounts.mixers.map((known) => [...named(known, "Mixer"), "mixer"] as const),
    ...accounts.publicFunders.map((known) => [...named(known, "Public funder"), "public_funder"] as const),
    ...(accounts.popularContracts ?? []).map(({ address, name }) => [address, name, "system"] as const),
    ...market.tokens.map(({ address, symbol }) => [address, symbol, "token"] as const),
    [market.wrappedNative, `Wrapped ${market.native.symbol}`, "token"],
    ...accounts.entryPoints.map((address) => [address, "ERC-4337 entry point", "entry_point"] as const),
    [chain.identityRegistry.address, "ERC-8004 identity registry", "system"],
    [chain.sanctionsList?.address ?? null, "Sanctions list", "system"],
    [chain.oracle.address, "Agent Health oracle", "system"],
    [chain.verdictEvaluator?.address ?? null, "Agent Health verdict evaluator", "system"],
    [chain.assuranceAccounts?.address ?? null, "Agent Health assurance accounts", "system"],
    ...chain.escrows.map(({ address, generation }) => {
      return [address, `ERC-8183 escrow ${generation}`, "system"] as const;
    }),
    ...chain.registries.map(({ address, name }) => [address, `Agent registry ${name}`, "system"] as const),
    ...(isListed(chain.usdc, market.tokens) ? [] : [[chain.usdc, "USDC", "token"] as const]),
  ];
  const known = new Map<Address, ChainLabel[]>();
  for (const [address, label, category] of entries) {
    if (address === null) continue;
    const key = lowerCase(address);
    known.set(key, [...(known.get(key) ?? []), { label, category, source: "deployment" }]);
  }
  return known;
}

/** The address of a known account, with its name or else what it is. */
function named(known: KnownAccount, otherwise: string): readonly [Address, string] {
  return typeof known === "string" ? [known, otherwise] : [known.address, known.name];
}

function isListed(token: Address | null, tokens: readonly { readonly address: Address }[]): boolean {
  return tokens.some(({ address }) => address === token);
}

/** All labels of an account, most trustworthy first. */
export function chainLabels(
  address: Address,
  known: KnownAccounts,
  /** `symbol` is the token contract's own answer. */
  { agents, symbol = null }: { agents: readonly RegisteredAgent[]; symbol?: string | null },
): readonly ChainLabel[] {
  const followed = agents.filter(({ registry }) => registry === null);
  const named = followed.map(({ agentId, name }): ChainLabel => {
    const shown = name === null || isLookalikeName(name) ? "" : printableName(name);
    return {
      label: shown === "" ? `Agent ${agentId}` : `Agent ${agentId}: ${shown}`,
      category: "agent",
      source: "identity-registry",
    };
  });
  const found = known.get(address) ?? [];
  const token: readonly ChainLabel[] =
    symbol === null || found.some(({ category }) => category === "token")
      ? []
      : [{ label: `${symbol} (unverified token)`, category: "token", source: "token-contract" }];
  return [...found, ...named, ...token];
}

/** Longest shown name; documents may hold names of any length. */
const MAX_CHARACTERS = 64;

/**
 * Makes an untrusted name safe to show: one line, without control, format, private or unassigned characters (which
 * could hide or reverse text), at most 64 characters with an ellipsis. May be empty.
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

/** Cyrillic and Greek letters that look like Latin ones. */
const LATIN_LOOKALIKES = new Set(
  // Cyrillic, then Greek.
  "асеһіјӏорԛѕуԝхԁүԍАВСЕНІЈКӀМОРԚЅТУԜХЗГҮԌαγικνορυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
);

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u] as const;

/**
 * Returns whether a name could be mistaken for another: it mixes Latin, Cyrillic and Greek letters, or consists only of
 * Cyrillic or Greek lookalikes of Latin letters.
 */
export function isLookalikeName(name: string): boolean {
  if (SCRIPTS.filter((script) => script.test(name)).length > 1) return true;
  const letters = [...name].filter((character) => /\p{L}/u.test(character));
  return letters.length > 0 && letters.every((letter) => LATIN_LOOKALIKES.has(letter));
}
