import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { choseGas } from "../../model/features/hygiene.ts";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { FailureGroup } from "../../reports/diagnosis/failures.ts";
import { diagnoseHealth, type Health } from "../../reports/diagnosis/health.ts";
import {
  gatherReportFacts,
  type Money,
  perMonth,
  type ReportFacts,
} from "../../reports/diagnosis/report-facts.ts";
import { methodName } from "../../reports/labels/method-names.ts";

import type { SeenCall, WalletLife } from "../../scores/wallet-reads.ts";
import { definePaid } from "../kit/endpoint.ts";
import { scoredRow } from "../kit/score-record.ts";
import {
  freshStanding,
  ninetyDays,
  noteInterest,
  notIndexed,
  readReport,
  reportScope,
  reportScopeShape,
} from "../kit/wallet-report.ts";
import { blockSchema } from "../schemas/ahs-record.ts";
import {
  approvalsShape,
  calledShape,
  moneySchema,
  monthBasis,
  portfolioSchema,
  pricesSchema,
  recommendationSchema,
  renderAdvice,
  renderApprovals,
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
  toEip55,
} from "../schemas/values.ts";

const shareSchema = share("0 to 1; null of nothing", 0.9).nullable();
const countSchema = z.int().openapi({ example: 3 });
const seenSchema = z
  .object({ block: blockSchema, time: isoSchema, tx_hash: hashSchema })
  .nullable()
  .openapi({ description: "Null where no own call is known" });

const FAILURE_NOTE =
  "out_of_gas: gas used reached 98 % of the limit; code that gives up all its gas on purpose looks the same. reverted: any other failure. Receipts hold no revert reason, so none is stored and none is guessed.";

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
      month_basis: z.string().openapi({ example: monthBasis(30) }),
    }),
    failures: z.object({
      out_of_gas: causeSchema,
      reverted: causeSchema,
      revert_reasons: z.null().openapi({ description: "Not stored: receipts do not hold them" }),
      note: z.string().openapi({ example: FAILURE_NOTE }),
      by_method: z.array(failureSchema).openapi({ description: "The dearest first, at most 200" }),
      left_out: z.int(),
    }),
    activity_by_week: z.array(
      z.object({
        week: z.iso.date().openapi({ description: "Its Monday, UTC", example: "2026-11-16" }),
        calls: z.int().openapi({ example: 7 }),
        failures: countSchema,
        spent: moneySchema,
      }),
    ),
    portfolio: portfolioSchema,
    ...approvalsShape,
    recommendations: z
      .array(recommendationSchema)
      .openapi({ description: "The largest saving first, then what is about safety; at most 100" }),
    prices: pricesSchema,
  })
  .openapi("HealthReport");

type HealthAnswer = z.infer<typeof healthSchema>;

/** GET /health/{address}. */
export const getHealth = definePaid({
  method: "get",
  path: "/health/{address}",
  price: 500,
  tag: "Reports",
  summary: "Operational health of a wallet",
  description:
    "What the wallet's own calls of 180 days cost and what of it was wasted: success rate, fees of failures by cause, contract and method, activity by week, what its own calls left it with, open approvals without limit, and recommendations, ranked by the money that they save. USD at the prices of the day. What is not known is null, with the reason beside it. A wallet outside the index is read from the history source that the deployment names, if it names one, and is followed from then on; while that goes on, or when the source fails, the answer is 503 and costs nothing.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: healthSchema, description: "The report" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "history-unavailable",
  ],
  async check({ params: { address } }, { deps, now }) {
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

const MOST_FAILURE_GROUPS = 200;
const MOST_RECOMMENDATIONS = 100;
const ONLY_SIGNED_NOTE = "Its only own calls are signed payments (x402), which other accounts sent.";

const SMART_ACCOUNT_NOTE =
  "Calls are what the account executed in transactions of others; their fees may have been paid by a relayer or a paymaster.";
const DELEGATED_NOTE = "An EOA that runs the code of another account (EIP-7702).";

/** The answer of GET /health/{address}. */
function renderHealth({
  facts,
  health,
  life,
}: {
  readonly facts: ReportFacts;
  readonly health: Health;
  readonly life: WalletLife;
}): HealthAnswer {
  const { rows, paid, policy } = facts;
  const { calls, failures, successRate, unreadReceipts } = health;
  return {
    address: toEip55(rows.wallet),
    account: accountOf(facts, life),
    ...reportScope(facts, policy.window.days),
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
    failures: renderFailures(health),
    activity_by_week: health.weeks.map((week) => ({
      week: isoOf(week.from).slice(0, "2026-01-05".length),
      calls: week.calls,
      failures: week.failures,
      spent: renderMoney(week.spent),
    })),
    portfolio: renderPortfolio(health.portfolio),
    ...renderApprovals(health.approvals),
    recommendations: health.advice.slice(0, MOST_RECOMMENDATIONS).map(renderAdvice),
    prices: renderPrices(facts),
  };
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
  const note = rows.calls.length > 0 ? ONLY_SIGNED_NOTE : "No own call of it is known.";
  return { kind: "unknown", is_contract: hasCode, delegates_to, note };
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
    month_basis: monthBasis(days),
  };
}

/** Ratio of two amounts, rounded to 1e-6; null if the whole is zero. */
function shareOf(part: Money, whole: Money): number | null {
  return whole.wei === 0n ? null : roundMicro(Number(part.wei) / Number(whole.wei));
}

function renderFailures({ causes, failureGroups }: Health): HealthAnswer["failures"] {
  const { out_of_gas, reverted } = causes;
  return {
    out_of_gas: { failures: out_of_gas.calls, wasted: renderMoney(out_of_gas.spent) },
    reverted: { failures: reverted.calls, wasted: renderMoney(reverted.spent) },
    revert_reasons: null,
    note: FAILURE_NOTE,
    by_method: failureGroups.slice(0, MOST_FAILURE_GROUPS).map(renderFailure),
    left_out: Math.max(0, failureGroups.length - MOST_FAILURE_GROUPS),
  };
}

function renderFailure(group: FailureGroup): HealthAnswer["failures"]["by_method"][number] {
  return {
    ...fieldsOf(failureSchema.shape, group),
    contract: group.contract === null ? null : toEip55(group.contract),
    method: methodName(group.selector),
    wasted: renderMoney(group.wasted),
    first_at: isoOf(group.firstAt),
    last_at: isoOf(group.lastAt),
    last_tx_hash: group.lastHash,
  };
}
