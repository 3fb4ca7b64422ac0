import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { choseGas } from "../../model/features/hygiene.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { FailureGroup } from "../../reports/diagnosis/failures.ts";
import { diagnoseHealth, type Health } from "../../reports/diagnosis/health.ts";
import {
  gatherReportFacts,
  type Money,
  perMonth,
  type ReportFacts,
} from "../../reports/diagnosis/report-facts.ts";
import type { KnownAccounts } from "../../reports/labels/chain-labels.ts";

import { countText, moneyText } from "../../reports/phrases.ts";
import type { createWalletLifeReader, SeenCall, WalletLife } from "../../scores/wallet-reads.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PreviewNeeds } from "../kit/report-preview.ts";
import { previewQuery, previewReport, previewSchema } from "../kit/report-preview.ts";
import type { EnrolNeeds, ScoringNeeds, SenderNeeds } from "../kit/score-record.ts";
import { requireSender, scoredRow } from "../kit/score-record.ts";
import type { ScoredNeeds } from "../kit/wallet-report.ts";
import {
  ninetyDays,
  notIndexed,
  readReport,
  reportScope,
  reportScopeShape,
  requireKnown,
  scoredSnapshot,
} from "../kit/wallet-report.ts";
import { blockSchema } from "../schemas/ahs-record.ts";
import type { AccountNeeds } from "../schemas/report-parts.ts";
import {
  approvalsShape,
  calledShape,
  moneySchema,
  portfolioSchema,
  pricesSchema,
  recommendationSchema,
  renderAdvice,
  renderApprovals,
  renderCalled,
  renderMoney,
  renderPortfolio,
  renderPrices,
} from "../schemas/report-parts.ts";
import {
  addressParams,
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  int,
  isoOf,
  isoSchema,
  share,
  text,
  toEip55,
} from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = ScoredNeeds &
  ScoringNeeds &
  SenderNeeds &
  EnrolNeeds &
  PreviewNeeds &
  Pick<AccountNeeds, "knownAccounts"> & {
    readonly walletLife: ReturnType<typeof createWalletLifeReader>;
  };

const shareSchema = share("0 to 1; null of nothing", 0.9).nullable();
const countSchema = z.int().openapi({ example: 3 });
const seenSchema = z
  .object({ block: blockSchema, time: isoSchema, tx_hash: hashSchema })
  .nullable()
  .openapi({ description: "Null where no own call is known" });

const causeSchema = z.object({ failures: countSchema, wasted: moneySchema });

const failureSchema = z
  .object({
    ...calledShape,
    cause: z.enum(["out_of_gas", "reverted"]),
    failures: countSchema,
    attempts: z.int().openapi({ example: 30 }),
    wasted: moneySchema,
    first_at: isoSchema,
    last_at: isoSchema,
    last_tx_hash: hashSchema,
    longest_run: int("Most failures of this contract and method in a row", 1),
    succeeded_since: z.boolean().openapi({ example: true }),
  })
  .openapi("FailureGroup");

/** The answer of GET /health/{address}. */
export const healthSchema = z
  .object({
    address: eip55Schema,
    account: z.object({
      kind: z.enum(["eoa", "delegated_eoa", "smart_account", "unknown"]),
      is_contract: flag("Whether it has code, including a delegation; null if unknown").nullable(),
      delegates_to: eip55Schema.nullable().openapi({ example: null }),
      note: z.string().nullable().openapi({ example: null }),
    }),
    ...reportScopeShape,
    summary: text(
      "The result in one or two sentences",
      "27 of 30 calls succeeded in 180 days. Failures cost 0.24 USD. 2 recommendations.",
    ),
    totals: z.object({
      calls: z.int().openapi({ example: 30 }),
      successes: z.int().openapi({ example: 27 }),
      failures: countSchema,
      success_rate: shareSchema,
      unread_receipts: int(
        "Calls whose receipts were not read: what they did is not known, nor what a rollup charged for posting them",
      ),
    }),
    first_seen: seenSchema,
    last_seen: seenSchema,
    gas: z.object({
      spent: moneySchema,
      wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
      wasted_share: shareSchema.openapi({ example: 0.081285 }),
      spent_per_month: moneySchema,
      wasted_per_month: moneySchema,
      window_days: int("Days that monthly amounts are spread over: since the first call, at least 30", 30),
    }),
    failures: z.object({
      out_of_gas: causeSchema.openapi({
        description: "Calls that used 98% of their gas limit or more",
      }),
      reverted: causeSchema.openapi({ description: "All other failures" }),
      revert_reasons: z.null().openapi({ description: "Always null: receipts hold no revert reason" }),
      by_method: z.array(failureSchema).openapi({ description: "The dearest first, at most 200" }),
      left_out: z.int(),
    }),
    activity_by_week: z
      .array(
        z.object({
          week: z.iso.date().openapi({ description: "Its Monday, UTC", example: "2026-11-16" }),
          calls: z.int().openapi({ example: 7 }),
          failures: countSchema,
          spent: moneySchema,
        }),
      )
      .openapi({ description: "From the week of the first known call on, if it is in the window" }),
    portfolio: portfolioSchema,
    ...approvalsShape,
    recommendations: z
      .array(recommendationSchema)
      .openapi({ description: "By severity, then the largest saving first; at most 100" }),
    prices: pricesSchema,
  })
  .openapi("HealthReport");

