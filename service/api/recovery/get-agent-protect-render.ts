import type { Address } from "viem";
import type { Market } from "../../model/features/market.ts";
import { callName } from "../../reports/diagnosis/health-advice.ts";
import {
  type ProtectionFindings,
  type ProtectionStep,
  type ProtectService,
  planProtection,
} from "../../reports/diagnosis/protect.ts";
import type { UnsignedTransaction } from "../../reports/recovery/unsigned-transaction.ts";
import { isoOf, reportScope } from "../wallet-report.ts";
import type { Protection } from "./get-agent-protect-findings.ts";
import type { ProtectAnswer } from "./get-agent-protect-schema.ts";
import {
  renderBlock,
  renderOffers,
  renderScope,
  renderTransaction,
  usdOf,
  withUnread,
} from "./get-retry-render.ts";

const MICROS = 1_000_000;

/** What a step has to be signed, or why it has nothing. */
type Ready =
  | {
      readonly kind: "ready";
      readonly transaction: UnsignedTransaction;
      readonly gas: bigint;
      readonly maxCost: bigint;
    }
  | { readonly kind: "obstacle"; readonly detail: string };

/** The answer of GET /agent/protect/{address}. */
export function renderProtection(
  protection: Protection,
  monitoring: ProtectAnswer["monitoring"],
): ProtectAnswer {
  const { facts, risk, recovery, recovered, optimization } = protection;
  const steps = planProtection(findingsOf(protection));
  const maxCosts = steps.flatMap(({ ready }) => (ready?.kind === "ready" ? [ready.maxCost] : []));
  const total = maxCosts.reduce((sum, cost) => sum + cost, 0n);
  const { others } =
    recovered === null ? { others: [] } : renderOffers({ rows: facts.rows, recovery, recovered });
  return {
    address: risk.address,
    ...withUnread(reportScope(facts, facts.policy.window.days), recovery),
    risk_level: risk.risk_level,
    risk_score: risk.risk_score,
    verdict: risk.verdict,
    services: protection.services.map(({ name, run, reason }) => ({
      ...{ name, ran: run, reason },
      window: run ? windowOf(name, protection) : null,
    })),
    simulated_at: renderBlock(recovery),
    steps: steps.map((step, place) => renderStep(step, place + 1, recovery.block.number)),
    transactions: maxCosts.length,
    first_nonce: recovery.state.pendingNonce,
    total_max_cost_wei: total.toString(),
    total_max_cost_usd: usdOf(total, recovery.block.timestamp, facts.market),
    monthly_saving_usd: optimization === null ? null : usd(optimization.totals.monthly.microUsd),
    rehearsed: maxCosts.length === 0 ? null : protection.rehearsed,
    not_retried: others,
    monitoring,
  };
}

/** What a service looks back at: the report's window, or that of the retries, which ends at a newer block. */
function windowOf(
  name: ProtectService,
  { facts, recovery }: Protection,
): ProtectAnswer["services"][number]["window"] {
  switch (name) {
    case "risk":
      return null;
    case "health":
    case "wash":
    case "optimize":
      return reportScope(facts, facts.policy.window.days).window;
    case "retry":
      return renderScope(facts.rows, recovery).window;
  }
}

function findingsOf({
  facts,
  risk,
  health,
  wash,
  optimization,
  recovery,
  approvals,
  revocations,
  recovered,
}: Protection): ProtectionFindings<Ready> {
  const at = recovery.block.timestamp;
  return {
    risk: { level: risk.risk_level, signals: risk.signals },
    ...{ health, wash, optimization, days: facts.paid.days },
    revocations: revocations.list.flatMap(({ outcome }, place) => {
      const known = approvals[place];
      return known === undefined ? [] : [{ ...known, ready: outcome }];
    }),
    retries: (recovered?.offers ?? []).map(({ call, intent, cause, transaction, gas, maxCost }) => ({
      description: `Send ${callName({ contract: call.to, selector: call.selector })} again, which failed as ${call.hash}.`,
      reason: `It failed (${cause.kind}${cause.reason === null ? "" : `: ${cause.reason}`}), nothing since did the same, and it passes now.`,
      valueMicroUsd: sentWorth({ value: call.value, spends: intent.spends, at }, facts.market),
      ready: { kind: "ready", transaction, gas, maxCost },
    })),
  };
}

type Sent = {
  readonly value: bigint;
  readonly spends: readonly { readonly token: Address; readonly amount: bigint }[];
  readonly at: number;
};

/** Millionths of a dollar of what a call sends; null where it sends nothing, or something without a price. */
function sentWorth({ value, spends, at }: Sent, market: Market): number | null {
  const worths = spends.map(({ token, amount }) => market.tokenWorth(token, amount, at));
  if (value > 0n) worths.push(market.nativeWorth(value, at));
  if (worths.length === 0) return null;
  return worths.reduce((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0);
}

function renderStep(
  {
    service,
    action,
    severity,
    description,
    reason,
    ready,
    lastUsedAt,
    warning,
    ...money
  }: ProtectionStep<Ready>,
  priority: number,
  block: number,
): ProtectAnswer["steps"][number] {
  const base = {
    ...{ priority, service, action, severity, description, reason },
    value_usd: usd(money.valueMicroUsd),
    saves_usd_per_month: usd(money.monthlySavingMicroUsd),
    last_used_at: lastUsedAt === null ? null : isoOf(lastUsedAt),
    warning,
  };
  if (ready?.kind !== "ready") {
    const obstacle = ready === null ? null : ready.detail;
    return { ...base, transaction: null, simulation: null, max_cost_wei: null, obstacle };
  }
  return {
    ...base,
    transaction: renderTransaction(ready.transaction),
    simulation: { passes: true, block, gas_estimate: ready.gas.toString() },
    max_cost_wei: ready.maxCost.toString(),
    obstacle: null,
  };
}

function usd(micros: number | null): number | null {
  return micros === null ? null : Math.round(micros) / MICROS;
}
