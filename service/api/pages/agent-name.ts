import { html } from "hono/html";
import type { RegisteredAgent } from "../../registries/documents/agent-names.ts";
import { isLookalikeName, printableName } from "../../reports/labels/chain-labels.ts";
import type { Fragment } from "./prose.ts";

/** An agent by its own name, unless that could be taken for another's, and its number in the registry. */
export function agentName({ agentId, name }: Pick<RegisteredAgent, "agentId" | "name">): Fragment {
  const shown = name === null || isLookalikeName(name) ? "" : printableName(name);
  const named = shown === "" ? html`<span class="quiet">unnamed agent</span>` : html`<bdi>${shown}</bdi>`;
  return html`${named} <span class="quiet">#${numberWords(agentId)}</span>`;
}

/** Registries number agents up to 2^256. */
function numberWords(agentId: bigint): string {
  const digits = agentId.toString();
  return digits.length > 12 ? `${digits.slice(0, 6)}…${digits.slice(-4)}` : digits;
}
