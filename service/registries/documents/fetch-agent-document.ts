import { keccak256 } from "viem";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";
import { decodeDataUri } from "../../net/decode-data-uri.ts";
import type { FetchFailure } from "../../net/exchange.ts";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { endpointText } from "../probes/endpoint-url.ts";
import type { CurrentDocument } from "./agent-documents.ts";
import { gatewayUrl, isContentOf, readIpfsUri } from "./ipfs-uri.ts";

/** Outcome of fetching and reading an agent's URI. */
export type DocumentOutcome = CurrentDocument | FailedOutcome;

type FailedOutcome = { readonly state: Exclude<DocumentState, "current">; readonly detail: string };

type Fetched = { readonly state: "fetched"; readonly body: Uint8Array } | FailedOutcome;

type DocumentSource = {
  readonly fetch: GuardedFetch;
  /** URL of the gateway that serves ipfs: URIs; it is trusted but for files that a CID hashes whole. */
  readonly ipfsGateway: string;
};

/**
 * Fetches and reads the document behind an agent's URI: https by the guarded fetch, ipfs: by the same from the gateway, data: from
 * the URI itself, nothing else.
 */
export async function fetchAgentDocument(
  uri: string,
  source: DocumentSource,
  signal?: AbortSignal,
): Promise<DocumentOutcome> {
  const fetched = await fetchUri(uri.trim(), source, signal);
  if (fetched.state !== "fetched") return fetched;
  const read = readAgentDocument(fetched.body);
  if (read.kind === "malformed") {
    const detail = `What the URI leads to is no registration document: ${read.detail}.`;
    return { state: "malformed", detail };
  }
  const { name, description, services } = read;
  return { state: "current", name, description, services, contentHash: keccak256(fetched.body) };
}

async function fetchUri(uri: string, source: DocumentSource, signal?: AbortSignal): Promise<Fetched> {
  if (uri === "") return { state: "malformed", detail: "The registry holds no URI." };
  if (/^data:/i.test(uri)) return decode(uri);
  return /^ipfs:/i.test(uri) ? loadFromIpfs(uri, source, signal) : load(uri, source.fetch, signal);
}

async function loadFromIpfs(uri: string, source: DocumentSource, signal?: AbortSignal): Promise<Fetched> {
  const file = readIpfsUri(uri);
  if (file === null) {
    return { state: "refused", detail: "The ipfs: URI is not a CID with a plain path." };
  }
  const fetched = await load(gatewayUrl(source.ipfsGateway, file), source.fetch, signal);
  if (fetched.state !== "fetched" || isContentOf(file, fetched.body)) return fetched;
  return { state: "malformed", detail: "What the gateway served is not what the CID names." };
}

function decode(uri: string): Fetched {
  const decoded = decodeDataUri(uri);
  if (decoded.kind === "decoded") return { state: "fetched", body: decoded.body };
  const detail =
    decoded.reason === "too_large"
      ? "The data: URI holds more than 64 KiB."
      : "The data: URI cannot be decoded.";
  return { state: "malformed", detail };
}

async function load(url: string, fetch: GuardedFetch, signal?: AbortSignal): Promise<Fetched> {
  const answer = await fetch({
    url,
    headers: { accept: "application/json" },
    decompress: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.kind === "failed") return outcomeOf(answer);
  if (answer.status >= 200 && answer.status < 300) return { state: "fetched", body: answer.body };
  const detail = `The host answered ${answer.status}; redirects are not followed.`;
  return { state: "unreachable", detail };
}

function outcomeOf({ reason, detail }: FetchFailure): FailedOutcome {
  switch (reason) {
    case "invalid_url":
    case "refused_target":
      return { state: "refused", detail };
    case "dns_failure":
    case "dns_unavailable":
    case "connection":
    case "tls":
    case "timeout":
      return { state: "unreachable", detail };
    case "too_large":
    case "malformed_answer":
      return { state: "malformed", detail };
  }
}

/** More than any agent has. Each is a URL that a stranger chose and the service fetches. */
const MAX_SERVICES = 32;
const MAX_NAME_CHARACTERS = 256;
const MAX_DESCRIPTION_CHARACTERS = 1_000;

/**
 * Reads an ERC-8004 registration document: other members are ignored, the earlier name `endpoints` of
 * `services` is understood, and an entry without a name and an endpoint is left out, as is what follows the 32nd.
 */
export function readAgentDocument(
  body: Uint8Array,
):
  | (Pick<CurrentDocument, "name" | "description" | "services"> & { readonly kind: "document" })
  | ReturnType<typeof malformed> {
  const root = parseJson(body);
  if (root === undefined) return malformed("it is not JSON");
  if (!isRecord(root)) return malformed("it is not a JSON object");
  const listed = [root.services, root.endpoints].find((value) => Array.isArray(value));
  const name = storable(root.name, MAX_NAME_CHARACTERS);
  if (listed === undefined && name === null) {
    return malformed("it has neither a name nor a list of services");
  }
  const description = storable(root.description, MAX_DESCRIPTION_CHARACTERS);
  return { kind: "document", name, description, services: servicesOf(listed ?? []) };
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

function malformed(detail: string): { readonly kind: "malformed"; readonly detail: string } {
  return { kind: "malformed", detail };
}

/** Parses JSON in UTF-8; returns undefined for invalid text. */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // Third parties often serve no JSON: callers judge undefined like any other value.
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
