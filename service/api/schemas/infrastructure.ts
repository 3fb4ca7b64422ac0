import { unavailable } from "../../access/problems.ts";
import { MICRO } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { type FeatureLine, gradeLabel } from "../../model/score/record.ts";
import {
  type Infrastructure,
  infrastructureLines,
  measureProbes,
  type ProbeFact,
  type ProbeFigures,
  scoreInfrastructure,
  scoreWithInfrastructure,
} from "../../model/score/score-infrastructure.ts";
import {
  endpointKind,
  endpointText,
  isHttpEndpoint,
  liesUnder,
} from "../../registries/probes/endpoint-url.ts";
import type {
  createInfrastructureReader,
  ProbeDay,
  StoredProbe,
  WalletAgent,
} from "../../registries/probes/probes-of-wallet.ts";
import type { ReservedVisit, UrlVisitor } from "../../registries/probes/url-visit.ts";
import type { StoredScore } from "../../scores/stored-score.ts";
import {
  type AhsRecord,
  agentSchema,
  daySchema,
  type InfrastructurePart,
  probeSchema,
} from "./ahs-record.ts";
import { fieldsOf, isoOf, toEip55 } from "./values.ts";

/** Services of answers with the infrastructure of a wallet. */
export type InfrastructureNeeds = {
  readonly infrastructure: ReturnType<typeof createInfrastructureReader> & UrlVisitor;
  readonly policy: Policy;
};

/** Decided before anything is charged. */
export type InfrastructurePlan = {
  readonly agents: readonly WalletAgent[];
  /** Every http(s) endpoint once, in the order of the agents, with its declarations. */
  readonly declared: ReadonlyMap<string, InfrastructurePart["endpoints"][number]["services"]>;
  /** Either part of a declared endpoint, or an endpoint to visit; null if none was given. */
  readonly agentUrl:
    | { readonly kind: "bound"; readonly url: string; readonly endpoint: string }
    | { readonly kind: "reserved"; readonly url: string; readonly reserved: ReservedVisit }
    | null;
};

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 30;
const MAX_ENDPOINTS = 50;
const BUSY_RETRY_SECONDS = 10;

/**
 * Reads the endpoints that a wallet's agents declare, and reserves a visit to an agent_url outside of them. Throws a 503 problem
 * while too many visits are running. The caller must release the plan.
 */
export function planInfrastructure(
  {
    agents,
    agentUrl,
  }: { readonly agents: InfrastructurePlan["agents"]; readonly agentUrl: string | undefined },
  { infrastructure }: Pick<InfrastructureNeeds, "infrastructure">,
): InfrastructurePlan {
  const declared = declaredBy(agents);
  return {
    agents,
    declared,
    agentUrl: agentUrl === undefined ? null : planUrl(agentUrl, [...declared.keys()], infrastructure),
  };
}

/** Frees the visit that a plan reserved. */
export function releaseInfrastructure({ agentUrl }: InfrastructurePlan): void {
  if (agentUrl?.kind === "reserved") agentUrl.reserved.release();
}

/** The infrastructure of a wallet and its score with D3. An unbound agent_url is visited and does not count. */
export async function answerInfrastructure(
  { row, plan, now }: { readonly row: StoredScore; readonly plan: InfrastructurePlan; readonly now: Date },
  ports: InfrastructureNeeds,
): Promise<{
  readonly part: InfrastructurePart;
  /** Empty if D3 or the record has no score. */
  readonly scores: Partial<Pick<AhsRecord, "ahs_score" | "grade" | "grade_label" | "d3_score" | "mode">>;
  readonly features: readonly FeatureLine[];
}> {
  const { agents, declared } = plan;
  const { infrastructure: reader, policy } = ports;
  const { windowDays, longestMs } = policy.infrastructure;
  const urls = [...declared.keys()].slice(0, MAX_ENDPOINTS);
  const asked = urls.flatMap((endpoint) => {
    const kinds = new Set((declared.get(endpoint) ?? []).map(({ name }) => endpointKind(name)));
    return [...kinds].map((kind) => ({ endpoint, kind }));
  });
  const since = new Date(now.getTime() - windowDays * DAY_MS);
  const [probes, probing, days, agentUrl] = await Promise.all([
    reader.probes(asked, since),
    reader.probing(asked),
    reader.days(asked, new Date(now.getTime() - HISTORY_DAYS * DAY_MS), longestMs),
    agentUrlPart(plan, now),
  ]);
  const d3 = scoreInfrastructure(probeFacts(probes), Math.floor(now.getTime() / 1000), policy);
  const scored = scoreWithInfrastructure(row, d3, policy);
  const endpoints = urls.map((url): InfrastructurePart["endpoints"][number] => {
    const visits = probes.filter(({ endpoint }) => endpoint === url);
    const last = visits.at(-1);
    return {
      url,
      services: [...(declared.get(url) ?? [])],
      probing: probing.get(url) ?? "none",
      ...figuresOf(measureProbes(probeFacts(visits), longestMs)),
      last: last === undefined ? null : fieldsOf(probeSchema.shape, last),
      history: days.filter(({ endpoint }) => endpoint === url).map(renderDay),
    };
  });
  return {
    part: {
      window: { from: isoOf(d3.from), to: isoOf(d3.to) },
      ...figuresOf(d3.figures),
      reason: declared.size === 0 ? "no agent of the wallet declares an http(s) endpoint" : d3.reason,
      agents: agents.map((agent) => ({
        ...fieldsOf(agentSchema.shape, agent),
        agent_id: agent.agentId,
        registry: agent.registry === null ? null : toEip55(agent.registry),
        document: agent.state,
      })),
      endpoints,
      endpoints_declared: declared.size,
      agent_url: agentUrl,
    },
    scores:
      scored === null
        ? {}
        : {
            ahs_score: scored.ahsScore,
            grade: scored.grade,
            grade_label: gradeLabel(scored.grade),
            d3_score: scored.d3Score,
            mode: "3D",
          },
    features: [...(scored?.features ?? unscoredLines(row, d3))],
  };
}

