import { type Hex, keccak256 } from "viem";
import { decodeDataUri } from "../net/decode-data-uri.ts";
import type { FetchFailure } from "../net/exchange.ts";
import type { GuardedFetch } from "../net/guarded-fetch.ts";
import type { DeclaredService, DocumentState } from "../store/tables/infrastructure.ts";
import { readAgentDocument } from "./read-agent-document.ts";

/** What came of an agent's URI. */
export type DocumentOutcome =
  | {
      readonly state: "current";
      readonly name: string | null;
      readonly services: readonly DeclaredService[];
      readonly contentHash: Hex;
    }
  | { readonly state: Exclude<DocumentState, "current">; readonly detail: string };

type Fetched =
  | { readonly kind: "body"; readonly body: Uint8Array }
  | { readonly kind: "failed"; readonly outcome: DocumentOutcome };

/** Fetches and reads the document behind an agent's URI: https by the guarded fetch, data: as it stands, nothing else. */
export async function fetchAgentDocument(
  uri: string,
  fetch: GuardedFetch,
  signal?: AbortSignal,
): Promise<DocumentOutcome> {
  if (uri.trim() === "") return { state: "malformed", detail: "The registry holds no URI." };
  const fetched = /^data:/i.test(uri.trim()) ? decode(uri.trim()) : await load(uri.trim(), fetch, signal);
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

function decode(uri: string): Fetched {
  const decoded = decodeDataUri(uri);
  if (decoded.kind === "decoded") return { kind: "body", body: decoded.body };
  const detail =
    decoded.reason === "too_large"
      ? "The data: URI holds more than 64 KiB."
      : "The data: URI cannot be decoded.";
  return { kind: "failed", outcome: { state: "malformed", detail } };
}

async function load(url: string, fetch: GuardedFetch, signal?: AbortSignal): Promise<Fetched> {
  const answer = await fetch({
    url,
    headers: { accept: "application/json" },
    decompress: true,
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.kind === "failed") return { kind: "failed", outcome: outcomeOf(answer) };
  if (answer.status >= 200 && answer.status < 300) return { kind: "body", body: answer.body };
  const detail = `The host answered ${answer.status}; redirects are not followed.`;
  return { kind: "failed", outcome: { state: "unreachable", detail } };
}

function outcomeOf({ reason, detail }: FetchFailure): DocumentOutcome {
  switch (reason) {
    case "invalid_url":
    case "refused_target":
      return { state: "refused", detail };
    case "dns_failure":
    case "connection":
    case "tls":
    case "timeout":
      return { state: "unreachable", detail };
    case "too_large":
    case "malformed_answer":
      return { state: "malformed", detail };
  }
}
