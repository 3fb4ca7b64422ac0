import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import { UNUSED_DAYS } from "../../reports/diagnosis/approvals.ts";
import { diagnoseHealth } from "../../reports/diagnosis/health.ts";
import { gatherReportFacts } from "../../reports/diagnosis/report-facts.ts";
import type { TransferReader } from "../../reports/profit-and-loss/wallet-transfers.ts";
import type { WalletLifeReader } from "../../scores/wallet-life.ts";
import { addressParams } from "../address-schema.ts";
import { definePaid } from "../endpoint.ts";
import { type ScoreRecordPorts, scoredRow } from "../scores/score-record.ts";
import { freshStanding, noteInterest } from "../wallet-ports.ts";
import { notIndexed, type ReportPorts, type ReportSource, readReport } from "../wallet-report.ts";
import { HEALTH_EXAMPLE } from "./get-health-example.ts";
import { renderHealth } from "./get-health-render.ts";
import { type HealthAnswer, healthSchema } from "./get-health-schema.ts";

export type GetHealthPorts = ReportPorts &
  Pick<ScoreRecordPorts, "scoreOnDemand"> & {
    readonly walletLife: WalletLifeReader;
    readonly walletTransfers: Pick<TransferReader, "drawnTokens">;
    readonly policy: Policy;
  };

/** GET /health/{address}. */
export const getHealth = definePaid({
  method: "get",
  path: "/health/{address}",
  price: 500,
  tag: "Reports",
  summary: "Operational health of a wallet",
  description:
    "What the wallet's own calls of 180 days cost and what of it was wasted: success rate, fees of failures by cause, contract and method, activity by week, what its own calls left it with, approvals without limit that stand, and what to do about it, ranked by the money that it saves. USD at the prices of the day. What is not known is null, with the reason beside it. A wallet outside the index is read from the history source that the deployment names, if it names one, and is followed from then on; while that goes on, or when the source fails, the answer is 503 and costs nothing.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: healthSchema, example: HEALTH_EXAMPLE, description: "The report" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "history-unavailable",
  ],
  async check({ params: { address } }, { deps, now }: { deps: GetHealthPorts; now: Date }) {
    const { followed } = await freshStanding(address, deps, now);
    if (followed) return { fetchHistory: null };
    if (deps.scoreOnDemand === null) throw notIndexed(address);
    return { fetchHistory: deps.scoreOnDemand };
  },
  settlement: (_input, { fetchHistory }) => (fetchHistory === null ? "after" : "before"),
  async work({ params: { address } }, { fetchHistory }, { deps }): Promise<HealthAnswer> {
    if (fetchHistory !== null) await scoredRow(address, fetchHistory);
    const source = await readReport(address, deps);
    const [life, drawnTokens] = await Promise.all([
      deps.walletLife(address, source.asOf.blockNumber),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    noteInterest(address, deps);
    const facts = gatherReportFacts(source, deps.policy);
    return renderHealth({ facts, health: diagnoseHealth(facts, { drawnTokens }), life });
  },
});

/** The time in which a use of an approval counts. */
export function ninetyDays(wallet: Address, { asOf }: ReportSource) {
  const since = asOf.timestamp - UNUSED_DAYS * SECONDS_PER_DAY;
  return { wallet, throughBlock: asOf.blockNumber, since };
}
