import {
  type Infrastructure,
  measureProbes,
  type ProbeFact,
  type ProbeFigures,
} from "../../model/score/score-infrastructure.ts";
import type { ProbeResult } from "../../registries/probes/probe-endpoint.ts";
import type {
  ProbeDay,
  Probing,
  StoredProbe,
  WalletAgent,
} from "../../registries/probes/probes-of-wallet.ts";
import { isoOf } from "../wallet-report.ts";
import type { InfrastructurePart, ProbePart } from "./infrastructure-schema.ts";

/** A declared endpoint with what is known of it; probes of the window, oldest first. */
export type ProbedEndpoint = {
  readonly url: string;
  readonly services: readonly {
    readonly agent_id: string;
    readonly name: string;
    readonly version: string | null;
  }[];
  readonly probing: Probing;
  readonly probes: readonly StoredProbe[];
  readonly days: readonly ProbeDay[];
};

export type InfrastructureFacts = {
  readonly d3: Infrastructure;
  readonly agents: readonly WalletAgent[];
  readonly endpoints: readonly ProbedEndpoint[];
  /** How many endpoints there are, those not shown included. */
  readonly declared: number;
  readonly agentUrl: InfrastructurePart["agent_url"];
  readonly longestMs: number;
};

const MICROS = 1_000_000;

/** The infrastructure part of an answer. */
export function renderInfrastructure(facts: InfrastructureFacts): InfrastructurePart {
  const { d3, agents, endpoints, declared, agentUrl, longestMs } = facts;
  return {
    window: { from: isoOf(d3.from), to: isoOf(d3.to) },
    ...figuresOf(d3.figures),
    reason: declared === 0 ? "no agent of the wallet declares an http(s) endpoint" : d3.reason,
    agents: agents.map(({ agentId, state, detail, fetchedAt }) => ({
      agent_id: agentId,
      document: state,
      detail,
      fetched_at: fetchedAt?.toISOString() ?? null,
    })),
    endpoints: endpoints.map((endpoint) => renderEndpoint(endpoint, longestMs)),
    endpoints_declared: declared,
    agent_url: agentUrl,
  };
}

/** What D3 looks at: a visit counts once for every quarter hour that it stands for. */
export function probeFacts(probes: readonly StoredProbe[]): readonly ProbeFact[] {
  return probes.flatMap(({ at, outcome, latencyMs, valid, quarters }) => {
    const fact = { at: Math.floor(at.getTime() / 1000), alive: outcome === "ok", latencyMs, valid };
    return Array.from({ length: quarters }, () => fact);
  });
}

/** One visit. */
export function renderVisit({
  at,
  outcome,
  status,
  latencyMs,
  valid,
  detail,
}: ProbeResult & { readonly at: Date }): ProbePart {
  return { at: at.toISOString(), outcome, status, latency_ms: latencyMs, valid, detail };
}

function renderEndpoint({ url, services, probing, probes, days }: ProbedEndpoint, longestMs: number) {
  const last = probes.at(-1);
  return {
    url,
    services: [...services],
    probing,
    ...figuresOf(measureProbes(probeFacts(probes), longestMs)),
    last: last === undefined ? null : renderVisit(last),
    history: days.map(renderDay),
  };
}

function renderDay({ day, probes, alive, latencyP50Ms, latencyP95Ms }: ProbeDay) {
  return {
    day,
    probes,
    availability: Math.round((MICROS * alive) / probes) / MICROS,
    error_rate: Math.round((MICROS * (probes - alive)) / probes) / MICROS,
    latency_p50_ms: latencyP50Ms,
    latency_p95_ms: latencyP95Ms,
  };
}

function figuresOf(figures: ProbeFigures | null) {
  return {
    probes: figures === null ? 0 : figures.probes,
    availability: figures?.availability ?? null,
    error_rate: figures?.errorRate ?? null,
    latency_p50_ms: figures?.latencyP50Ms ?? null,
    latency_p95_ms: figures?.latencyP95Ms ?? null,
    validity: figures?.validity ?? null,
  };
}
