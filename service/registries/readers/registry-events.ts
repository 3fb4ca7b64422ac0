import type { Address, Hex } from "viem";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
import type { RegistryChange } from "./registry-agents.ts";

/** Event of one agent in a registry's log; a change keeps every member that it does not name. Wallets are lower-case. */
export type RegistryEvent = { readonly agentId: bigint } & (
  | { readonly kind: "registered"; readonly wallet: Address | null; readonly uri: string | null }
  /** Names the URI of a registration; a change of the wallet in the next event only repeats what the registration said. */
  | { readonly kind: "announced"; readonly uri: string | null }
  | { readonly kind: "changed"; readonly wallet?: Address | null; readonly uri?: string | null }
);

/** Reads the events of one kind of registry. */
export type RegistryDecoder = {
  /** First topics of the events that it reads. */
  readonly topics: readonly Hex[];
  /**
   * First topic of a log that a new wallet makes of itself. Set for a registry that takes any account for a wallet: an event counts then
   * only if the wallet sent its transaction, or was made in it. A stranger's account would lend its score to the agent otherwise.
   */
  readonly madeTopic?: Hex;
  /** Null for a log that is malformed, or says nothing of an agent's registration, wallet or URI. */
  readonly decode: (log: Pick<RawLog, "topics" | "data">) => RegistryEvent | null;
};

/** Longer than the longest data: URI of a document of 64 KiB. */
const MAX_URI_CHARACTERS = 100_000;

/** A URI that PostgreSQL can hold; null for none, for one with a NUL, and for one of more than 100,000 characters. */
export function registryUri(text: string): string | null {
  if (text === "" || text.length > MAX_URI_CHARACTERS || text.includes("\0")) return null;
  return text.toWellFormed();
}

/** An address in lower case; null for the zero address, which is no wallet. */
export function registryWallet(address: string): Address | null {
  return /^0x0{40}$/.test(address) ? null : (address.toLowerCase() as Address);
}

/**
 * Folds events in the order of the chain into one change of each agent, by rising agent id. The first registration counts;
 * earlier events of the agent do not, except for the URI that the same block announces.
 */
export function foldEvents(
  events: readonly { readonly block: number; readonly event: RegistryEvent }[],
): readonly RegistryChange[] {
  const changes = new Map<bigint, RegistryChange>();
  /** Of the agents whose last event was one. */
  const announced = new Map<bigint, { readonly block: number; readonly uri: string | null }>();
  for (const { block, event } of events) {
    const { agentId } = event;
    const known = changes.get(agentId);
    const before = announced.get(agentId);
    const announcement = before?.block === block ? before : null;
    announced.delete(agentId);
    switch (event.kind) {
      case "registered": {
        if (known !== undefined && known.registeredBlock !== null) break;
        const uri = event.uri ?? announcement?.uri ?? null;
        const { wallet } = event;
        changes.set(agentId, { agentId, registeredBlock: block, updatedBlock: block, wallet, uri });
        break;
      }
      case "announced": {
        announced.set(agentId, { block, uri: event.uri });
        // None leaves what was set during the mint.
        const named = event.uri === null ? {} : { uri: event.uri };
        changes.set(agentId, { agentId, registeredBlock: null, ...known, ...named, updatedBlock: block });
        break;
      }
      case "changed": {
        if (announcement !== null && event.wallet !== undefined) break;
        const { kind: _, ...named } = event;
        changes.set(agentId, { registeredBlock: null, ...known, ...named, updatedBlock: block });
      }
    }
  }
  return [...changes.values()].toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
}
