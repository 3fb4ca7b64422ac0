import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { ownerOf, ownerText, type PayingCaller } from "../../access/access.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingPolicy, routedScore, routeWallet } from "../../model/score/route.ts";
import type { CurrentScore, WalletSnapshot } from "../../scores/scores.ts";
import { isStale, shownScore } from "../../scores/scores.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PaidWorkContext } from "../kit/endpoint-spec.ts";
import { freshStanding, noteInterest, type WalletPorts } from "../kit/wallet-report.ts";
import {
  confidenceLevelSchema,
  nullableGradeSchema,
  nullableScoreSchema,
  routingActionSchema,
} from "../schemas/ahs-record.ts";
import { addressParams, eip55Schema, toEip55 } from "../schemas/values.ts";
import type { PolicyPorts } from "./get-ahs-route-policy.ts";

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
        "Whether the wallet is on the allowlist of that policy; a sanctioned wallet is rejected anyway",
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

/** Null if the default table decides. */
async function policyOf(caller: PayingCaller, { policies }: RoutePorts): Promise<RoutingPolicy | null> {
  const stored = await policies.of(ownerText(ownerOf(caller)));
  return stored?.policy ?? null;
}

function decide(
  address: Address,
  {
    standing: { sanctions, score },
    policy,
    now,
  }: {
    readonly standing: WalletSnapshot;
    readonly policy: RoutingPolicy | null;
    readonly now: Date;
  },
): RoutingAnswer {
  const sanctioned = sanctions.length > 0;
  const shown = renderScore(score, sanctioned);
  const { action, reason } = routeWallet(policy ?? DEFAULT_ROUTING, {
    wallet: address,
    sanctioned,
    score: routedScore(score),
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

function renderScore(
  score: CurrentScore | null,
  isListed: boolean,
): Pick<RoutingAnswer, "ahs_score" | "grade" | "grade_label" | "confidence" | "confidence_level"> {
  const { ahsScore, grade, confidence, confidenceLevel } = shownScore(score, isListed);
  const isUnscored = score === null && !isListed;
  return {
    ahs_score: ahsScore,
    grade,
    grade_label: isUnscored ? "Not scored" : gradeLabel(grade),
    confidence,
    confidence_level: confidenceLevel,
  };
}
