import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { ownerOf, ownerText, type PayingCaller } from "../../access/access.ts";
import { gradeLabel } from "../../model/score/record.ts";
import { DEFAULT_ROUTING, type RoutingPolicy, routedScore, routeWallet } from "../../model/score/route.ts";
import type { WalletSnapshot } from "../../scores/scores.ts";
import { definePaid } from "../kit/endpoint.ts";
import { freshStanding, noteInterest } from "../kit/wallet-report.ts";
import {
  currentScoreShape,
  gradeLabelSchema,
  nullableScoreSchema,
  renderCurrentScore,
  routingActionSchema,
} from "../schemas/ahs-record.ts";
import { addressParams, eip55Schema, flag, toEip55 } from "../schemas/values.ts";
import type { Services } from "../services.ts";

const routeSchema = z
  .object({
    address: eip55Schema,
    action: routingActionSchema,
    ...currentScoreShape,
    grade_label: gradeLabelSchema,
    reason: z
      .enum([
        "sanctioned",
        "allowlist",
        "confidence_override",
        "grade",
        "escrow_disabled",
        "insufficient_history",
        "not_scored",
      ])
      .openapi({ example: "grade" }),
    policy_applied: flag("Whether a policy of the caller, and not the default table, decided"),
    allowlisted: flag(
      "Whether the wallet is on the allowlist of that policy; a sanctioned wallet is rejected anyway",
    ),
    agent_health_score: nullableScoreSchema.openapi({ description: "Equal to ahs_score" }),
    routing_recommendation: routingActionSchema.openapi({ description: "Equal to action" }),
  })
  .openapi("RoutingDecision");

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
  answer: { schema: routeSchema, description: "The decision" },
  problems: ["index-unavailable", "index-behind"],
  check: ({ params }, { deps, now }) => freshStanding(params.address, deps, now),
  prepare: async (_input, standing, { deps, caller }) => ({
    standing,
    policy: await policyOf(caller, deps),
  }),
  work({ params: { address } }, { standing, policy }, { deps, now }) {
    if (standing.score !== null) noteInterest(address, deps);
    return decide(address, { standing, policy, now });
  },
});

/** Null if the default table decides. */
async function policyOf(
  caller: PayingCaller,
  { policies }: Pick<Services, "policies">,
): Promise<RoutingPolicy | null> {
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
): z.infer<typeof routeSchema> {
  const sanctioned = sanctions.length > 0;
  const shown = renderCurrentScore(score, { sanctioned, now });
  const { action, reason } = routeWallet(policy ?? DEFAULT_ROUTING, {
    wallet: address,
    sanctioned,
    score: routedScore(score),
  });
  return {
    address: toEip55(address),
    action,
    ...shown,
    grade_label: score === null && !sanctioned ? "Not scored" : gradeLabel(shown.grade),
    reason,
    policy_applied: policy !== null,
    allowlisted: policy?.allowlist.includes(address) ?? false,
    agent_health_score: shown.ahs_score,
    routing_recommendation: action,
  };
}
