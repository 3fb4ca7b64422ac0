import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { SanctionsFlag } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { chainLabels, type KnownAccounts } from "../../reports/labels/chain-labels.ts";
import type { ProviderAnswer, ReadLabels } from "../../reports/labels/label-reader.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import { type Pnl, profitAndLoss, type TokenPnl } from "../../reports/profit-and-loss/pnl.ts";
import { definePaid } from "../kit/endpoint.ts";
import {
  freshStanding,
  noteInterest,
  notIndexed,
  type ReportPorts,
  type ReportSource,
  readReport,
  reportScope,
  reportScopeShape,
} from "../kit/wallet-report.ts";
import { answerRisk, RISK_EXAMPLE, type RiskPorts, riskShape } from "../schemas/risk.ts";
import { addressParams, eip55Schema, isoSchema, toEip55 } from "../schemas/values.ts";

const usd = z.number().nullable();
const amount = z.string().regex(/^\d+$/);
const count = z.int().min(0);

const tokenSchema = z
  .object({
    token: eip55Schema,
    symbol: z.string().nullable().openapi({ description: "Null where the token is not on the list" }),
    decimals: z.int().nullable(),
    currency: z.boolean().openapi({
      description:
        "Money: always priced within 5 % of one US dollar. What gains are counted in has no sale, cost or result of its own",
    }),
    bought: amount.openapi({ description: "Got in trades; amounts are in the token's smallest unit" }),
    sold: amount.openapi({ description: "Given in trades" }),
    received: amount.openapi({ description: "Got for nothing in return" }),
    sent: amount.openapi({
      description:
        "Given for nothing in return, at its cost, with which it comes back from the same contract",
    }),
    uncovered: amount.openapi({
      description: "Given, though it never came by an own call: of no known cost",
    }),
    held: amount.openapi({ description: "Left of what came by own calls" }),
    realised_usd: usd.openapi({ description: "Null where no sale has a known price and cost" }),
    cost_usd: usd.openapi({ description: "Of what is held, where its cost is known" }),
    worth_usd: usd.openapi({ description: "Of the same, as of the block" }),
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

/** Profit and loss in answers. */
const pnlSchema = z
  .object({
    ...reportScopeShape,
    realised_usd: usd.openapi({
      description: "0 where nothing was sold; null where something was and no gain is known",
    }),
    unrealised_usd: usd.openapi({ description: "Of tokens that a feed prices; fees are not in it" }),
    fees_usd: usd.openapi({ description: "Paid for all own calls, and in neither result" }),
    trades: count.openapi({ description: "Calls that gave something and got tokens for it" }),
    sales: count.openapi({
      description: "Times that a trade gave a token that is no currency: spending money is no sale",
    }),
    wins: count.openapi({ description: "Sales that gained a cent or more" }),
    losses: count.openapi({ description: "Sales that lost a cent or more" }),
    win_rate: z.number().min(0).max(1).nullable().openapi({ description: "Wins among wins and losses" }),
    unpriced_share: z.number().min(0).max(1).nullable().openapi({
      description:
        "Purchases and sales without a known price or, in part at least, a known cost, among all those of tokens that are no currency",
    }),
    returns: count.openapi({
      description:
        "Times that a token came back from the contract that it had been sent to: it costs what it had cost before",
    }),
    worthless_legs: count.openapi({
      description:
        "Legs of trades that were taken for worthless: of tokens on no list and without a price, beside one that has a price",
    }),
    unread_receipts: count.openapi({
      description: "Successful calls whose receipts were not read: what they moved is not known",
    }),
    method: z.string(),
    token_count: count,
    tokens: z.array(tokenSchema).openapi({ description: "The largest results first, at most 50" }),
  })
  .openapi("Pnl", { description: "Profit and loss by the wallet's own calls" });

type PnlAnswer = z.infer<typeof pnlSchema>;

const MAX_TOKENS = 50;
const MICROS = 1e6;

/** How the figures are computed. Gains on the native coin are unknown, because its transfers leave no logs. */
const PNL_METHOD =
  "FIFO lots over the tokens that the wallet's own calls moved. A trade is worth what the daily feed prices say of the side that moves least, else of the side that they price; a token that came for nothing costs what it was worth on its day; payments and deposits leave at their cost, with which they come back from the same contract. Beside a priced leg, one without a price of a token on no list is worth nothing. Tokens always priced within 5 % of one US dollar are money: they have no sale, cost or gain of their own. Native coin is no token here.";

/** Profit and loss of the last `days`, with its scope. */
export function renderPnl(pnl: Pnl, source: ReportSource, days: number): PnlAnswer {
  return {
    ...reportScope(source, days),
    realised_usd: toUsd(pnl.realised),
    unrealised_usd: toUsd(pnl.unrealised),
    fees_usd: toUsd(pnl.fees),
    trades: pnl.trades,
    sales: pnl.sales,
    wins: pnl.wins,
    losses: pnl.losses,
    win_rate: rounded(pnl.winRate),
    unpriced_share: rounded(pnl.unpricedShare),
    returns: pnl.returns,
    worthless_legs: pnl.worthlessLegs,
    unread_receipts: pnl.unreadReceipts,
    method: PNL_METHOD,
    token_count: pnl.tokens.length,
    tokens: pnl.tokens.slice(0, MAX_TOKENS).map(renderToken),
  };
}

function renderToken(token: TokenPnl): PnlAnswer["tokens"][number] {
  return {
    token: toEip55(token.token),
    symbol: token.symbol,
    decimals: token.decimals,
    currency: token.isCurrency,
    bought: String(token.bought),
    sold: String(token.sold),
    received: String(token.received),
    sent: String(token.sent),
    uncovered: String(token.uncovered),
    held: String(token.held),
    realised_usd: toUsd(token.realised),
    cost_usd: toUsd(token.cost),
    worth_usd: toUsd(token.worth),
    unrealised_usd: toUsd(token.unrealised),
    priced_by: token.pricedBy,
    sales: token.sales,
    wins: token.wins,
    losses: token.losses,
    returns: token.returns,
    unpriced_legs: token.unpricedLegs,
  };
}

function toUsd(micros: bigint | null): number | null {
  return micros === null ? null : Number(micros) / MICROS;
}

function rounded(share: number | null): number | null {
  return share === null ? null : Math.round(share * MICROS) / MICROS;
}

const labelSchema = z
  .object({
    label: z.string(),
    category: z.string().nullable(),
    source: z.string().openapi({
      description:
        "deployment, identity-registry or index for labels from the chain; the list of a sanctioned wallet; else the provider",
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
const riskPremiumSchema = z
  .object({
    ...riskShape,
    labels: z.array(labelSchema).openapi({ description: "The chain's own first" }),
    labels_available: z.boolean().openapi({
      description:
        "Whether every third-party provider answered, and there is one: if not, nothing follows from the absence of a label",
    }),
    labels_unavailable_reason: z.enum(["no_provider_configured", "provider_failed"]).nullable().openapi({
      description:
        "Why labels_available is false: no third party is configured, or one did not answer, see label_providers",
    }),
    label_providers: z.array(providerSchema),
    pnl: pnlSchema,
  })
  .openapi("PremiumRisk");

export type RiskPremiumAnswer = z.infer<typeof riskPremiumSchema>;

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

export type GetRiskPremiumPorts = ReportPorts &
  RiskPorts & {
    /** Labels of third parties. */
    readonly readLabels: ReadLabels;
    readonly knownAccounts: KnownAccounts;
    readonly describeAccounts: (
      addresses: readonly Address[],
    ) => Promise<ReadonlyMap<Address, AccountDetail>>;
    readonly policy: Pick<Policy, "window">;
  };

/** GET /risk/premium/{address}. */
export const getRiskPremium = definePaid({
  method: "get",
  path: "/risk/premium/{address}",
  price: 50,
  tag: "Risk",
  summary: "Risk of a wallet with its labels and its profit and loss",
  description:
    "The answer of `GET /risk/{address}`, with what the chain and third-party providers call the wallet, and what it gained and lost by trading. A provider that does not answer is no error: `labels_available` is false then, and `label_providers` says why; so it is where none is configured, which `labels_unavailable_reason` tells apart. What no price or cost is known of is no zero: `pnl` names the share that is missing.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: {
    schema: riskPremiumSchema,
    example: RISK_PREMIUM_EXAMPLE,
    description: "The risk and what is behind it",
  },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable"],
  async check({ params: { address } }, { deps, now }: { deps: GetRiskPremiumPorts; now: Date }) {
    const standing = await freshStanding(address, deps, now);
    if (!standing.followed) throw notIndexed(address);
    return standing;
  },
  async work({ params: { address } }, standing, { deps, now }): Promise<RiskPremiumAnswer> {
    const [risk, report, providers, accounts] = await Promise.all([
      answerRisk({ address, standing, now }, deps),
      readReport(address, deps),
      deps.readLabels(address),
      deps.describeAccounts([address]),
    ]);
    noteInterest(address, deps);
    const { days } = deps.policy.window;
    const detail = accounts.get(address) ?? { agents: [], hasCode: null };
    const labels = [
      ...standing.sanctions.map(sanctionLabel),
      ...chainLabels(address, deps.knownAccounts, detail),
      ...providers.flatMap(providedLabels),
    ];
    return {
      ...risk,
      labels,
      ...availabilityOf(providers),
      label_providers: providers.map(renderProvider),
      pnl: renderPnl(profitAndLoss(report, days), report, days),
    };
  },
});

type Label = RiskPremiumAnswer["labels"][number];

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

function sanctionLabel({ source }: SanctionsFlag): Label {
  return { label: "Sanctioned", category: "sanctioned", source };
}

function providedLabels(answer: ProviderAnswer): readonly Label[] {
  if (!answer.available) return [];
  return answer.labels.map((label) => ({ ...label, source: answer.provider }));
}

function renderProvider(answer: ProviderAnswer): RiskPremiumAnswer["label_providers"][number] {
  const { provider } = answer;
  return answer.available
    ? { provider, available: true, reason: null, read_at: answer.readAt.toISOString() }
    : { provider, available: false, reason: answer.reason, read_at: null };
}
