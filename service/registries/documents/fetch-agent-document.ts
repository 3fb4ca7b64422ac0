import { type Hex, keccak256 } from "viem";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";
import { decodeDataUri } from "../../net/decode-data-uri.ts";
import type { FetchFailure } from "../../net/exchange.ts";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { gatewayUrl, isContentOf, readIpfsUri } from "./ipfs-uri.ts";
import { readAgentDocument } from "./read-agent-document.ts";

/** What came of an agent's URI. */
export type DocumentOutcome =
  | {
      readonly state: "current";
      readonly name: string | null;
      readonly services: readonly DeclaredService[];
      readonly contentHash: Hex;
    }
  | FailedOutcome;

type FailedOutcome = { readonly state: Exclude<DocumentState, "current">; readonly detail: string };

type Fetched =
  | { readonly kind: "body"; readonly body: Uint8Array }
  | { readonly kind: "failed"; readonly outcome: FailedOutcome };

type DocumentSource = {
  readonly fetch: GuardedFetch;
  /** URL of the gateway that serves ipfs: URIs; it is trusted but for files that a CID hashes whole. */
  readonly ipfsGateway: string;
};

/**
 * Fetches and reads the document behind an agent's URI: https by the guarded fetch, ipfs: by the same from the gateway, data: as
 * it stands, nothing else.
 */
export async function fetchAgentDocument(
  uri: string,
  source: DocumentSource,
  signal?: AbortSignal,
): Promise<DocumentOutcome> {
  const fetched = await fetchUri(uri.trim(), source, signal);
  if (fetched.kind === "failed") return fetched.outcome;
  const read = readAgentDocument(fetched.body);
  if (read.kind === "malformed") {
    return {
      state: "malformed",
      detail: `What the URI leads to is no registration document: ${read.detail}.`,
    };
  }
  const { name, services } = read;
  return { state: "current", name, services, contentHash: keccak256(fetched.body) };
}

async function fetchUri(uri: string, source: DocumentSource, signal?: AbortSignal): Promise<Fetched> {
  if (uri === "") return failure({ state: "malformed", detail: "The registry holds no URI." });
  if (/^data:/i.test(uri)) return decode(uri);
  return /^ipfs:/i.test(uri) ? loadFromIpfs(uri, source, signal) : load(uri, source.fetch, signal);
}

async function loadFromIpfs(uri: string, source: DocumentSource, signal?: AbortSignal): Promise<Fetched> {
  const file = readIpfsUri(uri);
  if (file === null) {
    return failure({ state: "refused", detail: "The ipfs: URI is not a CID with a plain path." });
  }
  const fetched = await load(gatewayUrl(source.ipfsGateway, file), source.fetch, signal);
  if (fetched.kind === "failed" || isContentOf(file, fetched.body)) return fetched;
  return failure({ state: "malformed", detail: "What the gateway served is not what the CID names." });
}

function decode(uri: string): Fetched {
  const decoded = decodeDataUri(uri);
  if (decoded.kind === "decoded") return { kind: "body", body: decoded.body };
  const detail =
    decoded.reason === "too_large"
      ? "The data: URI holds more than 64 KiB."
      : "The data: URI cannot be decoded.";
  return failure({ state: "malformed", detail });
}

async function load(url: string, fetch: GuardedFetch, signal?: AbortSignal): Promise<Fetched> {
  const answer = await fetch({
    url,
    headers: { accept: "application/json" },
    decompress: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.kind === "failed") return failure(outcomeOf(answer));
  if (answer.status >= 200 && answer.status < 300) return { kind: "body", body: answer.body };
  const detail = `The host answered ${answer.status}; redirects are not followed.`;
  return failure({ state: "unreachable", detail });
}

function failure(outcome: FailedOutcome): Fetched {
  return { kind: "failed", outcome };
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
