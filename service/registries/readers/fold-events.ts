import type { RegistryChange } from "./registry-agents.ts";
import type { RegistryEvent } from "./registry-event.ts";

/** An event and the block that it lies in. */
export type PlacedEvent = { readonly block: number; readonly event: RegistryEvent };

type Announcement = { readonly block: number; readonly uri: string | null };

/**
 * What events in the order of the chain leave of each agent, by rising agent id. The first registration counts; what came
 * before it in the same events does not, but for the URI that the same block announces.
 */
export function foldEvents(events: readonly PlacedEvent[]): readonly RegistryChange[] {
  const changes = new Map<bigint, RegistryChange>();
  /** Of the agents whose last event was one. */
  const announced = new Map<bigint, Announcement>();
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
