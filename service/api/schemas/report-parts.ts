import { z } from "@hono/zod-openapi";
import { formatUnits } from "viem";
import type { ApprovalFinding } from "../../reports/diagnosis/approvals.ts";
import { PORTFOLIO_BASIS, type Portfolio } from "../../reports/diagnosis/health.ts";
import type { Advice } from "../../reports/diagnosis/health-advice.ts";
import { type Money, PER_MONTH_DAYS, type ReportFacts } from "../../reports/diagnosis/report-facts.ts";

import {
  eip55Schema,
  fieldsOf,
  flag,
  int,
  isoOf,
  isoSchema,
  text,
  toEip55,
  toUsd,
  wholeSchema,
} from "./values.ts";

/** How monthly amounts are computed. */
export function monthBasis(days: number): string {
  return `Amount of the window x ${PER_MONTH_DAYS} / ${days} days, rounded down; the days are those since the first call of the window, ${PER_MONTH_DAYS} at least.`;
}

const NATIVE_DECIMALS = 18;
const NO_FEED = "no feed prices the native coin";
const PRICES_BASIS =
  "Last feed answer before the UTC day of each call; each call is priced by itself and rounded to 1e-6 USD.";

export const weiSchema = wholeSchema.openapi({ description: "Wei, decimal" });
export const tokenAmountSchema = wholeSchema.openapi({
  description: "In the token's smallest unit, decimal",
  example: "108000000",
});
export const usdSchema = z
  .number()
  .min(0)
  .nullable()
  .openapi({ description: "US dollars; null where nothing prices it, which is not zero", example: 12.5 });

export const moneySchema = z
  .object({
    wei: weiSchema,
    eth: text("The same in whole coins, exactly", "0.000002411368784"),
    value_usd: usdSchema.openapi({ example: 0.007234 }),
  })
  .openapi("GasMoney", {
    description: "Native coin; its worth at the daily prices of the days on which it was paid",
  });

/** The target of a group of calls. */
export const calledShape = {
  contract: eip55Schema
    .nullable()
    .openapi({ description: "Null for contract creations and unknown targets" }),
  selector: text("Null for plain transfers", "0x3593564c").nullable(),
  method: text("Usual signature of the selector", "execute(bytes,bytes[],uint256)").nullable(),
} as const;

export const pricesSchema = z
  .object({
    native_symbol: z.string().openapi({ example: "ETH" }),
    native_usd: usdSchema.openapi({ example: 3000 }),
    reason: text("Why there is no price").nullable().openapi({ example: null }),
    basis: z.string().openapi({ example: PRICES_BASIS }),
  })
  .openapi("ReportPrices");

const approvalSchema = z
  .object({
    token: eip55Schema,
    spender: eip55Schema,
    kind: z.enum(["amount", "all"]).openapi({ description: "amount: ERC-20. all: every id of a collection" }),
    approved_at: isoSchema,
    last_used_at: isoSchema.nullable().openapi({
      description:
        "Last own call that used it or may have; null where none is known. Silence counts as disuse only where use_known",
      example: null,
    }),
    use_known: flag("Whether a use in the last 90 days would be known"),
    spender_facts: z
      .object({
        is_contract: z.boolean().nullable(),
        existed_at: isoSchema.nullable(),
        outside_users: int("Independent users in the window, counted up to 30", 1),
        flag: z.enum(["sanctioned", "mixer"]).nullable().openapi({ example: null }),
        own: flag("Whether it belongs to the wallet's owner"),
      })
      .nullable()
      .openapi({ description: "Null where nothing is known of the spender" }),
    risks: z
      .array(z.enum(["flagged", "no_code", "young", "unknown", "unused"]))
      .openapi({ example: ["young", "unknown"] }),
  })
  .openapi("OpenApproval", { description: "An open approval without limit" });

export const approvalsShape = {
  open_approvals: z
    .array(approvalSchema)
    .nullable()
    .openapi({ description: "Open approvals without limit, the riskiest first; null if not read" }),
  open_approvals_reason: z.string().nullable().openapi({ example: null }),
} as const;

const holdingSchema = z.object({
  token: eip55Schema,
  symbol: text("Of the token list; null for others", "USDC").nullable(),
  decimals: z.int().nullable().openapi({ example: 6 }),
  amount: tokenAmountSchema,
  recognised: z.boolean().openapi({ example: true }),
  value_usd: usdSchema.openapi({ example: 108 }),
  priced_by: z.enum(["feed", "own_trade"]).nullable(),
});

