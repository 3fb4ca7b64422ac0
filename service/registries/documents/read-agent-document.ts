import type { DeclaredService } from "../../db/tables/infrastructure.ts";
import { endpointText } from "../probes/endpoint-url.ts";

/** What a registration document says, as far as anything here reads it. */
type AgentDocument = {
  readonly kind: "document";
  readonly name: string | null;
  readonly services: readonly DeclaredService[];
};

type MalformedDocument = { readonly kind: "malformed"; readonly detail: string };

/** More than any agent has. Each is a URL that a stranger chose and the service fetches. */
const MAX_SERVICES = 32;
const MAX_NAME_CHARACTERS = 256;

/**
 * Reads an ERC-8004 registration document: members that are not known are ignored, the earlier name `endpoints` of
 * `services` is understood, and an entry without a name and an endpoint is left out, as is what follows the 32nd.
 */
export function readAgentDocument(body: Uint8Array): AgentDocument | MalformedDocument {
  const root = parseJson(body);
  if (root === undefined) return malformed("it is not JSON");
  if (!isRecord(root)) return malformed("it is not a JSON object");
  const listed = [root.services, root.endpoints].find((value) => Array.isArray(value));
  const name = storable(root.name, MAX_NAME_CHARACTERS);
  if (listed === undefined && name === null) {
    return malformed("it has neither a name nor a list of services");
  }
  return { kind: "document", name, services: servicesOf(listed ?? []) };
}

function servicesOf(listed: readonly unknown[]): readonly DeclaredService[] {
  const services: DeclaredService[] = [];
  const seen = new Set<string>();
  for (const entry of listed) {
    const service = serviceOf(entry);
    if (service === null) continue;
    const key = JSON.stringify([service.name.toLowerCase(), service.endpoint]);
    if (seen.has(key)) continue;
    seen.add(key);
    services.push(service);
    if (services.length === MAX_SERVICES) break;
  }
  return services;
}

function serviceOf(entry: unknown): DeclaredService | null {
  if (!isRecord(entry)) return null;
  const name = storable(entry.name, MAX_NAME_CHARACTERS);
  const endpoint = typeof entry.endpoint === "string" ? endpointText(entry.endpoint) : null;
  if (name === null || endpoint === null) return null;
  return { name, endpoint, version: storable(entry.version, MAX_NAME_CHARACTERS) };
}

/** A text without what PostgreSQL cannot hold (NUL, halves of a pair) or a log line should not; null if nothing is left. */
function storable(value: unknown, maxCharacters: number): string | null {
  if (typeof value !== "string") return null;
  const text = value
    .slice(0, maxCharacters)
    .replaceAll(/\p{Cc}/gu, "")
    .toWellFormed()
    .trim();
  return text === "" ? null : text;
}

function malformed(detail: string): MalformedDocument {
  return { kind: "malformed", detail };
}

/** Parses JSON in UTF-8; returns undefined for invalid text. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // What strangers serve is often no JSON: callers judge undefined like any other value.
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
