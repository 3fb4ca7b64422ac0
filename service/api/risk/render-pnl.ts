import { z } from "@hono/zod-openapi";
import type { Pnl, TokenPnl } from "../../reports/profit-and-loss/pnl.ts";
import { eip55Schema, toEip55 } from "../address-schema.ts";
import { type ReportSource, reportScope, reportScopeShape } from "../wallet-report.ts";

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

/** Profit and loss as answers show it. */
export const pnlSchema = z
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

/** How the figures came about; gains on the native coin itself cannot be told, since it comes without a trace. */
export const PNL_METHOD =
  "FIFO lots over the tokens that the wallet's own calls moved. A trade is worth what the daily feed prices say of the side that moves least, else of the side that they price; a token that came for nothing costs what it was worth on its day; payments and deposits leave at their cost, with which they come back from the same contract. Beside a priced leg, one without a price of a token on no list is worth nothing. Tokens always priced within 5 % of one US dollar are money: they have no sale, cost or gain of their own. Native coin is no token here.";

/** Profit and loss with what it speaks of; `days` is how far back it looks. */
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