export const portfolioSchema = z
  .object({
    state: z.enum(["held", "none", "unread"]),
    reason: z.string().nullable().openapi({ example: null }),
    basis: z.string().openapi({ example: PORTFOLIO_BASIS }),
    total_usd: usdSchema.openapi({
      description: "Of recognised holdings that a feed prices; null where none is held, or nothing was read",
      example: 108,
    }),
    other_usd: usdSchema.openapi({
      description:
        "Of the other holdings, by what the wallet itself gave for them: a wallet that trades with itself can make it anything",
      example: null,
    }),
    unpriced_tokens: z.int().nullable(),
    holdings: z.array(holdingSchema),
  })
  .openapi("Portfolio");

export const recommendationSchema = z
  .object({
    kind: z.string().openapi({ example: "simulate_first" }),
    action: z.string().openapi({
      example:
        "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending and hold back what fails.",
    }),
    reason: z.string().openapi({
      example:
        "The fees of reverted calls bought nothing. Saved at most: a simulation cannot foresee every revert.",
    }),
    saves_usd_per_month: usdSchema.openapi({
      description: "Null where it is about safety, or where nothing prices the native coin",
      example: 0.007234,
    }),
    saves_eth_per_month: z.string().nullable().openapi({ example: "0.000002411368784" }),
    evidence: z.string().openapi({
      example: "calls: 2; 2411368784000 wei in 30 days; x 30 / 30 = 2411368784000 wei a month",
    }),
  })
  .openapi("Recommendation");

/** An amount of the native coin in the form of answers. */
export function renderMoney({ wei, microUsd }: Money): z.infer<typeof moneySchema> {
  return { wei: String(wei), eth: formatUnits(wei, NATIVE_DECIMALS), value_usd: toUsd(microUsd) };
}

/** The price of the native coin at the report's block, or the reason for its absence. */
export function renderPrices({ rows, asOf, market }: ReportFacts): z.infer<typeof pricesSchema> {
  const { symbol, decimals } = rows.tokens.native;
  const price = market.nativeWorth(10n ** BigInt(decimals), asOf.timestamp);
  return {
    native_symbol: symbol,
    native_usd: toUsd(price),
    reason: price === null ? NO_FEED : null,
    basis: PRICES_BASIS,
  };
}

/** Open approvals; if they are null, with the reason. */
export function renderApprovals(approvals: readonly ApprovalFinding[] | null) {
  return {
    open_approvals: approvals === null ? null : approvals.map(renderApproval),
    open_approvals_reason: approvals === null ? "the wallet's approvals were not read yet" : null,
  };
}

function renderApproval(finding: ApprovalFinding): z.infer<typeof approvalSchema> {
  const { approval, spender, lastUsedAt, useKnown, risks } = finding;
  return {
    token: toEip55(approval.token),
    spender: toEip55(approval.spender),
    kind: approval.kind,
    approved_at: isoOf(approval.approvedAt),
    last_used_at: lastUsedAt === null ? null : isoOf(lastUsedAt),
    use_known: useKnown,
    spender_facts:
      spender === null
        ? null
        : {
            is_contract: spender.hasCode,
            existed_at: spender.existedAt === null ? null : isoOf(spender.existedAt),
            outside_users: spender.outsideUsers,
            flag: spender.flag,
            own: spender.ownerLink !== null,
          },
    risks: [...risks],
  };
}

/** The portfolio in the form of answers. */
export function renderPortfolio(portfolio: Portfolio): z.infer<typeof portfolioSchema> {
  const base = { state: portfolio.kind, basis: PORTFOLIO_BASIS };
  if (portfolio.kind !== "held") {
    const nothing = { total_usd: null, other_usd: null, unpriced_tokens: null, holdings: [] };
    return { ...base, reason: portfolio.reason, ...nothing };
  }
  return {
    ...base,
    reason: null,
    total_usd: toUsd(portfolio.recognisedMicroUsd),
    other_usd: toUsd(portfolio.otherMicroUsd),
    unpriced_tokens: portfolio.unpriced,
    holdings: portfolio.positions.map((position) => ({
      ...fieldsOf(holdingSchema.shape, position),
      token: toEip55(position.token),
      value_usd: toUsd(position.microUsd),
    })),
  };
}

export function renderAdvice({
  kind,
  action,
  reason,
  saves,
  evidence,
}: Advice): z.infer<typeof recommendationSchema> {
  return {
    ...{ kind, action, reason, evidence },
    saves_usd_per_month: saves === null ? null : toUsd(saves.microUsd),
    saves_eth_per_month: saves === null ? null : formatUnits(saves.wei, NATIVE_DECIMALS),
  };
}
