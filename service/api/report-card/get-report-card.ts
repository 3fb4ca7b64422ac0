import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { BoughtAnswer } from "../../access/access.ts";
import { unavailable } from "../../access/problems.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { AccountDetail } from "../../reports/network/wallet-network-accounts.ts";
import type { ScoreDistribution } from "../../scores/ecosystem.ts";
import type { DayScore } from "../../scores/scores.ts";
import { addressParams, toEip55 } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { type ScoreRecordPorts, scoredRow } from "../scores/score-record.ts";
import { noteInterest } from "../wallet-ports.ts";
import { type ReportPorts, requireFollowed } from "../wallet-report.ts";
import { viewOf } from "./card-view.ts";
import { renderReportCard } from "./get-report-card-answer.ts";
import { REPORT_CARD_EXAMPLE, type ReportCard, reportCardSchema } from "./get-report-card-schema.ts";
import type { CardFormat } from "./make-card.ts";
import { type CardRenderer, CardsOverloaded } from "./render-pool.ts";

export type GetReportCardPorts = Pick<
  ScoreRecordPorts & ReportPorts,
  "logger" | "recordInterest" | "maxIndexAgeSeconds" | "scoreNow" | "readWallet"
> & {
  readonly scores: ScoreRecordPorts["scores"];
  /** Of the last 90 days that have one, oldest first. */
  readonly dailyScores: (address: Address) => Promise<readonly DayScore[]>;
  readonly policy: Policy;
  readonly scoreDistribution: () => Promise<ScoreDistribution>;
  /** What is known now of accounts, each once. */
  readonly describeAccounts: (addresses: readonly Address[]) => Promise<ReadonlyMap<Address, AccountDetail>>;
  readonly cards: Pick<CardRenderer, "hasRoom" | "render">;
};

const FORMATS = ["json", "png", "svg"] as const;
const MEDIA_TYPES = { png: "image/png", svg: "image/svg+xml" } as const;
const RETRY_AFTER_SECONDS = 5;

const query = z.object({
  format: z
    .enum(FORMATS)
    .default("json")
    .openapi({
      param: { name: "format", in: "query" },
      description: "json, or a picture of 1200 × 630 pixels",
    }),
});

/** GET /report-card/{address}. */
export const getReportCard = definePaid({
  method: "get",
  path: "/report-card/{address}",
  price: 2000,
  tag: "Scores",
  summary: "Visual report card of a wallet with benchmarks",
  description:
    "Scores the wallet as GET /ahs/{address} does and answers what the score is made of in words, how it stands among all scored wallets of the chain, and how it went. With `format=png` or `format=svg` the same as a picture, drawn for this answer alone and kept at no public address. A wallet without enough history is shown as that, without a rank.",
  request: { params: addressParams, query, body: null },
  answer: {
    schema: reportCardSchema,
    example: REPORT_CARD_EXAMPLE,
    description: "The report card",
    renderings: Object.values(MEDIA_TYPES),
  },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "deadline-exceeded"],
  async check({ params, query }, { deps, now }: { deps: GetReportCardPorts; now: Date }) {
    await requireFollowed(params.address, deps, now);
    if (query.format !== "json" && !deps.cards.hasRoom()) throw overloaded();
  },
  async work({ params: { address } }, _, { deps, now }): Promise<ReportCard> {
    const row = await scoredRow(address, deps.scoreNow);
    const [source, history, distribution, details] = await Promise.all([
      deps.readWallet(address),
      deps.dailyScores(address),
      deps.scoreDistribution(),
      deps.describeAccounts([address]),
    ]);
    noteInterest(address, deps);
    const agents = details.get(address)?.agents ?? [];
    const { policy } = deps;
    return renderReportCard({
      ...{ address: toEip55(address), row, source, history },
      ...{ agents, distribution, policy, now },
    });
  },
  render(card, { query: { format } }, { deps }) {
    return format === "json" ? null : draw(card, format, deps.cards);
  },
});

async function draw(
  card: ReportCard,
  format: CardFormat,
  cards: GetReportCardPorts["cards"],
): Promise<BoughtAnswer> {
  try {
    return { contentType: MEDIA_TYPES[format], body: await cards.render(viewOf(card), format) };
  } catch (error) {
    if (error instanceof CardsOverloaded) throw overloaded(error);
    throw error;
  }
}

function overloaded(cause?: CardsOverloaded) {
  return unavailable("deadline-exceeded", "Too many report cards wait to be drawn.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...(cause === undefined ? {} : { cause }),
  });
}
