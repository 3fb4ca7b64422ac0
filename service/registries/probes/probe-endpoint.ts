import type { EndpointKind, ProbeOutcome } from "../../db/tables/infrastructure.ts";
import type { FetchFailure, GuardedRequest } from "../../net/exchange.ts";
import type { GuardedFetch } from "../../net/guarded-fetch.ts";
import { isAlive, judgeAnswer } from "./judge-answer.ts";

/** What one visit to an endpoint found. */
export type ProbeResult = {
  readonly outcome: ProbeOutcome;
  /** Null where no answer came. */
  readonly status: number | null;
  /** Milliseconds to the end of the answer, or of its first 64 KiB; null where no answer came. */
  readonly latencyMs: number | null;
  readonly valid: boolean | null;
  readonly detail: string | null;
};

export type ProbeDeps = {
  readonly fetch: GuardedFetch;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
};

export type ProbeTarget = { readonly endpoint: string; readonly kind: EndpointKind };

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

/** Visits an endpoint once through the guarded fetch, as its kind is used: MCP by its handshake, all others by GET. */
export async function probeEndpoint(
  { endpoint, kind }: ProbeTarget,
  { fetch, monotonicMs }: ProbeDeps,
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

function outcomeOf(reason: FetchFailure["reason"]): ProbeOutcome {
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
