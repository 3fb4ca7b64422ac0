import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { gradeOf } from "../../chain/oracle-codec.ts";
import { THREAT_KINDS } from "../../db/tables/sanctions.ts";
import type { Coverage } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { defaultAction } from "../../model/score/route.ts";
import { shownConfidence } from "../../model/score/shown-lines.ts";
import { THREAT_CODES, type Threat, type ThreatCode, threatCodes } from "../../sanctions/threat.ts";
import type { ScorePoint } from "../../scores/stored-score.ts";
import {
  type CurrentScore,
  isStale,
  type PublishedScore,
  type ScoreTrend,
  type StoredScore,
  shownScore,
} from "../../scores/stored-score.ts";
import { agentShape } from "./agents.ts";
import { backingSchema, sellerProfileSchema } from "./backing.ts";
import { explanationShape, reasonShape, renderReason } from "./explanation.ts";
import {
  count,
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  int,
  isoSchema,
  num,
  severitySchema,
  text,
  toEip55,
  toUsd,
} from "./values.ts";

const shareSchema = z.number().min(0).max(1);
const msSchema = z.int().min(0);
const outcomeSchema = z.enum(["ok", "error", "timeout", "unreachable", "refused"]).openapi("ProbeOutcome", {
  description:
    "ok: answered as by a service that is up, 401, 402 and 403 included. error: 404, 410, 5xx or no valid HTTP. timeout, unreachable: no answer. refused: a target that is never fetched, such as a private address",
});

export const probeSchema = z
  .object({
    at: isoSchema,
    outcome: outcomeSchema,
    status: z.int().nullable().openapi({ example: 200 }),
    latency_ms: msSchema.nullable().openapi({ example: 198 }),
    valid: flag("Whether it served what its kind of service must; null where nothing can be said").nullable(),
    detail: z.string().nullable(),
  })
  .openapi("Probe");

const figures = {
  probes: count(
    "Visits; a failed one to an endpoint that is visited hourly, having failed for a day, counts for each of the four quarter hours",
  ),
  availability: shareSchema
    .nullable()
    .openapi({ description: "Share of the probes that were answered as by a service that is up" }),
  error_rate: shareSchema.nullable().openapi({ description: "Share of the probes that failed in any way" }),
  latency_p50_ms: msSchema
    .nullable()
    .openapi({ description: "Nearest rank; a probe that failed counts as having taken 10,000 ms" }),
  latency_p95_ms: msSchema.nullable(),
};

export const daySchema = z
  .object({ day: z.iso.date().openapi({ description: "UTC" }), ...figures })
  .openapi("ProbeDay");

const registryOfAgent = eip55Schema
  .nullable()
  .openapi({ description: "Null for the ERC-8004 identity registry that the index follows" });

const endpointSchema = z
  .object({
    url: z.string(),
    services: z.array(
      z.object({
        agent_id: z.string(),
        registry: registryOfAgent,
        name: z.string(),
        version: z.string().nullable(),
      }),
    ),
    probing: z.enum(["regular", "in_turns", "none"]).openapi({
      description:
        "regular: probed every quarter of an hour. in_turns: probed less often, since its domain has more endpoints than are probed. none: not probed at present, because it is new or beyond the limit of one account or of all. An endpoint that is not probed is unknown and does not count as a failure",
    }),
    ...figures,
    validity: shareSchema.nullable(),
    last: probeSchema.nullable(),
    history: z.array(daySchema).openapi({ description: "By day, newest first, at most 31" }),
  })
  .openapi("Endpoint");

export const agentSchema = z
  .object({
    agent_id: z.string(),
    registry: registryOfAgent,
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
    bound: flag("Whether it equals or lies under a declared endpoint; if not, it scores nothing"),
    endpoint: text("The declared endpoint that it belongs to").nullable(),
    probe: probeSchema.nullable().openapi({ description: "One visit made for this answer, unless bound" }),
  })
  .openapi("AgentUrl");

