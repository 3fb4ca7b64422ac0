import type { Random } from "./random.ts";

/** Where the services of local agents answer, each under its archetype and number; see `startDemoServices`. */
export const AGENT_SERVICES_URL = "http://127.0.0.1:4090";

const REGISTRATION_TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";

/**
 * The agentURI of an agent by its number within its archetype: half of them carry a registration document with services,
 * the first of each archetype among them; others one that names none, or point to a host that does not resolve, or are
 * malformed. Short, because a node hashes all that is stored with every block.
 */
export function agentUri(random: Random, archetype: string, index: number): string {
  const stream = random.fork("document");
  const name = `${archetype} ${index}`;
  switch (index % 8) {
    case 2:
    case 7:
      return dataUri(JSON.stringify({ name }));
    case 3:
      return `https://${archetype}-${index}.example/agent.json`;
    case 6:
      return stream.pick(malformed(name));
    default: {
      const services = stream.sample(servicesOf(archetype, index), stream.chance(0.3) ? 2 : 1);
      const document = JSON.stringify({ type: REGISTRATION_TYPE, name, services });
      return stream.chance(0.5) ? base64Uri(document) : dataUri(document);
    }
  }
}

function servicesOf(archetype: string, index: number): readonly { name: string; endpoint: string }[] {
  const base = `${AGENT_SERVICES_URL}/${archetype}/${index}`;
  return [
    { name: "web", endpoint: base },
    { name: "A2A", endpoint: `${base}/a2a` },
    { name: "MCP", endpoint: `${base}/mcp` },
  ];
}

/** Cut off, of another alphabet, of another shape, without a scheme, and nothing at all. */
function malformed(name: string): readonly string[] {
  return [
    base64Uri(JSON.stringify({ name }).slice(0, -3)),
    "data:application/json;base64,~~~~",
    dataUri("[]"),
    "agent.json",
    "",
  ];
}

function base64Uri(document: string): string {
  return `data:application/json;base64,${Buffer.from(document).toString("base64")}`;
}

/** The document itself, as a URI. */
export function dataUri(document: string): string {
  return `data:application/json,${encodeURI(document)}`;
}
