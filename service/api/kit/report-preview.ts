import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { findApprovals } from "../../reports/diagnosis/approvals.ts";
import { adviseGas } from "../../reports/diagnosis/health-advice.ts";
import { gatherReportFacts, sumMoney } from "../../reports/diagnosis/report-facts.ts";
import { countText, usdText } from "../../reports/phrases.ts";
import type { TransferReader } from "../../reports/profit-and-loss/wallet-transfers.ts";
import { RECENT_DAYS, readRecentOutcomes } from "../../reports/recovery/call-intent.ts";
import type { CallOutcomes, OutcomesQuery } from "../../reports/recovery/failed-calls.ts";
import { usdSchema } from "../schemas/report-parts.ts";
import { count, eip55Schema, flag, laxBoolean, text, toEip55, toUsd } from "../schemas/values.ts";
import type { CheckContext } from "./endpoint-spec.ts";
import type { ReportTurns } from "./report-turns.ts";
import { ninetyDays, noBlock, type ReportNeeds, readReport, reportScopeShape } from "./wallet-report.ts";

/** Services of reports on a wallet's transfers. */
export type TransferNeeds = { readonly walletTransfers: TransferReader };

/** Services of answers about a wallet's failures. */
type OutcomeNeeds = {
  readonly recovery: { readonly outcomes: (query: OutcomesQuery) => Promise<CallOutcomes | null> };
};

/** Services of endpoints with a preview. */
export type PreviewNeeds = ReportNeeds &
  OutcomeNeeds &
  TransferNeeds & {
    /** A queue of free previews, so that they do not delay paid reports. */
    readonly previewTurns: ReportTurns;
  };

/** Query of reports that may find nothing. */
export const previewQuery = z.object({
  preview: laxBoolean().optional().openapi({
    type: "boolean",
    description: "True for a free preview without a key or payment: counts and upper bounds of the findings",
    example: false,
  }),
});

/** Whether an answer was charged. */
export const chargedSchema = flag(
  "False if there was nothing to do: then neither a key nor a payment was charged",
  true,
);

/** The free preview of the reports on a wallet. */
export const previewSchema = z
  .object({
    preview: z.literal(true),
    address: eip55Schema,
    chain_id: reportScopeShape.chain_id,
    as_of_block: reportScopeShape.as_of_block,
    as_of_time: reportScopeShape.as_of_time,
    summary: text(
      "The counts in words",
      "2 failed transactions in 30 days, of which at most 1 can be repeated. 5 unlimited approvals at risk. Gas savings of at most 1.70 USD a month.",
    ),
    failures_found: count("Failed transactions of 30 days, which /retry examines", 2),
    retries_at_most: count("Of them, those of the last 14 days, which /retry may offer again", 1),
    approvals_at_risk: count("Open unlimited approvals with a risk; null if not read yet", 5).nullable(),
    gas_recommendations: count("Recommendations of /optimize that save 0.01 USD a month or more", 3),
    saves_usd_per_month: usdSchema.openapi({ description: "Upper bound of their savings", example: 1.7 }),
  })
  .openapi("ReportPreview", {
    description:
      "Free counts and upper bounds of what /health, /wash, /optimize, /retry and /agent/protect find",
  });

type PreviewAnswer = z.infer<typeof previewSchema>;

/** Reads the preview of a wallet, one at a time in each process, without the chain's node. */
export function previewReport(
  { params: { address } }: { readonly params: { readonly address: Address } },
  { deps }: CheckContext<PreviewNeeds>,
): Promise<PreviewAnswer> {
  return deps.previewTurns.take(async () => {
    const source = await readReport(address, deps);
    const [outcomes, drawnTokens] = await Promise.all([
      readRecentOutcomes(address, deps.recovery),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    if (outcomes === null) throw noBlock();
    const facts = gatherReportFacts(source, deps.policy);
    const approvals = findApprovals({ ...facts, drawnTokens });
    const { advice } = adviseGas(facts);
    const savings = advice.flatMap(({ saves }) => (saves === null || saves.wei === 0n ? [] : [saves]));
    const { microUsd } = sumMoney(savings);
    const counts = {
      failures_found: foundFailures(outcomes),
      retries_at_most: recentFailures(outcomes),
      approvals_at_risk: approvals === null ? null : approvals.filter(({ risks }) => risks.length > 0).length,
      gas_recommendations: savings.length,
      saves_usd_per_month: toUsd(microUsd),
    };
    return {
      preview: true,
      address: toEip55(address),
      chain_id: facts.rows.chainId,
      as_of_block: facts.asOf.blockNumber,
      as_of_time: new Date(facts.asOf.timestamp * 1000).toISOString(),
      summary: summarize(counts, microUsd),
      ...counts,
    };
  });
}

function recentFailures({ head, failures, reported }: CallOutcomes): number {
  const since = head.timestamp - RECENT_DAYS * SECONDS_PER_DAY;
  return [...failures, ...reported.failures].filter(({ timestamp }) => timestamp >= since).length;
}

function summarize(
  counts: Pick<
    PreviewAnswer,
    "failures_found" | "retries_at_most" | "approvals_at_risk" | "gas_recommendations"
  >,
  microUsd: number | null,
): string {
  const { failures_found, retries_at_most, approvals_at_risk, gas_recommendations } = counts;
  const failures =
    failures_found === 0
      ? "No failed transaction in 30 days."
      : `${countText(failures_found, "failed transaction")} in 30 days, of which at most ${retries_at_most} can be repeated.`;
  const approvals =
    approvals_at_risk === null
      ? "The approvals were not read yet."
      : `${countText(approvals_at_risk, "unlimited approval")} at risk.`;
  const gas =
    gas_recommendations === 0
      ? "No gas saving of 0.01 USD a month or more."
      : `Gas savings of ${microUsd === null ? "an unknown amount" : `at most ${usdText(microUsd)}`} a month.`;
  return `${failures} ${approvals} ${gas}`;
}

/** Failed transactions of the listed days, including those from a history source. */
export function foundFailures({ failuresFound, reported }: CallOutcomes): number {
  return failuresFound + reported.failuresFound;
}