/** Lines of D3 without contributions, placed among those of the stored score. */
function unscoredLines(row: StoredScore, d3: Infrastructure) {
  const lines = infrastructureLines({ ...d3, dimension: { ...d3.dimension, points: null } });
  const isTotal = ({ dimension }: { readonly dimension: string }) => dimension === "AHS";
  return [...row.features.filter((line) => !isTotal(line)), ...lines, ...row.features.filter(isTotal)];
}

function declaredBy(agents: readonly WalletAgent[]): InfrastructurePlan["declared"] {
  const declared = new Map<string, InfrastructurePart["endpoints"][number]["services"]>();
  for (const { agentId, registry: place, services } of agents) {
    const registry = place === null ? null : toEip55(place);
    for (const { name, endpoint, version } of services) {
      if (!isHttpEndpoint(endpoint)) continue;
      declared.set(endpoint, [
        ...(declared.get(endpoint) ?? []),
        { agent_id: agentId, registry, name, version },
      ]);
    }
  }
  return declared;
}

function planUrl(
  agentUrl: string,
  declared: readonly string[],
  visitor: UrlVisitor,
): NonNullable<InfrastructurePlan["agentUrl"]> {
  const url = endpointText(agentUrl) ?? agentUrl;
  // The longest match is the closest.
  const [endpoint] = declared
    .filter((candidate) => liesUnder(url, candidate))
    .toSorted((a, b) => b.length - a.length);
  if (endpoint !== undefined) return { kind: "bound", url, endpoint };
  const reserved = visitor.reserve();
  if (reserved === null) {
    throw unavailable("scoring-unavailable", "Too many URLs are being probed at once.", {
      retryAfterSeconds: BUSY_RETRY_SECONDS,
    });
  }
  return { kind: "reserved", url, reserved };
}

async function agentUrlPart(
  { agentUrl }: InfrastructurePlan,
  now: Date,
): Promise<InfrastructurePart["agent_url"]> {
  if (agentUrl === null) return null;
  const { url } = agentUrl;
  if (agentUrl.kind === "bound") return { url, bound: true, endpoint: agentUrl.endpoint, probe: null };
  const visit = await agentUrl.reserved.visit(url);
  return { url, bound: false, endpoint: null, probe: fieldsOf(probeSchema.shape, { at: now, ...visit }) };
}

/** Input of D3: a visit counts once for every quarter hour that it represents. */
function probeFacts(probes: readonly StoredProbe[]): readonly ProbeFact[] {
  return probes.flatMap(({ at, outcome, latencyMs, valid, quarters }) => {
    const fact = { at: Math.floor(at.getTime() / 1000), alive: outcome === "ok", latencyMs, valid };
    return Array.from({ length: quarters }, () => fact);
  });
}

function renderDay(day: ProbeDay) {
  const { probes, alive } = day;
  return {
    ...fieldsOf(daySchema.shape, day),
    availability: Math.round((MICRO * alive) / probes) / MICRO,
    error_rate: Math.round((MICRO * (probes - alive)) / probes) / MICRO,
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
