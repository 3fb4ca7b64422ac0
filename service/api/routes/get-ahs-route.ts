import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { ownerOf, ownerText, type PayingCaller } from "../../access/access.ts";
import { gradeLabel } from "../../model/score/record.ts";
import {
  DEFAULT_ROUTING,
  type RoutingFacts,
  type RoutingPolicy,
  routeWallet,
} from "../../model/score/route.ts";
import type { CurrentScore, Standing } from "../../scores/scores.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PaidWorkContext } from "../kit/endpoint-spec.ts";
import { freshStanding, noteInterest, type WalletPorts } from "../kit/wallet-report.ts";
import {
  confidenceLevelSchema,
  isStale,
  nullableGradeSchema,
  nullableScoreSchema,
  routingActionSchema,
} from "../schemas/ahs-record.ts";
import { addressParams, eip55Schema, toEip55 } from "../schemas/values.ts";
import type { PolicyPorts } from "./get-ahs-route-policy.ts";

const MICROS = 1_000_000;

const routeSchema = z
  .object({
    address: eip55Schema,
    action: routingActionSchema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    grade_label: z.string(),
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    reason: z.enum([
      "sanctioned",
      "allowlist",
      "confidence_override",
      "grade",
      "escrow_disabled",
      "insufficient_history",
      "not_scored",
    ]),
    scored_at: z.iso
      .datetime()
      .nullable()
      .openapi({ description: "Time of the block that the score is as of" }),
    stale: z
      .boolean()
      .nullable()
      .openapi({ description: "The score is older than 24 hours; null without one" }),
    policy_applied: z
      .boolean()
      .openapi({ description: "Whether a policy of the caller, and not the default table, decided" }),
    allowlisted: z.boolean().openapi({
      description:
        "Whether the wallet stands on that policy's allowlist; a sanctioned one is rejected all the same",
    }),
    agent_health_score: nullableScoreSchema.openapi({ description: "Equal to ahs_score" }),
    routing_recommendation: routingActionSchema.openapi({ description: "Equal to action" }),
  })
  .openapi("RoutingDecision");

type RoutingAnswer = z.infer<typeof routeSchema>;

const EXAMPLE: RoutingAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  action: "instant_settle",
  ahs_score: 84,
  grade: "B",
  grade_label: "Good",
  confidence: 0.81,
  confidence_level: "HIGH",
  reason: "grade",
  scored_at: "2026-11-20T09:58:00.000Z",
  stale: false,
  policy_applied: false,
  allowlisted: false,
  agent_health_score: 84,
  routing_recommendation: "instant_settle",
};

type RoutePorts = WalletPorts & { readonly policies: Pick<PolicyPorts["policies"], "of"> };

/** GET /ahs/route/{address}. */
export const getAhsRoute = definePaid({
  method: "get",
  path: "/ahs/route/{address}",
  price: 10,
  tag: "Routing",
  summary: "Trust routing decision for a payment to a wallet",
  description:
    "Decides by the routing policy of the caller, the key or the wallet that pays, which `PUT /ahs/route/policy` sets. Without one, grades A and B settle at once, C goes to escrow, the others are rejected, and a wallet never scored, or without enough history, is sent to escrow. Sanctions are looked up at the newest indexed block on every answer and always reject: no allowlist bypasses them.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: routeSchema, example: EXAMPLE, description: "The decision" },
  problems: ["index-unavailable", "index-behind"],
  check: ({ params }, { deps, now }: { deps: RoutePorts; now: Date }) =>
    freshStanding(params.address, deps, now),
  prepare: async (_input, standing, { deps, caller }: PaidWorkContext<RoutePorts>) => ({
    standing,
    policy: await policyOf(caller, deps),
  }),
  work({ params: { address } }, { standing, policy }, { deps, now }) {
    if (standing.score !== null) noteInterest(address, deps);
    return decide(address, { standing, policy, now });
  },
});

/** Null where the default table decides. */
async function policyOf(caller: PayingCaller, { policies }: RoutePorts): Promise<RoutingPolicy | null> {
  const stored = await policies.of(ownerText(ownerOf(caller)));
  return stored?.policy ?? null;
}

type Known = {
  readonly standing: Standing;
  readonly policy: RoutingPolicy | null;
  readonly now: Date;
};

function decide(address: Address, { standing: { sanctions, score }, policy, now }: Known): RoutingAnswer {
  const sanctioned = sanctions.length > 0;
  const shown = shownScore(score, sanctioned);
  const { action, reason } = routeWallet(policy ?? DEFAULT_ROUTING, {
    wallet: address,
    sanctioned,
    score: scoreFacts(score),
  });
  return {
    address: toEip55(address),
    action,
    ...shown,
    reason,
    scored_at: score === null ? null : score.asOfTime.toISOString(),
    stale: score === null ? null : isStale(score.asOfTime, now),
    policy_applied: policy !== null,
    allowlisted: policy?.allowlist.includes(address) ?? false,
    agent_health_score: shown.ahs_score,
    routing_recommendation: action,
  };
}

function scoreFacts(score: CurrentScore | null): RoutingFacts["score"] {
  if (score === null) return { kind: "not_scored" };
  if (score.grade === null) return { kind: "insufficient" };
  return { kind: "scored", grade: score.grade, confidenceLevel: score.confidenceLevel };
}

/** A listed wallet scores 0 with confidence 1 from its listing on, even if an older score is stored. */
function shownScore(
  score: CurrentScore | null,
  sanctioned: boolean,
): Pick<RoutingAnswer, "ahs_score" | "grade" | "grade_label" | "confidence" | "confidence_level"> {
  if (sanctioned) {
    return {
      ahs_score: 0,
      grade: "F",
      grade_label: gradeLabel("F"),
      confidence: 1,
      confidence_level: "HIGH",
    };
  }
  if (score === null) {
    return {
      ahs_score: null,
      grade: null,
      grade_label: "Not scored",
      confidence: 0,
      confidence_level: "INSUFFICIENT",
    };
  }
  return {
    ahs_score: score.ahsScore,
    grade: score.grade,
    grade_label: gradeLabel(score.grade),
    confidence: score.confidenceMicros / MICROS,
    confidence_level: score.confidenceLevel,
  };
}
