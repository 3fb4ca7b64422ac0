import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { SanctionsFlag } from "../../model/features/types.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { TokenFact } from "../../reports/labels/chain-labels.ts";
import { chainLabels } from "../../reports/labels/chain-labels.ts";
import type { ProviderAnswer } from "../../reports/labels/label-reader.ts";
import { type Pnl, profitAndLoss, type TokenPnl } from "../../reports/profit-and-loss/pnl.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { ReportNeeds, ScoredNeeds } from "../kit/wallet-report.ts";
import {
  type ReportSource,
  readReport,
  reportScope,
  reportScopeShape,
  requireKnown,
} from "../kit/wallet-report.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import type { RiskNeeds } from "../schemas/risk.ts";
import { answerRisk, riskShape } from "../schemas/risk.ts";
import {
  addressParams,
  eip55Schema,
  fieldsOf,
  flag,
  isoSchema,
  share,
  text,
  toEip55,
  toUsd,
  wholeSchema,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ScoredNeeds &
  ReportNeeds &
  RiskNeeds &
  AccountNeeds & {
    /** Labels of third parties. */
    readonly readLabels: (wallet: Address) => Promise<readonly ProviderAnswer[]>;
  };

const usd = z.number().nullable().openapi({ example: 500 });
const amount = wholeSchema.openapi({ example: "500000000000000000" });
const count = z.int().min(0);

const tokenSchema = z
  .object({
    token: eip55Schema,
    symbol: text("Null if neither the operator's list nor the token contract has one", "WETH").nullable(),
    decimals: z.int().nullable().openapi({ example: 18 }),
    verified: flag(
      "Whether the operator lists the token; if not, symbol and decimals are the contract's own",
    ),
    currency: flag(
      "Money: always priced within 5% of one US dollar. Gains are counted in money, which has no sale, cost or result of its own",
    ),
    bought: amount.openapi({ description: "Got in trades; amounts are in the token's smallest unit" }),
    sold: amount.openapi({ description: "Given in trades" }),
    received: amount.openapi({ description: "Got for nothing in return" }),
    sent: amount.openapi({
      description:
        "Given for nothing in return, at its cost, with which it comes back from the same contract",
    }),
    sold_without_cost: amount.openapi({
      description: "Sold or sent, though no own call had acquired it: its cost is unknown",
    }),
    held: amount.openapi({ description: "Left of what came by own calls" }),
    realised_usd: usd.openapi({ description: "Null where no sale has a known price and cost" }),
    cost_usd: usd.openapi({ description: "Of what is held, where its cost is known" }),
    value_usd: usd.openapi({ description: "Of the same, as of the block" }),
    unrealised_usd: usd,
    priced_by: z
      .enum(["feed", "own_trade"])
      .nullable()
      .openapi({ description: "own_trade: the wallet's newest trade of it, left out of the total" }),
    sales: count,
    wins: count,
    losses: count,
    returns: count.openapi({ description: "Times that it came back from where it had been sent" }),
    unpriced_legs: count,
  })
  .openapi("TokenPnl");

/** How the figures are computed. Gains on the native coin are unknown, because its transfers leave no logs. */
const PNL_METHOD_ID = "fifo-1";
const PNL_METHOD =
  "FIFO lots over the tokens that the wallet's own calls moved. A trade is worth what the daily feed prices say of the side that moves least, else of the side that they price; a token that came for nothing costs what it was worth on its day; payments and deposits leave at their cost, with which they come back from the same contract. Beside a priced leg, one without a price of a token on no list is worth nothing. Tokens always priced within 5% of one US dollar are money: they have no sale, cost or gain of their own. Native coin is no token here.";

/** Profit and loss in answers. */
const pnlSchema = z
  .object({
    ...reportScopeShape,
    realised_usd: usd.openapi({
      description: "0 where nothing was sold; null where something was and no gain is known",
    }),
    unrealised_usd: usd.openapi({ description: "Of tokens that a feed prices; fees are not in it" }),
    fees_usd: usd.openapi({ description: "Paid for all own calls, and in neither result", example: 12.6 }),
    trades: count.openapi({ description: "Calls that gave something and got tokens for it", example: 3 }),
    sales: count.openapi({
      description: "Times that a trade gave a token that is no currency: spending money is no sale",
      example: 1,
    }),
    wins: count.openapi({ description: "Sales that gained a cent or more", example: 1 }),
    losses: count.openapi({ description: "Sales that lost a cent or more" }),
    win_rate: share("Wins among wins and losses", 1).nullable(),
    unpriced_share: share(
      "Purchases and sales without a known price or, in part at least, a known cost, among all those of tokens that are no currency",
    ).nullable(),
    returns: count.openapi({
      description:
        "Times that a token came back from the contract that it had been sent to: it costs what it had cost before",
    }),
    zero_valued_transfers: count.openapi({
      description:
        "Transfers within trades that count as worth 0: of unlisted tokens without a price, beside a token with a price",
    }),
    unread_receipts: count.openapi({
      description: "Successful calls whose receipts were not read: what they moved is not known",
    }),
    method: z.literal(PNL_METHOD_ID).openapi({ description: PNL_METHOD }),
    token_count: count.openapi({ example: 1 }),
    tokens: z.array(tokenSchema).openapi({ description: "The largest results first, at most 50" }),
  })
  .openapi("Pnl", { description: "Profit and loss by the wallet's own calls" });

const MAX_TOKENS = 50;

type PnlScope = {
  readonly source: ReportSource;
  readonly days: number;
  /** Symbols and decimals that contracts of unlisted tokens report. */
  readonly reported?: ReadonlyMap<Address, TokenFact>;
};

/** Profit and loss of the last `days`, with its scope. */
export function renderPnl(
  pnl: Pnl,
  { source, days, reported = new Map() }: PnlScope,
): z.infer<typeof pnlSchema> {
  return {
    ...reportScope(source, days),
    ...fieldsOf(pnlSchema.shape, pnl),
    realised_usd: toUsd(pnl.realised),
    unrealised_usd: toUsd(pnl.unrealised),
    fees_usd: toUsd(pnl.fees),
    win_rate: pnl.winRate === null ? null : roundMicro(pnl.winRate),
    unpriced_share: pnl.unpricedShare === null ? null : roundMicro(pnl.unpricedShare),
    method: PNL_METHOD_ID,
    zero_valued_transfers: pnl.worthlessLegs,
    token_count: pnl.tokens.length,
    tokens: pnl.tokens.slice(0, MAX_TOKENS).map((token) => renderToken(token, reported.get(token.token))),
  };
}

function renderToken(
  token: TokenPnl,
  reported: TokenFact | undefined,
): z.infer<typeof pnlSchema>["tokens"][number] {
  return {
    ...fieldsOf(tokenSchema.shape, token),
    token: toEip55(token.token),
    currency: token.isCurrency,
    sold_without_cost: String(token.uncovered),
    symbol: token.symbol ?? reported?.symbol ?? null,
    decimals: token.decimals ?? reported?.decimals ?? null,
    verified: token.symbol !== null,
    realised_usd: toUsd(token.realised),
    cost_usd: toUsd(token.cost),
    value_usd: toUsd(token.worth),
    unrealised_usd: toUsd(token.unrealised),
  };
}

const labelSchema = z
  .object({
    label: z.string().openapi({ example: "Dex Trader" }),
    category: z.string().nullable().openapi({ example: "defi" }),
    source: text(
      "deployment or identity-registry for labels from the chain; the list of a sanctioned wallet; else the provider",
      "nansen",
    ),
  })
  .openapi("WalletLabel");

const providerSchema = z
  .object({
    provider: z.string().openapi({ example: "nansen" }),
    available: z.boolean().openapi({ example: true }),
    reason: z
      .enum(["timeout", "unconnected", "unavailable", "rate_limited", "refused", "malformed", "broken"])
      .nullable()
      .openapi({
        description: "Why its labels are missing; broken: it failed too often to be asked now",
        example: null,
      }),
    read_at: isoSchema.nullable().openapi({ description: "When it was asked; its answer is kept for a day" }),
  })
  .openapi("LabelProvider");

/** The answer of GET /risk/premium/{address}. */
const riskPremiumSchema = z
  .object({
    ...riskShape,
    labels: z.array(labelSchema).openapi({ description: "The chain's own first" }),
    labels_available: flag(
      "Whether every third-party provider answered, and there is one: if not, nothing follows from the absence of a label",
      true,
    ),
    labels_unavailable_reason: z.enum(["no_provider_configured", "provider_failed"]).nullable().openapi({
      description:
        "Why labels_available is false: no third party is configured, or one did not answer, see label_providers",
      example: null,
    }),
    label_providers: z.array(providerSchema),
    pnl: pnlSchema,
  })
  .openapi("PremiumRisk");

export type RiskPremiumAnswer = z.infer<typeof riskPremiumSchema>;

/** GET /risk/premium/{address}. */
export const getRiskPremium = definePaid<Needs>()({
  method: "get",
  path: "/risk/premium/{address}",
  operationId: "check_premium_risk",
  tool: "Checks the risk of a wallet in depth: everything of check_risk, with labels of third parties, profit and loss, and signs of self-dealing. Use it before a large or repeated engagement.",
  price: { units: 50 },
  tag: "Risk",
  summary: "Risk of a wallet with its labels and its profit and loss",
  description:
    "The answer of `GET /risk/{address}`, with what the chain and third-party providers call the wallet, and what it gained and lost by trading. `labels_available` is false if a provider failed or none is configured (see `labels_unavailable_reason`). Unknown prices and costs are null, not 0; `pnl.unpriced_share` says how much is missing.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: riskPremiumSchema, description: "The risk and what is behind it" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  check: ({ params }, { deps, now }) => requireKnown(params.address, deps, now),
  // Providers of labels charge for each question.
  payment: { settled: "before" },
  interestIn: ({ address }) => [address],
  async work({ params: { address } }, snapshot, { deps, now }): Promise<RiskPremiumAnswer> {
    const [risk, report, providers, accounts] = await Promise.all([
      answerRisk({ address, snapshot, now }, deps),
      readReport(address, deps),
      deps.readLabels(address),
      deps.describeAccounts([address]),
    ]);
    const { days } = deps.policy.window;
    const pnl = profitAndLoss(report, days);
    const unlisted = pnl.tokens.slice(0, MAX_TOKENS).filter(({ symbol }) => symbol === null);
    const reported = await deps.readTokens(unlisted.map(({ token }) => token));
    const detail = accounts.get(address) ?? { agents: [] };
    const labels = [
      ...snapshot.sanctions.map(sanctionLabel),
      ...chainLabels(address, deps.knownAccounts, detail),
      ...providers.flatMap(providedLabels),
    ];
    return {
      ...risk,
      labels,
      ...availabilityOf(providers),
      label_providers: providers.map(renderProvider),
      pnl: renderPnl(pnl, { source: report, days, reported }),
    };
  },
});

function availabilityOf(
  providers: readonly ProviderAnswer[],
): Pick<RiskPremiumAnswer, "labels_available" | "labels_unavailable_reason"> {
  if (providers.length === 0) {
    return { labels_available: false, labels_unavailable_reason: "no_provider_configured" };
  }
  return providers.every(({ available }) => available)
    ? { labels_available: true, labels_unavailable_reason: null }
    : { labels_available: false, labels_unavailable_reason: "provider_failed" };
}

function sanctionLabel({ source }: SanctionsFlag): RiskPremiumAnswer["labels"][number] {
  return { label: "Sanctioned", category: "sanctioned", source };
}

function providedLabels(answer: ProviderAnswer): readonly RiskPremiumAnswer["labels"][number][] {
  if (!answer.available) return [];
  return answer.labels.map((label) => ({ ...label, source: answer.provider }));
}

function renderProvider(answer: ProviderAnswer): RiskPremiumAnswer["label_providers"][number] {
  const { provider } = answer;
  return answer.available
    ? { provider, available: true, reason: null, read_at: answer.readAt.toISOString() }
    : { provider, available: false, reason: answer.reason, read_at: null };
}