/** The part that `include=infrastructure` adds. */
const infrastructureSchema = z
  .object({
    window: z.object({ from: isoSchema, to: isoSchema }),
    ...figures,
    validity: shareSchema.nullable().openapi({
      description: "Share of conclusive probes with a correct answer",
    }),
    reason: text("Why there is no d3_score").nullable(),
    agents: z.array(agentSchema),
    endpoints: z.array(endpointSchema),
    endpoints_declared: int("More than are shown and scored, where over 50"),
    agent_url: agentUrlSchema.nullable(),
  })
  .openapi("Infrastructure", {
    description:
      "The http(s) endpoints that the wallet's agents declare in their ERC-8004 registration documents, by the probes of the last seven days. With at least 20 probes over 24 hours the answer's mode is 3D: 0.25 D1 + 0.45 D2 + 0.30 D3. Stored, published and routed scores stay 2D. A declared endpoint is not proven to be the agent's: a document may declare any URL, and a probe shows that the URL answers, not who runs it",
  });

export type InfrastructurePart = z.infer<typeof infrastructureSchema>;
const scoreSchema = z.int().min(0).max(100).openapi({ example: 84 });
const gradeSchema = z.enum(["A", "B", "C", "D", "E", "F"]).openapi("Grade", {
  description: "Null for a wallet without enough history",
  example: "B",
});
export const gradeLabelSchema = z.string().openapi({ example: "Good" });
export const confidenceSchema = z.number().min(0).max(1).openapi({ example: 0.81 });
export const chainIdSchema = z.int().openapi({ example: 8453 });
export const blockSchema = z.int().openapi({ example: 48_210 });
export const routingActionSchema = z.enum(["instant_settle", "escrow", "reject"]).openapi("RoutingAction");
export const routingReasonSchema = z
  .enum([
    "sanctioned",
    "allowlist",
    "threat_listed",
    "confidence_override",
    "grade",
    "escrow_disabled",
    "insufficient_history",
    "not_scored",
    "confidence_below_minimum",
    "above_max_instant",
    "backing_unknown",
    "above_safe_amount",
  ])
  .openapi({ example: "grade" });
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
    reference: text(
      "Transaction hash of the listing, the block at which the contract was asked, or the unique id of OFAC",
      "block 48188",
    ),
    detected_at: isoSchema,
  })
  .openapi("SanctionsFlag");

/** Lists that a wallet is on; most are on none. */
export const sanctionsFlagsSchema = z.array(sanctionsFlagSchema).openapi({ example: [] });

const threatSchema = z
  .object({
    list: text("Name of the list", "scamsniffer"),
    kind: z.enum(THREAT_KINDS),
    source: text("Where the list comes from", "https://github.com/scamsniffer/scam-database"),
    listed_at: isoSchema.openapi({ description: "When an import first showed the wallet there" }),
  })
  .openapi("Threat");

/** Code of a wallet that sent a notable share to listed accounts. */
const EXPOSURE_CODE = "exposure_listed";

/** Members of answers about lists of threats, which change no score. */
export const threatsShape = {
  threats: z.array(threatSchema).openapi({
    description:
      "Lists of phishing, scam, mixer and exploit addresses that the operator imported and the wallet is on. They change no score; `threat_action` of a routing policy decides what they do to a payment",
    example: [],
  }),
  reason_codes: z.array(z.enum([...THREAT_CODES, EXPOSURE_CODE])).openapi({
    description: "One of each kind of threat; exposure_listed: part of what it sent went to listed accounts",
    example: [],
  }),
} as const;

/** The threats of an answer with their codes, and those of the wallet's own dealings. */
export function renderThreats(
  threats: readonly Threat[],
  isExposed = false,
): { threats: Threat[]; reason_codes: (ThreatCode | typeof EXPOSURE_CODE)[] } {
  const own = isExposed ? ([EXPOSURE_CODE] as const) : [];
  return { threats: [...threats], reason_codes: [...threatCodes(threats), ...own] };
}