type HealthAnswer = z.infer<typeof healthSchema>;

/** GET /health/{address}. */
export const getHealth = definePaid<Needs>()({
  method: "get",
  path: "/health/{address}",
  operationId: "diagnose_wallet",
  tool: "Diagnoses how a wallet operates: success rate, failures by cause, gas use, approvals and holdings, with recommendations. Use it for a wallet that you operate or support.",
  price: { units: 500 },
  tag: "Reports",
  summary: "Operational health of a wallet",
  description:
    "Success rate, fees of failures by cause, contract and method, activity by week, portfolio, open unlimited approvals, and recommendations by severity and saving, from the wallet's own calls of 180 days. Savings below 0.01 USD a month and methods with a single call give no recommendation. Values in USD are at the prices of the day; unknown values are null with a reason beside them. A wallet outside the index is read from the deployment's history source, if it has one, and is followed from then on; until that is done, or if the source fails, the answer is 503 and costs nothing. A wallet that has sent no transaction is 404 and costs nothing. `preview=true` answers a free preview.",
  request: { params: addressParams, query: previewQuery, body: null },
  answer: { schema: healthSchema, description: "The report", preview: previewSchema },
  async preview(input, context) {
    await requireKnown(input.params.address, context.deps, context.now);
    return previewReport(input, context);
  },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "history-unavailable",
  ],
  async check({ params: { address } }, { deps, now }) {
    const { known, followed } = await scoredSnapshot(address, deps, now);
    if (known) return { fetchHistory: null, known, followed };
    if (deps.scoreOnDemand === null) throw notIndexed(address);
    return { fetchHistory: deps.scoreOnDemand, known, followed };
  },
  async prepare({ params: { address } }, checked, { deps }) {
    await requireSender(address, checked, deps);
    return checked;
  },
  payment: { settled: ({ fetchHistory }) => (fetchHistory === null ? "after" : "before") },
  interestIn: ({ address }) => [address],
  async work(
    { params: { address } },
    { fetchHistory, followed },
    { deps, caller, debitId },
  ): Promise<HealthAnswer> {
    if (fetchHistory !== null) await scoredRow(address, fetchHistory, caller);
    const source = await readReport(address, deps);
    const [life, drawnTokens] = await Promise.all([
      deps.walletLife(address, source.asOf.blockNumber),
      deps.walletTransfers.drawnTokens(ninetyDays(address, source)),
    ]);
    if (fetchHistory !== null && !followed) await deps.enrol([address], { caller, debitId });
    const facts = gatherReportFacts(source, deps.policy);
    return renderHealth({
      facts,
      life,
      known: deps.knownAccounts,
      health: diagnoseHealth(facts, { drawnTokens }),
    });
  },
});

const MOST_FAILURE_GROUPS = 200;
const MOST_RECOMMENDATIONS = 100;
const ONLY_SIGNED_NOTE = "All its payments are signed (x402) and sent by other accounts.";

const SMART_ACCOUNT_NOTE =
  "The account acts through transactions of others; a relayer or paymaster may have paid their fees.";
const DELEGATED_NOTE = "An EOA that runs the code of another account (EIP-7702).";

