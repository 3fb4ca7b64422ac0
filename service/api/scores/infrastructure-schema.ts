import { z } from "@hono/zod-openapi";

const isoSchema = z.iso.datetime().openapi({ description: "ISO 8601, UTC" });
const shareSchema = z.number().min(0).max(1);
const msSchema = z.int().min(0);
const outcomeSchema = z.enum(["ok", "error", "timeout", "unreachable", "refused"]).openapi("ProbeOutcome", {
  description:
    "ok: answered as by a service that is up, 401, 402 and 403 included. error: 404, 410, 5xx or no valid HTTP. timeout, unreachable: no answer. refused: a target that is never fetched, such as a private address",
});

const probeSchema = z
  .object({
    at: isoSchema,
    outcome: outcomeSchema,
    status: z.int().nullable(),
    latency_ms: msSchema.nullable(),
    valid: z.boolean().nullable().openapi({
      description: "Whether it served what its kind of service must; null where nothing can be said",
    }),
    detail: z.string().nullable(),
  })
  .openapi("Probe");

const figures = {
  probes: z.int().min(0).openapi({
    description:
      "Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours",
  }),
  availability: shareSchema
    .nullable()
    .openapi({ description: "Share of the probes that were answered as by a service that is up" }),
  error_rate: shareSchema.nullable().openapi({ description: "Share of the probes that failed in any way" }),
  latency_p50_ms: msSchema
    .nullable()
    .openapi({ description: "Nearest rank; a probe that failed counts as having taken 10,000 ms" }),
  latency_p95_ms: msSchema.nullable(),
};

const daySchema = z
  .object({ day: z.iso.date().openapi({ description: "UTC" }), ...figures })
  .openapi("ProbeDay");

const endpointSchema = z
  .object({
    url: z.string(),
    services: z.array(z.object({ agent_id: z.string(), name: z.string(), version: z.string().nullable() })),
    probing: z.enum(["regular", "in_turns", "none"]).openapi({
      description:
        "regular: visited every quarter of an hour. in_turns: less often, since its domain has more endpoints than are visited. none: not probed at present, being new, or beyond what is visited of one account or in all. What is not probed is unknown and counts as no failure",
    }),
    ...figures,
    validity: shareSchema.nullable(),
    last: probeSchema.nullable(),
    history: z.array(daySchema).openapi({ description: "By day, newest first, at most 31" }),
  })
  .openapi("Endpoint");

const agentSchema = z
  .object({
    agent_id: z.string(),
    document: z.enum(["current", "unreachable", "refused", "malformed"]).nullable().openapi({
      description: "What came of the last try to read its registration document; null before the first",
    }),
    detail: z.string().nullable(),
    fetched_at: isoSchema.nullable().openapi({ description: "When the document was read that is spoken of" }),
  })
  .openapi("AgentDocument");

const agentUrlSchema = z
  .object({
    url: z.string(),
    bound: z.boolean().openapi({
      description: "Whether it equals or lies under a declared endpoint; if not, it scores nothing",
    }),
    endpoint: z.string().nullable().openapi({ description: "The declared endpoint that it belongs to" }),
    probe: probeSchema.nullable().openapi({ description: "One visit made for this answer, unless bound" }),
  })
  .openapi("AgentUrl");

const EXAMPLE_FIGURES = {
  probes: 671,
  availability: 0.994039,
  error_rate: 0.005961,
  latency_p50_ms: 212,
  latency_p95_ms: 640,
};

/** The example that the reference shows for the part. */
export const INFRASTRUCTURE_EXAMPLE = {
  window: { from: "2026-11-13T10:00:05.000Z", to: "2026-11-20T10:00:05.000Z" },
  ...EXAMPLE_FIGURES,
  validity: 0.994039,
  reason: null,
  agents: [{ agent_id: "22", document: "current", detail: null, fetched_at: "2026-11-20T03:12:41.000Z" }],
  endpoints: [
    {
      url: "https://agent.example/.well-known/agent-card.json",
      services: [{ agent_id: "22", name: "A2A", version: "0.3.0" }],
      probing: "regular",
      ...EXAMPLE_FIGURES,
      validity: 0.994039,
      last: {
        at: "2026-11-20T09:52:11.000Z",
        outcome: "ok",
        status: 200,
        latency_ms: 198,
        valid: true,
        detail: null,
      },
      history: [
        {
          day: "2026-11-20",
          probes: 40,
          availability: 1,
          error_rate: 0,
          latency_p50_ms: 205,
          latency_p95_ms: 512,
        },
      ],
    },
  ],
  endpoints_declared: 1,
  agent_url: null,
};

/** The part that include=infrastructure adds. */
export const infrastructureSchema = z
  .object({
    window: z.object({ from: isoSchema, to: isoSchema }),
    ...figures,
    validity: shareSchema.nullable().openapi({
      description: "Share of the probes that served what they must, among those that tell",
    }),
    reason: z.string().nullable().openapi({ description: "Why there is no d3_score" }),
    agents: z.array(agentSchema),
    endpoints: z.array(endpointSchema),
    endpoints_declared: z.int().openapi({ description: "More than are shown and scored, where over 50" }),
    agent_url: agentUrlSchema.nullable(),
  })
  .openapi("Infrastructure", {
    example: INFRASTRUCTURE_EXAMPLE,
    description:
      "The http(s) endpoints that the wallet's agents declare in their ERC-8004 registration documents, by the probes of the last seven days. With at least 20 of them over 24 hours the answer's mode is 3D: 0.25 D1 + 0.45 D2 + 0.30 D3. What is stored, published and routed by stays 2D. A declared endpoint is not proven to be the agent's: anybody may declare any URL, and a probe shows that something answers there, not who runs it",
  });

export type InfrastructurePart = z.infer<typeof infrastructureSchema>;
export type ProbePart = z.infer<typeof probeSchema>;