const patternSchema = z
  .object({
    name: z.string().openapi({ example: "healthy_operator" }),
    severity: severitySchema,
    effect: z.number().max(0).openapi({ description: "Points taken from the score" }),
    evidence: z
      .string()
      .openapi({ example: "217 of 224 calls to others succeeded; estimated success 96.3%" }),
  })
  .openapi("Pattern");

export const coverageSchema = z
  .object({
    from_block: z.int().openapi({ example: 1 }),
    to_block: blockSchema,
    complete: z.boolean().openapi({
      description:
        "Whether every transaction of the window is known. Signed payments (x402) and executions of smart accounts are known only since the wallet is followed",
      example: true,
    }),
    sources: z.array(z.string()).openapi({ example: ["index"] }),
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
    safe_amount_usd: num(
      "The safe amount in the record: the backing when it was published, rounded down by the oracle. 0 where it was unknown; null for a record of a model before AHS-2026.2, which has none",
      42.5,
    ).nullable(),
    as_of_block: blockSchema,
    tx_hash: hashSchema,
    published_at: isoSchema,
  })
  .openapi("Published", { description: "What the oracle contract holds; null while it holds nothing" });

const gradedShape = {
  ahs_score: nullableScoreSchema,
  grade: nullableGradeSchema,
  confidence: confidenceSchema,
  confidence_level: confidenceLevelSchema,
} as const;

/** Members of a wallet's current score, in answers from stored data. */
export const currentScoreShape = {
  ...gradedShape,
  scored_at: isoSchema.nullable().openapi({ description: "Time of the block that the score is as of" }),
  stale: flag("The score is older than 24 hours; null without one").nullable(),
} as const;

const resultShape = {
  ...gradedShape,
  as_of_block: blockSchema,
  as_of_time: isoSchema,
  model_version: z.string().openapi({ example: "AHS-2026.2" }),
} as const;

/** Members of a record and of a report card. */
export const scoreShape = {
  ...resultShape,
  grade_label: gradeLabelSchema.openapi({
    description:
      "Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history",
  }),
  ...reasonShape,
  sanctions_flags: sanctionsFlagsSchema,
  trust_routing: routingActionSchema,
  chain_id: chainIdSchema,
  coverage: coverageSchema,
  stale: flag("The score is as of a block older than 24 hours"),
} as const;