/** The answer of GET /health/{address}. */
function renderHealth({
  facts,
  health,
  life,
  known,
}: {
  readonly facts: ReportFacts;
  readonly health: Health;
  readonly life: WalletLife;
  readonly known: KnownAccounts;
}): HealthAnswer {
  const { rows, paid, policy } = facts;
  const { calls, failures, successRate, unreadReceipts } = health;
  return {
    address: toEip55(rows.wallet),
    account: accountOf(facts, life),
    ...reportScope(facts, policy.window.days),
    summary: summarize(facts, health),
    totals: {
      calls,
      successes: calls - failures,
      failures,
      success_rate: successRate,
      unread_receipts: unreadReceipts,
    },
    first_seen: renderSeen(life.first),
    last_seen: renderSeen(life.last),
    gas: renderGas(health, paid.days),
    failures: renderFailures(health, known),
    activity_by_week: weeksSince(life.first, health).map((week) => ({
      week: isoOf(week.from).slice(0, "2026-01-05".length),
      calls: week.calls,
      failures: week.failures,
      spent: renderMoney(week.spent),
    })),
    portfolio: renderPortfolio(health.portfolio),
    ...renderApprovals(health.approvals),
    recommendations: health.advice
      .slice(0, MOST_RECOMMENDATIONS)
      .map((advice) => renderAdvice(advice, known)),
    prices: renderPrices(facts),
  };
}

function summarize({ policy, rows }: ReportFacts, health: Health): string {
  const { calls, failures, wasted, advice } = health;
  const days = `in ${policy.window.days} days`;
  if (calls === 0) return `No outgoing transaction is known ${days}.`;
  const cost = failures === 0 ? "" : ` Failures cost ${moneyText(wasted, rows.tokens.native)}.`;
  const [first] = advice;
  const urgent = first?.severity === "critical" ? ` Most urgent: ${first.action}` : "";
  return `${calls - failures} of ${countText(calls, "call")} succeeded ${days}.${cost} ${advice.length === 0 ? "No recommendation" : countText(advice.length, "recommendation")}.${urgent}`;
}

/** Only an account without own code sends transactions. An account that only executed calls is a contract; any can sign payments. */
function accountOf({ rows }: ReportFacts, { hasCode }: WalletLife): HealthAnswer["account"] {
  const delegate: Address | null = rows.delegation === null ? null : rows.delegation.to;
  const delegates_to = delegate === null ? null : toEip55(delegate);
  if (delegate !== null)
    return { kind: "delegated_eoa", is_contract: true, delegates_to, note: DELEGATED_NOTE };
  if (rows.calls.some(({ position }) => position === 0))
    return { kind: "eoa", is_contract: false, delegates_to, note: null };
  if (rows.calls.some(choseGas))
    return { kind: "smart_account", is_contract: true, delegates_to, note: SMART_ACCOUNT_NOTE };
  const note = rows.calls.length > 0 ? ONLY_SIGNED_NOTE : "No outgoing transaction is known.";
  return { kind: "unknown", is_contract: hasCode, delegates_to, note };
}

/** Weeks of the window but for those before the wallet's first known call. */
function weeksSince(first: SeenCall | null, { weeks }: Health): Health["weeks"] {
  return first === null ? weeks : weeks.filter(({ from }) => from + 7 * SECONDS_PER_DAY > first.timestamp);
}

function renderSeen(seen: SeenCall | null): HealthAnswer["first_seen"] {
  if (seen === null) return null;
  return { block: seen.block, time: isoOf(seen.timestamp), tx_hash: seen.hash };
}

function renderGas({ spent, wasted }: Health, days: number): HealthAnswer["gas"] {
  return {
    spent: renderMoney(spent),
    wasted: renderMoney(wasted),
    wasted_share: shareOf(wasted, spent),
    spent_per_month: renderMoney(perMonth(spent, days)),
    wasted_per_month: renderMoney(perMonth(wasted, days)),
    window_days: days,
  };
}

/** Ratio of two amounts, rounded to 1e-6; null if the whole is zero. */
function shareOf(part: Money, whole: Money): number | null {
  return whole.wei === 0n ? null : roundMicro(Number(part.wei) / Number(whole.wei));
}

function renderFailures({ causes, failureGroups }: Health, known: KnownAccounts): HealthAnswer["failures"] {
  const { out_of_gas, reverted } = causes;
  return {
    out_of_gas: { failures: out_of_gas.calls, wasted: renderMoney(out_of_gas.spent) },
    reverted: { failures: reverted.calls, wasted: renderMoney(reverted.spent) },
    revert_reasons: null,
    by_method: failureGroups.slice(0, MOST_FAILURE_GROUPS).map((group) => renderFailure(group, known)),
    left_out: Math.max(0, failureGroups.length - MOST_FAILURE_GROUPS),
  };
}

function renderFailure(
  group: FailureGroup,
  known: KnownAccounts,
): HealthAnswer["failures"]["by_method"][number] {
  return {
    ...fieldsOf(failureSchema.shape, group),
    ...renderCalled(group, known),
    wasted: renderMoney(group.wasted),
    first_at: isoOf(group.firstAt),
    last_at: isoOf(group.lastAt),
    last_tx_hash: group.lastHash,
  };
}
