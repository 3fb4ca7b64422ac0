import { z } from "@hono/zod-openapi";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import { PNL_METHOD, pnlSchema } from "./render-pnl.ts";
import { RISK_EXAMPLE, riskShape } from "./risk-schema.ts";

const labelSchema = z
  .object({
    label: z.string(),
    category: z.string().nullable(),
    source: z.string().openapi({
      description:
        "deployment, identity-registry or index for what the chain itself tells; the list of a sanctioned wallet; else the provider",
    }),
  })
  .openapi("WalletLabel");

const providerSchema = z
  .object({
    provider: z.string(),
    available: z.boolean(),
    reason: z
      .enum(["timeout", "unconnected", "unavailable", "rate_limited", "refused", "malformed", "broken"])
      .nullable()
      .openapi({ description: "Why its labels are missing; broken: it failed too often to be asked now" }),
    read_at: isoSchema.nullable().openapi({ description: "When it was asked; its answer is kept for a day" }),
  })
  .openapi("LabelProvider");

/** The answer of GET /risk/premium/{address}. */
export const riskPremiumSchema = z
  .object({
    ...riskShape,
    labels: z.array(labelSchema).openapi({ description: "The chain's own first" }),
    labels_available: z.boolean().openapi({
      description:
        "Whether every third-party provider answered, and there is one: if not, nothing follows from the absence of a label",
    }),
    labels_unavailable_reason: z.enum(["no_provider_configured", "provider_failed"]).nullable().openapi({
      description:
        "Why labels_available is false: this service asks no third party, or one did not answer, of which label_providers tells",
    }),
    label_providers: z.array(providerSchema),
    pnl: pnlSchema,
  })
  .openapi("PremiumRisk");

export type RiskPremiumAnswer = z.infer<typeof riskPremiumSchema>;

/** The example that the reference shows for a premium risk. */
export const RISK_PREMIUM_EXAMPLE: RiskPremiumAnswer = {
  ...RISK_EXAMPLE,
  labels: [
    { label: "Agent 17: Delta keeper", category: "agent", source: "identity-registry" },
    { label: "Account", category: "account", source: "index" },
    { label: "Dex Trader", category: "defi", source: "nansen" },
  ],
  labels_available: true,
  labels_unavailable_reason: null,
  label_providers: [
    { provider: "nansen", available: true, reason: null, read_at: "2026-11-20T07:30:12.000Z" },
  ],
  pnl: {
    chain_id: 31337,
    as_of_block: 7969,
    as_of_time: "2026-11-20T09:58:00.000Z",
    window: { from: "2026-05-24T09:58:00.000Z", to: "2026-11-20T09:58:00.000Z", days: 180 },
    coverage: { from_block: 1, to_block: 7969, complete: true, sources: ["index"] },
    realised_usd: 1_000,
    unrealised_usd: 500,
    fees_usd: 12.6,
    trades: 3,
    sales: 1,
    wins: 1,
    losses: 0,
    win_rate: 1,
    unpriced_share: 0,
    returns: 0,
    worthless_legs: 0,
    unread_receipts: 0,
    method: PNL_METHOD,
    token_count: 2,
    tokens: [
      {
        token: "0x4200000000000000000000000000000000000006",
        symbol: "WETH",
        decimals: 18,
        currency: false,
        bought: "2000000000000000000",
        sold: "1500000000000000000",
        received: "0",
        sent: "0",
        uncovered: "0",
        held: "500000000000000000",
        realised_usd: 1_000,
        cost_usd: 1_000,
        worth_usd: 1_500,
        unrealised_usd: 500,
        priced_by: "feed",
        sales: 1,
        wins: 1,
        losses: 0,
        returns: 0,
        unpriced_legs: 0,
      },
      {
        token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        symbol: "USDC",
        decimals: 6,
        currency: true,
        bought: "3000000000",
        sold: "3000000000",
        received: "0",
        sent: "0",
        uncovered: "3000000000",
        held: "3000000000",
        realised_usd: null,
        cost_usd: null,
        worth_usd: null,
        unrealised_usd: null,
        priced_by: null,
        sales: 0,
        wins: 0,
        losses: 0,
        returns: 0,
        unpriced_legs: 0,
      },
    ],
  },
};
