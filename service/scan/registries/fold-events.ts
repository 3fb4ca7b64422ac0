import type { RegistryChange } from "../../store/registry-agents.ts";
import type { RegistryEvent } from "./registry-event.ts";

/** An event and the block that it lies in. */
export type PlacedEvent = { readonly block: number; readonly event: RegistryEvent };

/**
 * What events in the order of the chain leave of each agent, by rising agent id. The first registration counts; what came
 * before it in the same events does not.
 */
export function foldEvents(events: readonly PlacedEvent[]): readonly RegistryChange[] {
  const changes = new Map<bigint, RegistryChange>();
  for (const { block, event } of events) {
    const { agentId } = event;
    const known = changes.get(agentId);
    if (event.kind === "registered") {
      if (known !== undefined && known.registeredBlock !== null) continue;
      const { wallet, uri } = event;
      changes.set(agentId, { agentId, registeredBlock: block, updatedBlock: block, wallet, uri });
      continue;
    }
    const { kind: _, ...named } = event;
    changes.set(agentId, { registeredBlock: null, ...known, ...named, updatedBlock: block });
  }
  return [...changes.values()].toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
}
