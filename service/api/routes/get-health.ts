import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { roundMicro } from "../../model/score/fixed-point.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { FailureGroup } from "../../reports/diagnosis/failures.ts";
import { diagnoseHealth, type Health } from "../../reports/diagnosis/health.ts";
import { methodName } from "../../reports/diagnosis/health-advice.ts";
import {
  gatherReportFacts,
  type Money,
  perMonth,
  type ReportFacts,
} from "../../reports/diagnosis/report-facts.ts";

import type { TransferReader } from "../../reports/profit-and-loss/wallet-transfers.ts";
import type { SeenCall, WalletLife, WalletLifeReader } from "../../scores/wallet-life.ts";
import { definePaid } from "../kit/endpoint.ts";
import { type ScoreRecordPorts, scoredRow } from "../kit/score-record.ts";
import {
  freshStanding,
  ninetyDays,
  noteInterest,
  notIndexed,
  type ReportPorts,
  readReport,
  reportScope,
  reportScopeShape,
} from "../kit/wallet-report.ts";
import {
  approvalsShape,
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
import { addressParams, eip55Schema, hashSchema, isoOf, isoSchema, toEip55 } from "../schemas/values.ts";

const shareSchema = z.number().min(0).max(1).nullable().openapi({ description: "0 to 1; null of nothing" });
const seenSchema = z
  .object({ block: z.int(), time: isoSchema, tx_hash: hashSchema })
  .nullable()
  .openapi({ description: "Null where no own call is known" });

const causeSchema = z.object({ failures: z.int(), wasted: moneySchema });

const failureSchema = z
  .object({
    contract: eip55Schema
      .nullable()
      .openapi({ description: "Null for contract creations and unknown targets" }),
    selector: z.string().nullable().openapi({ description: "Null for plain transfers" }),
    method: z.string().nullable().openapi({ description: "Usual signature of the selector" }),
    cause: z.enum(["out_of_gas", "reverted"]),
    failures: z.int(),
    attempts: z.int(),
    wasted: moneySchema,
    first_at: isoSchema,
    last_at: isoSchema,
    last_tx_hash: hashSchema,
    longest_run: z.int().openapi({ description: "Most failures of this contract and method in a row" }),
    succeeded_since: z.boolean(),
  })
  .openapi("FailureGroup");

/** The answer of GET /health/{address}. */
export const healthSchema = z
  .object({
    address: eip55Schema,
    account: z.object({
      kind: z.enum(["eoa", "delegated_eoa", "smart_account", "unknown"]),
      is_contract: z
        .boolean()
        .nullable()
        .openapi({ description: "Whether it has code, including a delegation; null if unknown" }),
      delegates_to: eip55Schema.nullable(),
      note: z.string().nullable(),
    }),
    ...reportScopeShape,
    totals: z.object({
      calls: z.int(),
      successes: z.int(),
      failures: z.int(),
      success_rate: shareSchema,
      unread_receipts: z.int().openapi({
        description:
          "Calls whose receipts were not read: what they did is not known, nor what a rollup charged for posting them",
      }),
    }),
    first_seen: seenSchema,
    last_seen: seenSchema,
    gas: z.object({
      spent: moneySchema,
      wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
      wasted_share: shareSchema,
      spent_per_month: moneySchema,
      wasted_per_month: moneySchema,
      month_basis: z.string(),
    }),
    failures: z.object({
      out_of_gas: causeSchema,
      reverted: causeSchema,
      revert_reasons: z.null().openapi({ description: "Not stored: receipts do not hold them" }),
      note: z.string(),
      by_method: z.array(failureSchema).openapi({ description: "The dearest first, at most 200" }),
      left_out: z.int(),
    }),
    activity_by_week: z.array(
      z.object({
        week: z.iso.date().openapi({ description: "Its Monday, UTC" }),
        calls: z.int(),
        failures: z.int(),
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

const HEALTH_EXAMPLE: HealthAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  account: {
    kind: "eoa",
    is_contract: false,
    delegates_to: null,
    note: null,
  },
  chain_id: 8453,
  as_of_block: 970,
  as_of_time: "2026-11-20T09:59:00.000Z",
  window: {
    from: "2026-05-24T09:59:00.000Z",
    to: "2026-11-20T09:59:00.000Z",
    days: 180,
  },
  coverage: {
    from_block: 1,
    to_block: 970,
    complete: true,
    sources: ["index"],
  },
  totals: {
    calls: 30,
    successes: 27,
    failures: 3,
    success_rate: 0.9,
    unread_receipts: 0,
  },
  first_seen: {
    block: 100,
    time: "2026-10-21T09:59:00.000Z",
    tx_hash: "0x0000000000000000000000000000000000000000000000000000000000000001",
  },
  last_seen: {
    block: 129,
    time: "2026-11-19T09:59:00.000Z",
    tx_hash: "0x000000000000000000000000000000000000000000000000000000000000001e",
  },
  gas: {
    spent: {
      wei: "63480000000000",
      eth: "0.00006348",
      worth_usd: 0.19044,
    },
    wasted: {
      wei: "5160000000000",
      eth: "0.00000516",
      worth_usd: 0.01548,
    },
    wasted_share: 0.081285,
    spent_per_month: {
      wei: "63480000000000",
      eth: "0.00006348",
      worth_usd: 0.19044,
    },
    wasted_per_month: {
      wei: "5160000000000",
      eth: "0.00000516",
      worth_usd: 0.01548,
    },
    month_basis:
      "Amount of the window x 30 / 30 days, rounded down; the days are those since the first call of the window, 30 at least.",
  },
  failures: {
    out_of_gas: {
      failures: 1,
      wasted: {
        wei: "3000000000000",
        eth: "0.000003",
        worth_usd: 0.009,
      },
    },
    reverted: {
      failures: 2,
      wasted: {
        wei: "2160000000000",
        eth: "0.00000216",
        worth_usd: 0.00648,
      },
    },
    revert_reasons: null,
    note: "out_of_gas: gas used reached 98 % of the limit; code that gives up all its gas on purpose looks the same. reverted: any other failure. Receipts hold no revert reason, so none is stored and none is guessed.",
    by_method: [
      {
        contract: "0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1",
        selector: "0x3593564c",
        method: "execute(bytes,bytes[],uint256)",
        cause: "out_of_gas",
        failures: 1,
        attempts: 30,
        wasted: {
          wei: "3000000000000",
          eth: "0.000003",
          worth_usd: 0.009,
        },
        first_at: "2026-11-10T09:59:00.000Z",
        last_at: "2026-11-10T09:59:00.000Z",
        last_tx_hash: "0x0000000000000000000000000000000000000000000000000000000000000015",
        longest_run: 1,
        succeeded_since: true,
      },
      {
        contract: "0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1",
        selector: "0x3593564c",
        method: "execute(bytes,bytes[],uint256)",
        cause: "reverted",
        failures: 2,
        attempts: 30,
        wasted: {
          wei: "2160000000000",
          eth: "0.00000216",
          worth_usd: 0.00648,
        },
        first_at: "2026-10-31T09:59:00.000Z",
        last_at: "2026-11-02T09:59:00.000Z",
        last_tx_hash: "0x000000000000000000000000000000000000000000000000000000000000000d",
        longest_run: 1,
        succeeded_since: true,
      },
    ],
    left_out: 0,
  },
  activity_by_week: [
    {
      week: "2026-11-09",
      calls: 7,
      failures: 1,
      spent: {
        wei: "15960000000000",
        eth: "0.00001596",
        worth_usd: 0.04788,
      },
    },
    {
      week: "2026-11-16",
      calls: 4,
      failures: 0,
      spent: {
        wei: "8640000000000",
        eth: "0.00000864",
        worth_usd: 0.02592,
      },
    },
  ],
  portfolio: {
    state: "held",
    basis:
      "What the wallet's own calls of the 180 days before its last one brought in, less what they took out. What others sent, what was held before, and the balance of the native coin are not in it. Worth: the daily feed price on the day of the last own call, or what the wallet itself gave for the token; the total is of recognised tokens with a feed price alone.",
    reason: null,
    total_usd: 108,
    other_usd: null,
    unpriced_tokens: 0,
    holdings: [
      {
        symbol: "USDC",
        decimals: 6,
        recognised: true,
        token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        amount: "108000000",
        worth_usd: 108,
        priced_by: "feed",
      },
    ],
  },
  open_approvals: [
    {
      token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      spender: "0x5be4dE45bE4DE45be4de45be4De45Be4de45bE4d",
      kind: "amount",
      approved_at: "2026-10-24T09:59:00.000Z",
      last_used_at: null,
      use_known: true,
      spender_facts: {
        is_contract: true,
        existed_at: "2026-10-22T09:59:00.000Z",
        outside_users: 1,
        flag: null,
        own: false,
      },
      risks: ["young", "unknown"],
    },
  ],
  open_approvals_reason: null,
  recommendations: [
    {
      kind: "pay_market_price",
      action:
        "Bid base fee plus the block's median tip for calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1.",
      reason: "They paid more per gas than the blocks that they were mined in asked for.",
      evidence: "calls: 27; 9720000000000 wei in 30 days; x 30 / 30 = 9720000000000 wei a month",
      saves_usd_per_month: 0.02916,
      saves_eth_per_month: "0.00000972",
    },
    {
      kind: "raise_gas_limit",
      action:
        "Give calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 a gas limit of at least 312500, or of 5/4 of the node's estimate where that is more.",
      reason:
        "Calls used up their limit and failed; gas that is not used is not paid. Limit: ceil(1.25 x the most gas that a success used, or the highest limit that ran out, whichever is more).",
      evidence: "calls: 1; 3000000000000 wei in 30 days; x 30 / 30 = 3000000000000 wei a month",
      saves_usd_per_month: 0.009,
      saves_eth_per_month: "0.000003",
    },
    {
      kind: "simulate_first",
      action:
        "Simulate calls of execute(bytes,bytes[],uint256) at 0xD1d1d1D1d1d1D1d1D1D1D1d1d1D1D1D1d1D1d1d1 right before sending and hold back what fails.",
      reason:
        "The fees of reverted calls bought nothing. Saved at most: a simulation cannot foresee every revert.",
      evidence: "calls: 2; 2160000000000 wei in 30 days; x 30 / 30 = 2160000000000 wei a month",
      saves_usd_per_month: 0.00648,
      saves_eth_per_month: "0.00000216",
    },
    {
      kind: "revoke_approval",
      action:
        "Take back the unlimited approval of 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 to 0x5be4dE45bE4DE45be4de45be4De45Be4de45bE4d.",
      reason:
        "The spender is not shown to have existed 30 days before the approval; has fewer than three known independent users and stands on no list.",
      evidence: "kind amount, given at 2026-10-24T09:59:00.000Z, no use known",
      saves_usd_per_month: null,
      saves_eth_per_month: null,
    },
  ],
  prices: {
    native_symbol: "ETH",
    native_usd: 3000,
    reason: null,
    basis:
      "Last feed answer before the UTC day of each call; each call is priced by itself and rounded to 1e-6 USD.",
  },
};

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
    "What the wallet's own calls of 180 days cost and what of it was wasted: success rate, fees of failures by cause, contract and method, activity by week, what its own calls left it with, open approvals without limit, and recommendations, ranked by the money that they save. USD at the prices of the day. What is not known is null, with the reason beside it. A wallet outside the index is read from the history source that the deployment names, if it names one, and is followed from then on; while that goes on, or when the source fails, the answer is 503 and costs nothing.",
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

const MOST_FAILURE_GROUPS = 200;
const MOST_RECOMMENDATIONS = 100;
const FAILURE_NOTE =
  "out_of_gas: gas used reached 98 % of the limit; code that gives up all its gas on purpose looks the same. reverted: any other failure. Receipts hold no revert reason, so none is stored and none is guessed.";
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

/** Only an account without own code sends transactions. An account that only executed calls is a contract. */
function accountOf({ rows }: ReportFacts, { hasCode }: WalletLife): HealthAnswer["account"] {
  const delegate: Address | null = rows.delegation === null ? null : rows.delegation.to;
  const delegates_to = delegate === null ? null : toEip55(delegate);
  if (delegate !== null)
    return { kind: "delegated_eoa", is_contract: true, delegates_to, note: DELEGATED_NOTE };
  if (rows.calls.some(({ position }) => position === 0))
    return { kind: "eoa", is_contract: false, delegates_to, note: null };
  if (rows.calls.length > 0)
    return { kind: "smart_account", is_contract: true, delegates_to, note: SMART_ACCOUNT_NOTE };
  return { kind: "unknown", is_contract: hasCode, delegates_to, note: "No own call of it is known." };
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
    contract: group.contract === null ? null : toEip55(group.contract),
    selector: group.selector,
    method: methodName(group.selector),
    cause: group.cause,
    failures: group.failures,
    attempts: group.attempts,
    wasted: renderMoney(group.wasted),
    first_at: isoOf(group.firstAt),
    last_at: isoOf(group.lastAt),
    last_tx_hash: group.lastHash,
    longest_run: group.longestRun,
    succeeded_since: group.succeededSince,
  };
}
