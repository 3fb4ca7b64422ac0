import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { gradeOf } from "../../chain/oracle-codec.ts";
import type { Coverage } from "../../model/features/types.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingFacts, routedScore, routeWallet } from "../../model/score/route.ts";
import type { PublishedScore, ScoreTrend, StoredScore } from "../../scores/scores.ts";
import { isStale } from "../../scores/scores.ts";
import { eip55Schema, hashSchema, isoSchema, toEip55 } from "./values.ts";

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

/** The part that `include=infrastructure` adds. */
export const infrastructureSchema = z
  .object({
    window: z.object({ from: isoSchema, to: isoSchema }),
    ...figures,
    validity: shareSchema.nullable().openapi({
      description: "Share of conclusive probes with a correct answer",
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

const scoreSchema = z.int().min(0).max(100);
const gradeSchema = z.enum(["A", "B", "C", "D", "E", "F"]).openapi("Grade", {
  description: "Null for a wallet without enough history",
});
export const routingActionSchema = z.enum(["instant_settle", "escrow", "reject"]).openapi("RoutingAction");
export const confidenceLevelSchema = z
  .enum(["HIGH", "MEDIUM", "LOW", "INSUFFICIENT"])
  .openapi("ConfidenceLevel");

export const nullableScoreSchema = scoreSchema
  .nullable()
  .openapi({ description: "Integer 0 to 100; null for a wallet without enough history" });
export const nullableGradeSchema = gradeSchema.nullable();

export const sanctionsFlagSchema = z
  .object({
    source: z.enum(["chainalysis-oracle", "ofac-sdn"]),
    reference: z.string().openapi({
      description:
        "Transaction hash of the listing, the block at which the contract was asked, or the unique id of OFAC",
    }),
    detected_at: isoSchema,
  })
  .openapi("SanctionsFlag");

const patternSchema = z
  .object({
    name: z.string(),
    severity: z.enum(["info", "warning", "critical"]),
    effect: z.number().max(0).openapi({ description: "Points taken from the score" }),
    evidence: z.string(),
  })
  .openapi("Pattern");

const featureSchema = z
  .object({
    dimension: z.enum(["D1", "D2", "D3", "AHS"]),
    name: z.string(),
    value: z.number().nullable(),
    unit: z.string(),
    samples: z.number(),
    state: z.enum(["measured", "not_applicable", "unknown"]),
    score: z.number().nullable(),
    weight: z.number(),
    contribution: z
      .number()
      .nullable()
      .openapi({ description: "Hundredths of a point; a dimension's lines add up to 100 times its score" }),
    reason: z.string().nullable(),
  })
  .openapi("Feature");

export const coverageSchema = z
  .object({
    from_block: z.int(),
    to_block: z.int(),
    complete: z.boolean(),
    sources: z.array(z.string()),
    newest_calls_only: z.literal(true).optional().openapi({
      description:
        "Present where the wallet made more own calls in the window than are read of one wallet, the newest 20,000 and less where they are large: from_block is the block of the oldest that was read",
    }),
  })
  .openapi("Coverage");

const publishedSchema = z
  .object({
    oracle: eip55Schema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    as_of_block: z.int(),
    tx_hash: hashSchema,
    published_at: isoSchema,
  })
  .openapi("Published", { description: "What the oracle contract holds; null while it holds nothing" });

const historyEntrySchema = z
  .object({
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    as_of_block: z.int(),
    as_of_time: isoSchema,
    model_version: z.string(),
    inputs_hash: hashSchema,
  })
  .openapi("HistoryEntry");

const attestationSchema = z
  .object({
    typed_data: z.object({
      domain: z.object({
        name: z.string(),
        version: z.string(),
        chainId: z.int(),
        verifyingContract: eip55Schema,
      }),
      types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
      primaryType: z.string(),
      message: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .openapi({ description: "64-bit members as decimal strings" }),
    }),
    signer: eip55Schema,
    signature: z.string().regex(/^0x[0-9a-f]+$/),
  })
  .openapi("Attestation", {
    description: "EIP-712 typed data that publishSigned of the oracle accepts from anyone",
  });

/** The answer of GET /ahs/{address}: the specified record with its additions, flat. */
export const ahsRecordSchema = z
  .object({
    address: eip55Schema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    grade_label: z.string().openapi({
      description:
        "Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history",
    }),
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    d3_score: scoreSchema.nullable().openapi({ description: "Null while the mode is 2D" }),
    mode: z.enum(["2D", "3D"]),
    sanctions_flags: z.array(sanctionsFlagSchema),
    trust_routing: routingActionSchema,
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    patterns: z.array(patternSchema),
    trend: z
      .enum(["improving", "stable", "declining"])
      .nullable()
      .openapi({ description: "Over 30 days of stored scores; null below three of them" }),
    timestamp: isoSchema.openapi({ description: "When this answer was made" }),
    model_version: z.string(),
    chain_id: z.int(),
    as_of_block: z.int(),
    as_of_time: isoSchema,
    inputs_hash: hashSchema.openapi({
      description: "Commits to everything that the score was computed from",
    }),
    coverage: coverageSchema,
    published: publishedSchema.nullable(),
    stale: z.boolean().openapi({ description: "The score is as of a block older than 24 hours" }),
    features: z.array(featureSchema).optional(),
    history: z.array(historyEntrySchema).optional().openapi({ description: "Newest first, at most 100" }),
    attestation: attestationSchema.optional(),
    infrastructure: infrastructureSchema.optional(),
  })
  .openapi("AhsRecord");

export type AhsRecord = z.infer<typeof ahsRecordSchema>;
export type Attestation = z.infer<typeof attestationSchema>;

export const AHS_RECORD_EXAMPLE: AhsRecord = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  ahs_score: 84,
  grade: "B",
  grade_label: "Good",
  d1_score: 88,
  d2_score: 82,
  d3_score: null,
  mode: "2D",
  sanctions_flags: [],
  trust_routing: "instant_settle",
  confidence: 0.81,
  confidence_level: "HIGH",
  patterns: [],
  trend: "stable",
  timestamp: "2026-11-20T10:00:05.000Z",
  model_version: "AHS-2026.1",
  chain_id: 31337,
  as_of_block: 7969,
  as_of_time: "2026-11-20T09:58:00.000Z",
  inputs_hash: "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  coverage: { from_block: 1, to_block: 7969, complete: true, sources: ["index"] },
  published: {
    oracle: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    ahs_score: 84,
    grade: "B",
    as_of_block: 7960,
    tx_hash: "0x96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
    published_at: "2026-11-20T09:57:30.000Z",
  },
  stale: false,
};

/** Minimum number of stored scores for a trend. */
const TREND_MIN_POINTS = 3;
const TREND_THRESHOLD_POINTS = 5;
const MICROS = 1_000_000;

/** The record of GET /ahs/{address} without its optional parts. */
export function renderAhsRecord({
  row,
  published,
  oracle,
  trend,
  now,
}: {
  readonly row: StoredScore;
  readonly published: PublishedScore | null;
  readonly oracle: Address;
  readonly trend: ScoreTrend;
  readonly now: Date;
}): AhsRecord {
  return {
    address: toEip55(row.wallet),
    ahs_score: row.ahsScore,
    grade: row.grade,
    grade_label: gradeLabel(row.grade),
    d1_score: row.d1Score,
    d2_score: row.d2Score,
    d3_score: null,
    mode: "2D",
    sanctions_flags: [...row.sanctionsFlags],
    trust_routing: routingOf(row),
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    patterns: [...row.patterns],
    trend: trendOf(trend),
    timestamp: now.toISOString(),
    model_version: row.modelVersion,
    chain_id: row.chainId,
    as_of_block: row.asOfBlock,
    as_of_time: row.asOfTime.toISOString(),
    inputs_hash: row.inputsHash,
    coverage: renderCoverage(row.coverage),
    published: renderPublished(published, oracle),
    stale: isStale(row.asOfTime, now),
  };
}

/** The coverage of rows in the form of answers. */
export function renderCoverage(coverage: Coverage): AhsRecord["coverage"] {
  const { fromBlock, toBlock, complete, sources, newestCallsOnly } = coverage;
  return {
    from_block: fromBlock,
    to_block: toBlock,
    complete,
    sources: [...sources],
    ...(newestCallsOnly === undefined ? {} : { newest_calls_only: newestCallsOnly }),
  };
}

/** The action of the default table for a stored score. */
export function routingOf(row: StoredScore): AhsRecord["trust_routing"] {
  return routeWallet(DEFAULT_ROUTING, routingFacts(row)).action;
}

/** The direction of stored scores: beyond 5 points either way along their least-squares line; null below 3 points. */
function trendOf({ points, change }: ScoreTrend): AhsRecord["trend"] {
  if (points < TREND_MIN_POINTS || change === null) return null;
  if (change > TREND_THRESHOLD_POINTS) return "improving";
  return change < -TREND_THRESHOLD_POINTS ? "declining" : "stable";
}

/** One entry of `history`. */
export function renderHistoryEntry(row: StoredScore): NonNullable<AhsRecord["history"]>[number] {
  return {
    ahs_score: row.ahsScore,
    grade: row.grade,
    d1_score: row.d1Score,
    d2_score: row.d2Score,
    confidence: row.confidenceMicros / MICROS,
    confidence_level: row.confidenceLevel,
    as_of_block: row.asOfBlock,
    as_of_time: row.asOfTime.toISOString(),
    model_version: row.modelVersion,
    inputs_hash: row.inputsHash,
  };
}

// Stored wallets are lower-case addresses.
function routingFacts({ wallet, sanctioned, grade, confidenceLevel }: StoredScore): RoutingFacts {
  return {
    wallet: wallet as Address,
    sanctioned,
    score: routedScore({ grade, confidenceLevel }),
  };
}

function renderPublished(published: PublishedScore | null, oracle: Address): AhsRecord["published"] {
  if (published === null) return null;
  return {
    oracle: toEip55(oracle),
    ahs_score: published.ahsScore,
    grade: published.ahsScore === null ? null : gradeOf(published.ahsScore),
    as_of_block: published.asOfBlock,
    tx_hash: published.transactionHash,
    published_at: published.publishedAt.toISOString(),
  };
}
