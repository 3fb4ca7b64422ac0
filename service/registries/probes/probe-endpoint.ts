import type { EndpointKind, probe } from "../../db/tables/infrastructure.ts";
import type { FetchFailure, GuardedRequest } from "../../net/exchange.ts";
import {
  aim,
  createGuardedFetch,
  type GuardedFetch,
  type GuardOptions,
  policyOf,
} from "../../net/guarded-fetch.ts";
import { readTarget } from "../../net/read-target.ts";
import { isAlive, judgeAnswer } from "./judge-answer.ts";
import type { ProbeResult, UrlVisitor } from "./url-visit.ts";

/** A handshake that every MCP server must answer, and that asks for nothing else. */
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "agent-health", version: "1" },
  },
} as const;

/**
 * Visits an endpoint once through the guarded fetch, as its kind is used: MCP by its handshake, all others by GET. The latency is to
 * the end of the answer, or of its first 64 KiB.
 */
export async function probeEndpoint(
  { endpoint, kind }: { readonly endpoint: string; readonly kind: EndpointKind },
  { fetch, monotonicMs }: { readonly fetch: GuardedFetch; readonly monotonicMs: () => number },
  signal?: AbortSignal,
): Promise<ProbeResult> {
  const started = monotonicMs();
  const answer = await fetch({
    ...requestOf(kind),
    url: endpoint,
    part: "start",
    ...(signal === undefined ? {} : { signal }),
  });
  if (answer.kind === "failed") return failed(answer);
  const latencyMs = Math.round(monotonicMs() - started);
  const { status } = answer;
  if (!isAlive(status)) {
    return { outcome: "error", status, latencyMs, valid: null, detail: `It answered ${status}.` };
  }
  return { outcome: "ok", status, latencyMs, ...judgeAnswer(kind, answer) };
}

function requestOf(kind: EndpointKind): Omit<GuardedRequest, "url"> {
  if (kind !== "mcp") return { headers: { accept: "application/json, text/html;q=0.9, */*;q=0.8" } };
  return {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(INITIALIZE)),
  };
}

function failed({ reason, detail }: FetchFailure): ProbeResult {
  return { outcome: outcomeOf(reason), status: null, latencyMs: null, valid: null, detail };
}

function outcomeOf(reason: FetchFailure["reason"]): (typeof probe.$inferSelect)["outcome"] {
  switch (reason) {
    case "invalid_url":
    case "refused_target":
      return "refused";
    case "timeout":
      return "timeout";
    case "dns_failure":
    case "dns_unavailable":
    case "connection":
    case "tls":
      return "unreachable";
    case "too_large":
    case "malformed_answer":
      return "error";
  }
}

const NOT_PUBLIC = "The name of the URL's host must resolve, and to public addresses alone.";
/** A caller waits for this before anything is charged. */
const REFUSAL_MS = 4_000;

/** Visits through the guard, so many at once, reserved ones included; each URL is resolved and checked anew by the visit itself. */
export function createUrlVisitor(options: {
  readonly guard: GuardOptions;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  readonly maxAtOnce: number;
}): UrlVisitor {
  const { guard, monotonicMs, maxAtOnce } = options;
  const fetch = createGuardedFetch(guard);
  let taken = 0;
  return {
    async refusal(url) {
      const read = readTarget(url, policyOf(guard));
      if (read.kind === "failed") return { kind: "refused", error: read.detail };
      const aimed = await aim(url, { ...guard, signal: AbortSignal.timeout(REFUSAL_MS) });
      if (aimed.kind === "aim") return null;
      return aimed.reason === "dns_failure" || aimed.reason === "refused_target"
        ? { kind: "refused", error: NOT_PUBLIC }
        : { kind: "unresolved" };
    },
    reserve() {
      if (taken >= maxAtOnce) return null;
      taken++;
      let isFree = true;
      return {
        async visit(url) {
          if (!isFree) throw new Error("a reserved visit was made or released before");
          isFree = false;
          try {
            return await probeEndpoint({ endpoint: url, kind: "other" }, { fetch, monotonicMs });
          } finally {
            taken--;
          }
        },
        release() {
          if (!isFree) return;
          isFree = false;
          taken--;
        },
      };
    },
  };
}