/** A score of the past. */
export const historyEntrySchema = z
  .object({
    ...resultShape,
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
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

export const trendSchema = z
  .enum(["improving", "stable", "declining"])
  .nullable()
  .openapi({ description: "Over 30 days of stored scores; null below three of them", example: "stable" });

/** The answer of GET /ahs/{address}: the specified record with its additions, flat. */
export const ahsRecordSchema = z
  .object({
    address: eip55Schema,
    agent: z.object(agentShape).optional().openapi({
      description: "The agent whose wallet is scored; in GET /ahs/agent/{registry}/{agent_id} alone",
    }),
    ...scoreShape,
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    d3_score: scoreSchema.nullable().openapi({ description: "Null while the mode is 2D", example: null }),
    mode: z.enum(["2D", "3D"]),
    patterns: z.array(patternSchema),
    trend: trendSchema,
    timestamp: isoSchema.openapi({ description: "When this answer was made" }),
    inputs_hash: hashSchema.openapi({
      description: "Commits to everything that the score was computed from",
    }),
    published: publishedSchema.nullable(),
    backing: backingSchema
      .nullable()
      .optional()
      .openapi({ description: "Left out by POST /ahs/batch; null while it is unknown, which is not zero" }),
    seller_profile: sellerProfileSchema.nullable().optional().openapi({
      description:
        "Left out by POST /ahs/batch; null where no one paid the wallet and no job of another ended",
    }),
    ...threatsShape,
    features: explanationShape.features.optional(),
    dimensions: explanationShape.dimensions.optional(),
    adjustments: explanationShape.adjustments.optional(),
    history: z.array(historyEntrySchema).optional().openapi({ description: "Newest first, at most 100" }),
    attestation: attestationSchema.optional(),
    infrastructure: infrastructureSchema.optional(),
  })
  .openapi("AhsRecord");

export type AhsRecord = z.infer<typeof ahsRecordSchema>;
export type Attestation = z.infer<typeof attestationSchema>;

/** Minimum number of stored scores for a trend. */
const TREND_MIN_POINTS = 3;
const TREND_THRESHOLD_POINTS = 5;

/** The record of GET /ahs/{address} without its optional parts. */
export function renderAhsRecord({
  row,
  published,
  oracle,
  trend,
  threats,
  policy,
  now,
}: {
  readonly row: StoredScore;
  readonly published: PublishedScore | null;
  readonly oracle: Address;
  readonly trend: ScoreTrend;
  readonly threats: readonly Threat[];
  readonly policy: Policy;
  readonly now: Date;
}): AhsRecord {
  return {
    address: toEip55(row.wallet),
    ...renderScore(row, { policy, now }),
    d1_score: row.d1Score,
    d2_score: row.d2Score,
    d3_score: null,
    mode: "2D",
    patterns: [...row.patterns],
    trend: trendOf(trend),
    timestamp: now.toISOString(),
    inputs_hash: row.inputsHash,
    published: renderPublished(published, oracle),
    ...renderThreats(threats),
  };
}

const confidenceOf = (row: ScorePoint) => shownConfidence(row.confidenceMicros);

/** The members of a stored score that records and report cards share. */
export function renderScore(
  row: StoredScore,
  { policy, now }: { readonly policy: Policy; readonly now: Date },
): Pick<AhsRecord, keyof typeof scoreShape> {
  return {
    ...fieldsOf(scoreShape, row),
    confidence: confidenceOf(row),
    grade_label: gradeLabel(row.grade),
    ...renderReason(row, policy),
    sanctions_flags: [...row.sanctionsFlags],
    trust_routing: defaultAction({ sanctioned: row.sanctioned, score: row }),
    coverage: renderCoverage(row.coverage),
    stale: isStale(row.asOfTime, now),
  };
}

/** The current score of a wallet; a listed one shows what its listing makes of it. */
export function renderCurrentScore(
  current: CurrentScore | null,
  { sanctioned, now }: { readonly sanctioned: boolean; readonly now: Date },
) {
  const { ahsScore, grade, confidence, confidenceLevel } = shownScore(current, sanctioned);
  return {
    ahs_score: ahsScore,
    grade,
    confidence,
    confidence_level: confidenceLevel,
    scored_at: current === null ? null : current.asOfTime.toISOString(),
    stale: current === null ? null : isStale(current.asOfTime, now),
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

/** The direction of stored scores: beyond 5 points either way along their least-squares line; null below 3 points. */
export function trendOf({ points, change }: ScoreTrend): AhsRecord["trend"] {
  if (points < TREND_MIN_POINTS || change === null) return null;
  if (change > TREND_THRESHOLD_POINTS) return "improving";
  return change < -TREND_THRESHOLD_POINTS ? "declining" : "stable";
}

/** One entry of `history`. */
export function renderHistoryEntry(row: ScorePoint): NonNullable<AhsRecord["history"]>[number] {
  return { ...fieldsOf(historyEntrySchema.shape, row), confidence: confidenceOf(row) };
}

function renderPublished(published: PublishedScore | null, oracle: Address): AhsRecord["published"] {
  if (published === null) return null;
  return {
    ...fieldsOf(publishedSchema.shape, published),
    oracle: toEip55(oracle),
    grade: published.ahsScore === null ? null : gradeOf(published.ahsScore),
    safe_amount_usd: toUsd(published.safeMicroUsd),
    tx_hash: published.transactionHash,
  };
}
