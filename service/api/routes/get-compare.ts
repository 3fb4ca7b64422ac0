import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import {
  type ComparedWallet,
  type Comparison,
  type Difference,
  MOST_COMPARED,
  MOST_DIFFERENCES,
} from "../../reports/comparison.ts";
import { NOTABLE_POINTS } from "../../reports/explain-score.ts";
import { MOST_CALLS } from "../../scores/wallet-activity.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { requireFresh } from "../kit/wallet-report.ts";
import type { ContractNeeds } from "../schemas/agents.ts";
import { agentShape, renderAgent } from "../schemas/agents.ts";
import {
  currentScoreShape,
  nullableScoreSchema,
  renderCurrentScore,
  renderThreats,
  routingActionSchema,
  routingReasonSchema,
  threatsShape,
  trendOf,
  trendSchema,
} from "../schemas/ahs-record.ts";
import { backingSchema, renderBacking } from "../schemas/backing.ts";
import {
  ADDRESS_PATTERN,
  addressSchema,
  count,
  eip55Schema,
  flag,
  isoSchema,
  num,
  splitList,
  text,
  toEip55,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ContractNeeds & {
  readonly maxIndexAgeSeconds: number;
  /** Compares wallets (lower-case and distinct) by stored data. */
  readonly compare: (wallets: readonly Address[]) => Promise<Comparison>;
};

const EXAMPLES = ["0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc", "0x976EA74026E726554dB657fA54763abd0C3a0aa9"];

const query = z.object({
  addresses: z
    .preprocess(
      splitList,
      z
        .array(addressSchema)
        .min(2)
        .max(MOST_COMPARED)
        .refine((addresses) => new Set(addresses).size === addresses.length, {
          error: ({ input }) => `expected distinct wallets, got ${toEip55(repeatedIn(input))} twice`,
        }),
    )
    .openapi({
      param: { style: "form", explode: false, required: true },
      type: "array",
      items: { type: "string", pattern: ADDRESS_PATTERN.source },
      minItems: 2,
      maxItems: MOST_COMPARED,
      description: `Two to ${MOST_COMPARED} distinct wallets in any case, separated by commas`,
      example: EXAMPLES,
    }),
});

const walletSchema = z
  .object({
    address: eip55Schema,
    agents: z
      .array(z.object(agentShape))
      .openapi({ description: "The first three agents that the wallet acts for" }),
    followed: flag("Whether the index follows the wallet", true),
    ...currentScoreShape,
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    grade_reason: text(
      "Why the wallet has its grade or no grade, in one sentence",
      "Grade B: 217 of 224 calls to others succeeded (96.9%); largest loss: 12.4% of its fees were spent on failed calls (gas efficiency, −7 points).",
    ),
    trend: trendSchema,
    action: routingActionSchema.openapi({ description: "By the default policy, without an amount" }),
    reason: routingReasonSchema,
    backing: backingSchema.nullable(),
    calls: count(
      `Own calls of any age, counted up to ${MOST_CALLS}; null if the wallet is not followed and none is known`,
      224,
    ).nullable(),
    last_active_at: isoSchema.nullable().openapi({ description: "Its last own call; null if none is known" }),
    ...threatsShape,
  })
  .openapi("ComparedWallet");

const differenceSchema = z
  .object({
    dimension: z.enum(["D1", "D2", "AHS"]).openapi({ description: "AHS for a pattern" }),
    name: z.string().openapi({ example: "success_rate" }),
    title: z.string().openapi({ example: "Success rate" }),
    points: num("Points of the score between the wallets that lose most and least by it", 12.4),
    wallets: z
      .array(
        z.object({
          address: eip55Schema,
          points_lost: num(
            "Points of the score that it costs the wallet; null if it was not measured, or does not make the wallet's score",
            2.1,
          ).nullable(),
          says: text(
            "The measurement in one sentence; null without one",
            "217 of 224 calls to others succeeded (96.9%)",
          ).nullable(),
        }),
      )
      .openapi({ description: "In the order of the request" }),
  })
  .openapi("WalletDifference");

const compareSchema = z
  .object({
    wallets: z.array(walletSchema).openapi({ description: "In the order of the request" }),
    differences: z.array(differenceSchema).openapi({
      description: `The features and patterns in whose cost the wallets differ most, the largest first: at most ${MOST_DIFFERENCES}, of ${NOTABLE_POINTS} points or more`,
    }),
  })
  .openapi("Comparison");

/** GET /compare. */
export const getCompare = defineFree<Needs>()({
  method: "get",
  path: "/compare",
  operationId: "compare_wallets",
  tool: `Compares two to ${MOST_COMPARED} wallets by stored data: score, grade with its reason, routing action, safe amount, activity, and the features in which they differ most. Use it to choose between agents; then decide about the payment with route_payment.`,
  tag: "Scores",
  summary: `Two to ${MOST_COMPARED} wallets side by side`,
  description:
    "Compares wallets by what is stored: it scores none, and reads no history. A wallet without a score has null members, and `grade_reason` says why; too little history is no sign of risk. Sanctions are looked up at the newest indexed block. `action` follows the default policy without an amount: `GET /ahs/route/{address}` decides about a payment by your own policy and its amount. A browser that asks for HTML gets the same as a page.",
  request: { params: z.object({}), query, body: null },
  answer: { schema: compareSchema, description: "The wallets and their largest differences" },
  problems: ["index-unavailable", "index-behind", "database-unavailable"],
  async respond(context, { query: { addresses } }, { deps, now }) {
    const { wallets, differences } = await deps.compare(addresses);
    for (const { snapshot } of wallets) requireFresh(snapshot, deps, now);
    const body: z.infer<typeof compareSchema> = {
      wallets: wallets.map((wallet) => renderWallet(wallet, deps.discovery.contracts, now)),
      differences: differences.map(renderDifference),
    };
    return answerJson(context, body, { headers: { "cache-control": "public, max-age=30" } });
  },
});

function renderWallet(
  wallet: ComparedWallet,
  contracts: ContractNeeds["discovery"]["contracts"],
  now: Date,
): z.infer<typeof walletSchema> {
  const { address, agents, snapshot, score, trend, decision, backing, calls, lastCallAt } = wallet;
  const { threats, followed } = snapshot;
  return {
    address: toEip55(address),
    agents: agents.map((agent) => renderAgent(agent, contracts)),
    followed,
    ...renderCurrentScore(snapshot.score, { sanctioned: snapshot.sanctions.length > 0, now }),
    d1_score: score?.d1Score ?? null,
    d2_score: score?.d2Score ?? null,
    grade_reason: wallet.reason,
    trend: trendOf(trend),
    ...decision,
    backing: renderBacking(backing),
    calls,
    last_active_at: lastCallAt?.toISOString() ?? null,
    ...renderThreats(threats),
  };
}

function renderDifference({ wallets, ...difference }: Difference): z.infer<typeof differenceSchema> {
  return {
    ...difference,
    wallets: wallets.map(({ address, lost, says }) => ({
      address: toEip55(address),
      points_lost: lost,
      says,
    })),
  };
}

function repeatedIn(addresses: unknown): string {
  const list = Array.isArray(addresses) ? addresses.map(String) : [];
  return list.find((address, place) => list.indexOf(address) !== place) ?? "";
}
