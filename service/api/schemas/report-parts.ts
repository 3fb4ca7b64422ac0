import { z } from "@hono/zod-openapi";
import { type Address, formatUnits, type Hex } from "viem";
import type { ApprovalFinding } from "../../reports/diagnosis/approvals.ts";
import type { Portfolio } from "../../reports/diagnosis/health.ts";
import type { Advice } from "../../reports/diagnosis/health-advice.ts";
import type { Money, ReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { AccountDetail, KnownAccounts, TokenReader } from "../../reports/labels/chain-labels.ts";
import { methodName } from "../../reports/labels/method-names.ts";

import {
  eip55Schema,
  fieldsOf,
  flag,
  int,
  isoOf,
  isoSchema,
  severitySchema,
  text,
  toEip55,
  toUsd,
  wholeSchema,
} from "./values.ts";

/** Services of answers that name accounts. */
export type AccountNeeds = {
  readonly describeAccounts: (accounts: readonly Address[]) => Promise<ReadonlyMap<Address, AccountDetail>>;
  readonly knownAccounts: KnownAccounts;
  /** Symbols and decimals that token contracts report, unverified; tokens that could not be read have no entry. */
  readonly readTokens: TokenReader;
};

const NATIVE_DECIMALS = 18;
const NO_FEED = "No feed prices the native coin.";
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

const methodSchema = text("Usual signature of the selector", "execute(bytes,bytes[],uint256)").nullable();
const contractNameSchema = text(
  "Name that the deployment gives the contract; null for a contract that it does not name",
  "Uniswap v4 universal router",
).nullable();

/** The target of a group of calls. */
export const calledShape = {
  contract: eip55Schema
    .nullable()
    .openapi({ description: "Null for contract creations and unknown targets" }),
  contract_name: contractNameSchema,
  selector: text("Null for plain transfers", "0x3593564c").nullable(),
  method: methodSchema,
} as const;

/** The target of a group of calls in the form of answers, null members for none. */
export function renderCalled(
  called: { readonly contract: Address | null; readonly selector: Hex | null } | null,
  known: KnownAccounts,
) {
  const { contract, selector } = called ?? { contract: null, selector: null };
  return {
    contract: addressOrNull(contract),
    contract_name: contract === null ? null : (known.get(contract)?.[0]?.label ?? null),
    selector,
    method: methodName(selector),
  };
}

export const pricesSchema = z
  .object({
    native_symbol: z.string().openapi({ example: "ETH" }),
    native_usd: usdSchema.openapi({ example: 3000 }),
    reason: text("Why there is no price").nullable().openapi({ example: null }),
  })
  .openapi("ReportPrices", {
    description:
      "Each call is valued at the last answer of the price feed before its UTC day, rounded to 1e-6 USD",
  });

const APPROVAL_KINDS = { amount: "erc20_allowance", all: "approval_for_all" } as const;

const approvalSchema = z
  .object({
    token: eip55Schema,
    spender: eip55Schema,
    kind: z.enum(Object.values(APPROVAL_KINDS)).openapi({
      description:
        "erc20_allowance: unlimited allowance of an ERC-20 token. approval_for_all: every token of an ERC-721 or ERC-1155 collection",
    }),
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
  .openapi("Portfolio", {
    description:
      "Tokens that the wallet's own calls of the 180 days before its last one brought in, less what they took out. It omits transfers by others, earlier holdings and the native coin. Values are those of the day of the last own call",
  });

const gasLimitSchema = wholeSchema.nullable();

/** The numbers of an advice. */
export const adviceShape = {
  severity: severitySchema,
  action: text(
    "What to do",
    "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending, and do not send those that fail.",
  ),
  reason: text(
    "Why, with the numbers in words",
    "2 calls of 30 reverted in 30 days and cost 0.24 USD. A simulation does not foresee every revert, so the saving is an upper bound.",
  ),
  saves_usd_per_month: usdSchema.openapi({
    description:
      "Upper bound. Null for advice about safety, or if nothing prices the native coin: see `fees` then",
    example: 0.24,
  }),
  contract: eip55Schema.nullable().openapi({
    description: "Contract of the calls; null for contract creations and for advice about safety",
  }),
  contract_name: contractNameSchema,
  selector: text("Method of the calls; null for plain transfers", "0x3593564c").nullable(),
  method: methodSchema,
  calls: int("Calls that it is about; null for advice about safety", 2).nullable(),
  suggested_gas_limit: gasLimitSchema.openapi({
    description: "Units of gas, decimal; null for other advice",
    example: null,
  }),
  token: eip55Schema.nullable().openapi({ description: "Token of an approval", example: null }),
  spender: eip55Schema
    .nullable()
    .openapi({ description: "Spender of an approval, or the account of a delegation", example: null }),
} as const;

export const recommendationSchema = z
  .object({
    kind: z
      .enum([
        "leave_listed_accounts",
        "revoke_delegation",
        "revoke_approval",
        "simulate_first",
        "set_gas_limit",
        "pay_market_price",
      ])
      .openapi({ example: "simulate_first" }),
    ...adviceShape,
    fees: moneySchema.nullable().openapi({
      description: "What the saving is computed from: fees of the window; null for advice about safety",
    }),
  })
  .openapi("Recommendation");

/** The numbers of an advice in the form of answers. */
export function renderAdviceNumbers(
  advice: Pick<
    Advice,
    "severity" | "action" | "reason" | "called" | "calls" | "suggestedLimit" | "spender" | "token" | "saves"
  >,
  known: KnownAccounts,
) {
  const { severity, action, reason, called, calls, suggestedLimit, spender, token, saves } = advice;
  return {
    severity,
    action,
    reason,
    calls,
    saves_usd_per_month: saves === null ? null : toUsd(saves.microUsd),
    ...renderCalled(called, known),
    suggested_gas_limit: suggestedLimit === null ? null : String(suggestedLimit),
    token: addressOrNull(token),
    spender: addressOrNull(spender),
  };
}

export function addressOrNull(address: Address | null): Address | null {
  return address === null ? null : toEip55(address);
}

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
  };
}

/** Open approvals; if they are null, with the reason. */
export function renderApprovals(approvals: readonly ApprovalFinding[] | null) {
  return {
    open_approvals: approvals === null ? null : approvals.map(renderApproval),
    open_approvals_reason: approvals === null ? "The approvals of the wallet were not read yet." : null,
  };
}

function renderApproval(finding: ApprovalFinding): z.infer<typeof approvalSchema> {
  const { approval, spender, lastUsedAt, useKnown, risks } = finding;
  return {
    token: toEip55(approval.token),
    spender: toEip55(approval.spender),
    kind: APPROVAL_KINDS[approval.kind],
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
  const base = { state: portfolio.kind };
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

export function renderAdvice(advice: Advice, known: KnownAccounts): z.infer<typeof recommendationSchema> {
  const { kind, fees } = advice;
  return { kind, ...renderAdviceNumbers(advice, known), fees: fees === null ? null : renderMoney(fees) };
}
